internal import CaravanRuntime
internal import CaravanSQLite

/// Rows that change while somebody watches their table, by their keys: of each watch as many as it may have, and one
/// more if there are more. What a transaction takes back is among them.
final class TouchedRows {
  private struct Watch {
    let table: String
    let limit: Int
    /// Raised with the first row; whoever waits for it runs when the transaction is over, for nothing of the store
    /// runs in the middle of one.
    let signal: Signal?
    var keys: Set<Int64> = []
  }

  private var watches: [UInt64: Watch] = [:]

  func begin(_ handle: UInt64, table: String, limit: Int, signal: Signal? = nil, in database: Connection) {
    watches[handle] = Watch(table: table, limit: limit, signal: signal)
    database.whenRowChanges { [self] table, key in
      for handle in watches.keys where watches[handle]?.table == table { note(key, for: handle) }
    }
  }

  private func note(_ key: Int64, for handle: UInt64) {
    guard let watch = watches[handle], watch.keys.count <= watch.limit else { return }
    if watch.keys.isEmpty { watch.signal?.raise() }
    watches[handle]?.keys.insert(key)
  }

  /// What was touched since the watch began, or since the last call.
  func take(_ handle: UInt64) -> Set<Int64> {
    let keys = watches[handle]?.keys ?? []
    if !keys.isEmpty { watches[handle]?.keys = [] }
    return keys
  }

  func end(_ handle: UInt64, in database: Connection?) -> Set<Int64> {
    let keys = watches.removeValue(forKey: handle)?.keys ?? []
    if watches.isEmpty { database?.whenRowChanges(nil) }
    return keys
  }
}
