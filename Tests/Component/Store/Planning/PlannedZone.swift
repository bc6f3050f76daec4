import CaravanModel
import CaravanStore
import CaravanWire

/// A zone in memory: the planner, and nothing else. What a store must do, in as few lines as there are.
struct PlannedZone {
  private(set) var seq: Seq
  private(set) var entries: [String: CaravanModel.Entry] = [:]
  private(set) var flags: [String: EntryFlags] = [:]
  private(set) var references: [String: [CaravanModel.Reference]] = [:]
  /// The same, by target and source.
  private var referrers: [String: [String: Referrer.Kinds]] = [:]
  var now: Int64 = 1_000
  /// Rounds of questions that the last commit took.
  private(set) var rounds = 0

  init(seq: Seq = 0) { self.seq = seq }

  var live: [String] { entries.values.filter { !$0.isDeleted }.map(\.name).sorted() }

  /// A live record's fields.
  subscript(name: String) -> [UInt32: CaravanModel.Value]? {
    guard let entry = entries[name], !entry.isDeleted else { return nil }
    return (try? RecordFields(body: entry.body))?.values
  }

  func versions(_ name: String) -> [UInt32: FieldHistory.Item] {
    guard let entry = entries[name] else { return [:] }
    return FieldHistory(encoded: entry.fields, writer: entry.writer)?.items ?? [:]
  }

  @discardableResult
  mutating func commit(
    _ mutations: [CaravanModel.Mutation], atomic: Bool = false, by writer: String = "phone"
  ) -> [ZoneCommit.Verdict] {
    var commit = Sample.commit(mutations, atomic: atomic)
    commit.op = OpID(writer: writer, epoch: 1, number: 1)
    var inquiry = ZoneInquiry(commit, now: now)
    var facts = ZoneFacts()
    rounds = 0
    while let questions = inquiry.next(knowing: facts) {
      answer(questions, &facts)
      rounds += 1
    }
    let plan = ZoneCommit(zoneSeq: seq, now: now, facts: facts).plan(commit)
    guard case .decided(let writes, let verdicts, let zoneSeq) = plan else { return [] }
    for write in writes { apply(write, by: writer) }
    seq = zoneSeq
    return verdicts
  }

  @discardableResult
  mutating func commit(_ mutation: CaravanModel.Mutation, by writer: String = "phone") -> ZoneCommit.Verdict {
    commit([mutation], by: writer).first ?? .aborted
  }

  private func answer(_ questions: ZoneQuestions, _ facts: inout ZoneFacts) {
    for name in questions.heads {
      guard let entry = entries[name] else { continue }
      facts.heads[name] = RecordHead(
        version: entry.version, created: entry.created, flags: flags[name] ?? [], expires: entry.expires,
        origin: RecordOrigin(time: entry.authorship.created, writer: .name(entry.authorship.creator)))
    }
    for name in questions.entries { facts.entries[name] = entries[name] }
    for name in questions.referrers { facts.referrers[name] = referrers(of: name) }
  }

  func referrers(of target: String) -> [Referrer] {
    (referrers[target] ?? [:]).sorted { $0.key < $1.key }.map { Referrer(name: $0.key, kinds: $0.value) }
  }

  private mutating func apply(_ write: ZoneCommit.Write, by writer: String) {
    entries[write.name] = CaravanModel.Entry(
      name: write.name, version: write.version, created: write.created, isDeleted: write.isDeleted,
      type: write.content.type, body: write.content.body, writer: writer, expires: write.expires, fields: write.fields,
      authorship: (try? write.authorship(by: writer)) ?? .unknown)
    flags[write.name] = write.flags
    for reference in references[write.name] ?? [] { referrers[reference.target]?[write.name] = nil }
    references[write.name] = write.references
    for reference in write.references {
      referrers[reference.target, default: [:]][write.name, default: []].insert(Referrer.Kinds(reference.kind))
    }
  }
}
