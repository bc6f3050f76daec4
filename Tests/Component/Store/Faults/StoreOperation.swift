import CaravanModel
import CaravanStore
import CaravanTestKit

/// One call of a store, with what it begins with and what it must answer: so that faults can be put into each of its
/// steps, one after the other.
///
/// Every attempt happens to a user of its own, so that one store serves them all.
struct StoreOperation: Sendable, CustomStringConvertible {
  /// Where it happens.
  struct Place: Sendable {
    let store: any Store
    let zone: ZoneID
    let name: String
    /// The store's.
    let clock: ManualClock

    init(_ store: any Store, _ user: String, _ clock: ManualClock = ManualClock()) throws {
      self.store = store
      self.clock = clock
      zone = try Sample.zone("t", of: user)
      name = user
    }

    var database: DatabaseID { zone.database }
    func op(_ number: UInt64) -> OpID { OpID(writer: name, epoch: 1, number: number) }

    @discardableResult
    func commit(
      _ number: UInt64, _ mutations: [CaravanModel.Mutation], floor: UInt64 = 0, atomic: Bool = true
    ) async throws(CaravanError) -> CommitResult {
      try await store.commit(
        Commit(zone: zone, op: op(number), opFloor: floor, isAtomic: atomic, mutations: mutations))
    }
  }

  let name: String
  /// Whether asking again, when it is unknown whether it happened, gives the same answer.
  var isRepeatable = true
  let prepare: @Sendable (Place) async throws(CaravanError) -> Void
  /// - Returns: the answer, without what differs from user to user.
  let act: @Sendable (Place) async throws(CaravanError) -> String
  /// - Returns: what only shows later, when all is done; it may change what there is.
  let prove: @Sendable (Place) async throws(CaravanError) -> String

  init(
    _ name: String, isRepeatable: Bool = true,
    prepare: @escaping @Sendable (Place) async throws(CaravanError) -> Void = { _ in },
    act: @escaping @Sendable (Place) async throws(CaravanError) -> String,
    prove: @escaping @Sendable (Place) async throws(CaravanError) -> String = { _ in "" }
  ) {
    self.name = name
    self.isRepeatable = isRepeatable
    self.prepare = prepare
    self.act = act
    self.prove = prove
  }

  var description: String { name }
  /// A part of user names.
  var id: String { String(name.utf8.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) }, radix: 36) }

  static func text(_ result: CommitResult) -> String {
    switch result {
    case .aborted: "aborted"
    case .missing(let hashes): "missing \(hashes)"
    case .applied(let outcomes, let seq, _, _): "\(seq): \(outcomes.map(text))"
    }
  }

  private static func text(_ outcome: Outcome) -> String {
    switch outcome {
    case .accepted(let version): "accepted \(version)"
    case .conflict(let entry): "conflict \(entry.map(text) ?? "nothing")"
    case .aborted: "aborted"
    case .merged(let version, let entry): "merged \(version) \(entry.map(text) ?? "nothing")"
    case .read(let entry): "read \(entry.map(text) ?? "nothing")"
    case .refused(let error): "refused \(error)"
    }
  }

  static func text(_ entry: CaravanModel.Entry) -> String {
    "\(entry.name)@\(entry.version) of \(entry.created)\(entry.isDeleted ? " deleted" : "") \(entry.type) \(entry.body)"
      + " \(entry.expires) \(entry.fields.count)"
  }
}

/// What a store holds of one user, in words.
extension StoreOperation.Place {
  func state() async throws(CaravanError) -> String {
    var state = try await StoreState.text(of: database, in: store, chunks: (1...4).map(Sample.hash))
    // Its holder may be the user, who is called otherwise from run to run.
    for lease in try await store.leases(beginning: "\(name)/") {
      state += "\nlease \(lease.token) of \(lease.holder == name ? "its user" : lease.holder)"
    }
    if let group = try await store.group(op(1), in: zone) { state += "\ngroup \(group.stage) of \(group.parts)" }
    return state + "\ncursor \(try await store.cursor(of: name, in: Partition(of: database)))"
  }
}
