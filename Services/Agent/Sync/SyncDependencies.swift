internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What every session works with.
struct SyncDependencies: Sendable {
  let store: any SyncStore
  let exchanger: Exchanger
  let mover: ChunkMover
  let metrics: SyncMetrics
  let totals: SessionTotals
  let clock: any Clock
  let cloudTypes: CloudTypes
  let cloudObjects: CloudObjects
}

/// Stands before every message of a table: a transfer that began on wifi does not go on over roaming (MOB-44).
struct LinkGuard: Sendable {
  /// nil: an app asks the cloud itself, over whatever link there is.
  private let engine: SyncEngine?
  let key: Coalescer.Key
  let isDemanded: Bool
  /// Whose objects are moved; nil: those of the table's rows.
  let record: CloudRecordVersion?

  init(engine: SyncEngine, key: Coalescer.Key, isDemanded: Bool) {
    (self.engine, self.key, self.isDemanded, record) = (engine, key, isDemanded, nil)
  }

  /// Before messages about objects of a record of the cloud.
  init(_ record: CloudRecordVersion, of table: TableID, _ direction: Direction) {
    (engine, key, isDemanded, self.record) = (nil, Coalescer.Key(table, direction), true, record)
  }

  var table: TableID { key.table }

  /// The most expensive link that the next message may go over.
  /// - Throws: `networkNotPermitted`: there is a more expensive one, or none.
  func limit() async throws(CaravanError) -> CaravanModel.LinkClass {
    guard let engine else { return .roaming }
    return try await engine.limit(of: key, isDemanded: isDemanded)
  }

  /// False while plans of the table in flight are to end and none may follow.
  func mayCollect() async -> Bool { await engine?.mayCollect(table) ?? true }

  /// Nothing is paid by the byte: what the cloud may have already can be sent without asking.
  func isFree() async -> Bool { await engine?.isFree ?? false }
}

/// Changes of one table that came with a notification.
struct ReceivedPage: Sendable {
  let table: TableID
  let page: NotifiedPage
}
