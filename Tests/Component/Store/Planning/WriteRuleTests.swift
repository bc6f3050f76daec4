import CaravanModel
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: whom the planner lets change a public record, by table: one origin, one writer. Method: the planner alone.
@Suite struct WriteRuleTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let origin: RecordOrigin
    let writer: String
    let isPermitted: Bool
    var testDescription: String { "\(origin) by \(writer): \(isPermitted)" }

    init(_ maker: RecordOrigin.Writer, at time: Int64 = 5, by writer: String, _ isPermitted: Bool) {
      origin = RecordOrigin(time: time, writer: maker)
      (self.writer, self.isPermitted) = (writer, isPermitted)
    }
  }

  private static let makers: [Int64: String] = [1: "ada/phone", 2: "eve/phone"]

  static let rows: [Row] = [
    Row(.name("ada/phone"), by: "ada/phone", true),
    Row(.name("ada/phone"), by: "ada/tablet", true),
    Row(.name("ada/phone/1"), by: "ada/phone/2", true),
    Row(.name("ada/phone"), by: "eve/phone", false),
    Row(.name("ada/phone"), by: "eve/ada", false),
    Row(.name("ada/phone"), by: "@sync/ada/tablet", true),
    Row(.name("@sync/ada/phone"), by: "ada/tablet", true),
    Row(.name("ada/phone"), by: "@sync/eve/phone", false),
    Row(.number(1), by: "ada/tablet", true),
    Row(.number(1), by: "eve/phone", false),
    Row(.number(2), by: "eve/tablet", true),
    // Services do what nobody's device does; what they made is theirs.
    Row(.name("ada/phone"), by: "@storage", true),
    Row(.name("ada/phone"), by: "@storage/actions", true),
    Row(.name("@backend"), by: "ada/phone", false),
    Row(.name("@backend"), by: "@storage", true),
    // A writer without a user is nobody's device.
    Row(.name("ada/phone"), by: "phone", false),
    // Older than layout 5, or of a name that says no user: as before.
    Row(.name(""), at: 0, by: "eve/phone", true),
    Row(.name("ada/phone"), at: 0, by: "eve/phone", true),
    Row(.number(1), at: 0, by: "eve/phone", true),
    Row(.number(9), by: "eve/phone", true),
    Row(.name("abcdefghijklmnopqrstuvwxyz"), by: "eve/phone", true),
  ]

  private static func plan(
    _ mutations: [Mutation], by writer: String, _ facts: ZoneFacts, _ rights: [TypeRights] = []
  ) throws -> (verdicts: [ZoneCommit.Verdict], gone: [String]) {
    let zone = try ZoneID(DatabaseID(container: ContainerID("notes"), environment: .development, owner: nil), "board")
    let op = OpID(writer: writer, epoch: 1, number: 1)
    let commit = Commit(zone: zone, op: op, isAtomic: false, mutations: mutations, rights: rights)
    let plan = ZoneCommit(zoneSeq: 9, now: 10, facts: facts).plan(commit)
    guard case .decided(let writes, let verdicts, _) = plan else { throw Unexpected(plan) }
    return (verdicts, writes.filter(\.isDeleted).map(\.name))
  }

  @Test("TRU-04: a public record is its maker's to change", arguments: rows)
  func table(row: Row) throws {
    var facts = ZoneFacts(heads: ["r": RecordHead(version: 7, created: 3, origin: row.origin)])
    (facts.makers, facts.referrers) = (Self.makers, ["r": []])
    for mutation in [Sample.save("r"), Sample.delete("r", base: .version(7))] {
      let verdicts = try Self.plan([mutation], by: row.writer, facts).verdicts
      if row.isPermitted {
        #expect(verdicts == [.accepted(version: 10)])
      } else {
        guard case .refused(let error)? = verdicts.first else { throw Unexpected(verdicts) }
        #expect(error.code == .accessDenied && !error.isTransient && error.message.contains("'r'"))
      }
    }
  }

  @Test("TRU-04: what is another's does not go along with its owner, nor what that owns")
  func cascade() throws {
    func head(_ version: Seq, _ maker: String) -> RecordHead {
      RecordHead(version: version, created: version, origin: RecordOrigin(time: 5, writer: .name(maker)))
    }
    var facts = ZoneFacts(heads: ["list": head(1, "ada/a"), "own": head(2, "ada/b"), "other": head(3, "eve/a")])
    facts.heads["below"] = head(4, "ada/a")
    let (own, other) = (Referrer(name: "own", kinds: .owning), Referrer(name: "other", kinds: .owning))
    facts.referrers = [
      "list": [own, other], "own": [], "other": [Referrer(name: "below", kinds: .owning)], "below": [],
    ]
    #expect(try Self.plan([Sample.delete("list")], by: "ada/a", facts).gone == ["list", "own"])
    #expect(try Self.plan([Sample.delete("list")], by: "@storage", facts).gone == ["list", "own", "other", "below"])
  }

  /// A record of type 1 that ada made, the rights of a commit to its type, and what becomes of mutations in it.
  struct Granted: Sendable, CustomTestStringConvertible {
    let own: TypeGrants.Rights
    let others: TypeGrants.Rights
    let writer: String
    /// Of a save as the same type, as another one, and of a delete.
    let accepts: (same: Bool, other: Bool, delete: Bool)
    let sees: Bool
    var testDescription: String { "own \(own), others \(others), by \(writer)" }
  }

  static let granted: [Granted] = [
    Granted(own: [.read, .write], others: .read, writer: "eve/a", accepts: (false, false, false), sees: true),
    // A grant for one type is none for another.
    Granted(own: [.read, .write], others: [.read, .write], writer: "eve/a", accepts: (true, false, true), sees: true),
    Granted(own: [.read, .write], others: [.read, .write], writer: "ada/b", accepts: (true, true, true), sees: true),
    Granted(own: .read, others: [.create, .read], writer: "ada/b", accepts: (false, false, false), sees: true),
    Granted(own: .read, others: [.read, .write], writer: "ada/b", accepts: (false, false, false), sees: true),
    Granted(own: [.read, .write], others: .create, writer: "ada/b", accepts: (true, true, true), sees: true),
    Granted(own: [], others: [], writer: "@storage", accepts: (true, true, true), sees: true),
    Granted(own: [.read, .write], others: .create, writer: "eve/a", accepts: (false, false, true), sees: false),
    Granted(own: [], others: [], writer: "ada/b", accepts: (false, false, true), sees: false),
  ]

  @Test(
    "CK-04: a commit may do with others' records, and its own, what the grants of their type say", arguments: granted)
  func grants(row: Granted) throws {
    let origin = RecordOrigin(time: 5, writer: .name("ada/a"))
    var facts = ZoneFacts(heads: ["r": RecordHead(version: 7, created: 3, origin: origin)])
    facts.entries["r"] = Entry(name: "r", version: 7, created: 3, type: 1, writer: "ada/a")
    facts.referrers["r"] = []
    let rights = [TypeRights(types: [1, 9], own: row.own, others: row.others)]
    func verdict(_ mutation: Mutation) throws -> ZoneCommit.Verdict? {
      try Self.plan([mutation], by: row.writer, facts, rights).verdicts.first
    }
    func save(_ type: UInt32, _ base: Base) -> Mutation {
      Mutation(name: "r", base: base, change: .save(type: type, body: [], chunks: []))
    }
    for type: UInt32 in [1, 9, 2] {
      let isAccepted = type == 2 ? row.accepts.other : row.accepts.same
      switch try verdict(save(type, .any)) {
      case .accepted: #expect(isAccepted)
      case .refused(let error): #expect(!isAccepted && error.code == .accessDenied)
      case let other: throw Unexpected(other as Any)
      }
    }
    let gone = try Self.plan([Sample.delete("r")], by: row.writer, facts, rights).gone
    #expect(gone == (row.accepts.delete && row.sees ? ["r"] : []))
    let read = try verdict(Mutation(name: "r", base: .any, change: .read))
    #expect(read == (row.sees ? .read(name: "r", version: 7) : .read(name: "", version: 0)))
    if !row.sees {
      let late = try verdict(save(1, .version(7)))
      #expect(late == .conflict(name: ""), "as of a record that is not there")
    }
  }

  @Test("CK-04: a record of which nobody knows who made it is nobody's own, where its type has grants")
  func unknownMaker() throws {
    var facts = ZoneFacts(heads: [
      "r": RecordHead(version: 7, created: 3, origin: RecordOrigin(time: 0, writer: .name("")))
    ])
    facts.entries["r"] = Entry(name: "r", version: 7, created: 3, type: 1, writer: "ada/a")
    let rights = [TypeRights(types: [1], own: [.read, .write], others: .create)]
    let read = Mutation(name: "r", base: .any, change: .read)
    #expect(try Self.plan([read], by: "eve/a", facts, rights).verdicts == [.read(name: "", version: 0)])
    #expect(try Self.plan([Sample.delete("r")], by: "eve/a", facts, rights).gone.isEmpty)
    #expect(try Self.plan([read], by: "eve/a", facts).verdicts == [.read(name: "r", version: 7)])
  }

  @Test("CK-04: records of a type are made by whom its grants let")
  func creating() throws {
    let facts = ZoneFacts(heads: [:])
    for (others, isAccepted) in [(TypeGrants.Rights.create, true), (.read, false), ([.read, .write], false)] {
      let rights = [TypeRights(types: [1], own: [.read, .write], others: others)]
      let made = Mutation(name: "r", base: .absent, change: .save(type: 1, body: [], chunks: []))
      let verdict = try Self.plan([made], by: "eve/a", facts, rights).verdicts.first
      if case .accepted = verdict { #expect(isAccepted) } else { #expect(!isAccepted) }
      let other = Mutation(name: "s", base: .absent, change: .save(type: 2, body: [], chunks: []))
      #expect(try Self.plan([other], by: "eve/a", facts, rights).verdicts == [.accepted(version: 10)])
    }
  }
}
