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
}

/// Stands before every message of a table: a transfer that began on wifi does not go on over roaming (MOB-44).
struct LinkGuard: Sendable {
  let engine: SyncEngine
  let key: Coalescer.Key
  let isDemanded: Bool

  var table: TableID { key.table }

  /// The most expensive link that the next message may go over.
  /// - Throws: `networkNotPermitted`: there is a more expensive one, or none.
  func limit() async throws(CaravanError) -> CaravanModel.LinkClass {
    try await engine.limit(of: key, isDemanded: isDemanded)
  }

  /// False while plans of the table in flight are to end and none may follow.
  func mayCollect() async -> Bool { await engine.mayCollect(table) }

  /// Nothing is paid by the byte: what the cloud may have already can be sent without asking.
  func isFree() async -> Bool { await engine.isFree }
}

/// Changes of one table that came with a notification.
struct ReceivedPage: Sendable {
  let table: TableID
  let page: NotifiedPage
}
