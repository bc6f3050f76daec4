internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// What the store and the apps have told the engine since it last looked. Callable from anywhere, returns at once.
final class LocalEvents: Sendable {
  private struct Waiting {
    var changes: [TableID: LocalChanges] = [:]
    var cut: [(table: TableID, chunks: [ChunkHash])] = []
    var isDamaged = false
  }

  private let waiting = Mutex(Waiting())
  private let signal: Signal

  /// - Parameter signal: raised whenever something is told.
  init(_ signal: Signal) { self.signal = signal }

  func changed(_ table: TableID, _ change: LocalChange, at now: UInt64) {
    waiting.withLock { $0.changes[table, default: LocalChanges()].add(change, at: now) }
    signal.raise()
  }

  /// Chunks of a row that is being written were cut. More than may wait are not heard of: they go with their row.
  func cut(_ table: TableID, _ chunks: [ChunkHash]) {
    let isHeard = waiting.withLock { waiting in
      guard waiting.cut.count < EngineLimits.cutsWaiting else { return false }
      waiting.cut.append((table, chunks))
      return true
    }
    if isHeard { signal.raise() }
  }

  func damaged() {
    waiting.withLock { $0.isDamaged = true }
    signal.raise()
  }

  /// - Returns: in the order of the tables.
  func takeChanges() -> [(key: TableID, value: LocalChanges)] {
    let changes = waiting.withLock { waiting in
      defer { waiting.changes.removeAll(keepingCapacity: true) }
      return waiting.changes
    }
    return changes.sorted { $0.key < $1.key }
  }

  func takeCut() -> [(table: TableID, chunks: [ChunkHash])] {
    waiting.withLock { waiting in
      defer { waiting.cut = [] }
      return waiting.cut
    }
  }

  func takeDamage() -> Bool {
    waiting.withLock { waiting in
      defer { waiting.isDamaged = false }
      return waiting.isDamaged
    }
  }
}
