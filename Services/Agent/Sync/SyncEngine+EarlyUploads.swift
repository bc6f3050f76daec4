public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime

// Chunks that go to the cloud while the row that will name them is being written. It keeps them for a while for nobody,
// so nothing need be remembered here: what does not arrive is asked for when the row does.
extension SyncEngine {
  /// Callable from anywhere, returns at once.
  public nonisolated func chunksCut(_ table: TableID, _ chunks: [ChunkHash]) {
    events.cut(table, chunks)
  }

  func uploadEarly(in group: inout DiscardingTaskGroup) {
    for (table, chunks) in events.takeCut() {
      guard schedule.beginEarlyUpload(of: table) else { continue }
      group.addTask { await self.uploadEarly(chunks, of: Key(table, .write)) }
    }
  }

  private func uploadEarly(_ chunks: [ChunkHash], of key: Key) async {
    do throws(CaravanError) {
      try await dependencies.mover.send(early: chunks, through: LinkGuard(engine: self, key: key, isDemanded: false))
    } catch {
      host.log.debug("chunks do not go ahead of their row", [.table: key.table, .error: error.description])
    }
    if schedule.endEarlyUpload(of: key.table, isAwaited: waiters.isAwaited(key), at: moment) { signal.raise() }
  }
}
