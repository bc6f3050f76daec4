import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// Where users are who are not in the main store, or are on their way: a record each, in the main store. One process
/// owns that, and so is the only one that writes here.
struct PlacementCache: Sendable {
  private let store: any Store
  private let ops: OpSource

  static let zone: ZoneID = {
    guard let zone = try? ZoneID(DatabaseID.system(nil), "placements") else {
      preconditionFailure("a zone may be called 'placements'")
    }
    return zone
  }()

  init(store: any Store, host: Host) {
    self.store = store
    ops = OpSource(writer: "@storage/moves", epoch: OpSource.epoch(host))
  }

  func all() async throws(CaravanError) -> [UserID: Placement] {
    var all: [UserID: Placement] = [:]
    var query = ChangeQuery(zone: Self.zone)
    while true {
      let page = try await store.changes(query)
      // Whoever's it is would be looked for where they are not.
      guard page.damaged.isEmpty else { throw .damagedRecords(page.damaged.map(\.name)) }
      for entry in try EntryPage.decode(page.page).entries where !entry.deleted {
        try Self.add(entry.name, entry.body, to: &all)
      }
      guard page.more else { return all }
      query.position = page.next
    }
  }

  static func read(_ records: [RecordContent]) throws(CaravanError) -> [UserID: Placement] {
    var all: [UserID: Placement] = [:]
    for record in records where record.sum != nil { throw .damagedRecords([record.entry.name]) }
    for record in records where !record.entry.isDeleted { try add(record.entry.name, record.entry.body, to: &all) }
    return all
  }

  private static func add(
    _ name: String, _ body: [UInt8], to all: inout [UserID: Placement]
  ) throws(CaravanError) {
    all[try UserID(name)] = try Placement(RecordFields(body: body))
  }

  /// Durable when it returns. What throws is not written, unless it is `timedOut` or `cancelled`: then write the same
  /// again.
  func write(_ placement: Placement, of owner: UserID) async throws(CaravanError) {
    let change: CaravanModel.Mutation.Change =
      placement.isDefault ? .delete : .save(type: 0, body: placement.fields.body, chunks: [])
    let (op, floor) = ops.begin()
    defer { ops.end(op) }
    let mutation = CaravanModel.Mutation(name: owner.text, base: .any, change: change)
    let commit = Commit(zone: Self.zone, op: op, opFloor: floor, isAtomic: false, mutations: [mutation])
    guard case .applied(let outcomes, _, _, _) = try await store.commit(commit), case .accepted? = outcomes.first else {
      throw CaravanError(.internalError, "where user '\(owner)' is could not be written")
    }
  }
}
