public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime

// Chunks that go to the cloud while the row that will name them is being written. It keeps them for a while for nobody,
// so nothing need be remembered here: what does not arrive is asked for when the row does.
extension SyncEngine {
  /// Callable from anywhere, returns at once.
  public nonisolated func chunksCut(_ table: TableID, _ chunks: [ChunkHash]) {
    let isHeard = cutChunks.withLock { cut in
      guard cut.count < EngineLimits.cutsWaiting else { return false }
      cut.append((table, chunks))
      return true
    }
    if isHeard { signal.raise() }
  }

  /// The link costs nothing by the byte. Elsewhere the cloud is asked first what it lacks.
  var isFree: Bool { link.map { $0.cost <= .wifi } ?? false }

  func uploadEarly(in group: inout DiscardingTaskGroup) {
    let cut = cutChunks.withLock { cut in
      defer { cut = [] }
      return cut
    }
    for (table, chunks) in cut {
      let key = Key(table, .write)
      guard bus != nil, isFree, coalescer.permits(key, isDemanded: false) else { continue }
      // The table's push follows when they are there.
      guard ahead[table] != nil || !board.isRunning(key) && board.begin(key) else { continue }
      guard ahead[table, default: 0] < EngineLimits.messagesAhead else { continue }
      ahead[table, default: 0] += 1
      group.addTask { await self.uploadEarly(chunks, of: key) }
    }
  }

  private func uploadEarly(_ chunks: [ChunkHash], of key: Key) async {
    do throws(CaravanError) {
      try await dependencies.mover.send(ahead: chunks, through: LinkGuard(engine: self, key: key, isDemanded: false))
    } catch {
      host.log.debug("chunks do not go ahead of their row", [.table: key.table, .error: error.description])
    }
    ahead[key.table, default: 1] -= 1
    guard ahead[key.table] == 0 else { return }
    ahead[key.table] = nil
    if board.end(key) { putBack(key) }
    signal.raise()
  }
}
