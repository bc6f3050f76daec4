internal import CaravanAgentCore
internal import CaravanModel

/// Who is told of what happens in the store. Calls come on the store's thread, and must return at once.
final class StoreEvents {
  /// Rows became ready to be pushed.
  var dirtied: (@Sendable (TableID, LocalChange) -> Void)?
  /// A table has upcalls to deliver.
  var news: (@Sendable (TableID) -> Void)?
  /// Chunks of rows that are being written were cut, of tables whose changes go at once.
  var cut: (@Sendable (TableID, [ChunkHash]) -> Void)?
  /// A table was dropped, or shows, keeps or has something else than its rows say.
  var tableChanged: ((TableID) -> Void)?

  func tellDirtied(_ state: TableState, bytes: Int) { tellDirtied(state, LocalChange(bytes: bytes)) }

  func tellDirtied(_ state: TableState, _ change: LocalChange) {
    if !state.isLocalOnly { dirtied?(state.table, change) }
  }

  func tellDirtied(_ state: TableState, bytes: Int, _ intent: WriteIntent, _ promise: WritePromise) {
    tellDirtied(state, LocalChange(bytes: bytes, intent, promise))
  }

  func tellNews(_ table: TableID) { news?(table) }
  func tellCut(_ table: TableID, _ chunks: [ChunkHash]) { cut?(table, chunks) }
}
