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

  /// The link costs nothing by the byte. Elsewhere the cloud is asked first what it lacks.
  var isFree: Bool { link.map { $0.cost <= .wifi } ?? false }

  func uploadEarly(in group: inout DiscardingTaskGroup) {
    for (table, chunks) in events.takeCut() {
      let key = Key(table, .write)
      guard bus != nil, isFree, coalescer.permits(key, isDemanded: false) else { continue }
      // The table's push follows when they are there.
      guard tables[table].earlyUploads > 0 || !sessions.isRunning(key) && sessions.begin(key) else { continue }
      guard tables[table].beginEarlyUpload() else { continue }
      group.addTask { await self.uploadEarly(chunks, of: key) }
    }
  }

  private func uploadEarly(_ chunks: [ChunkHash], of key: Key) async {
    do throws(CaravanError) {
      try await dependencies.mover.send(ahead: chunks, through: LinkGuard(engine: self, key: key, isDemanded: false))
    } catch {
      host.log.debug("chunks do not go ahead of their row", [.table: key.table, .error: error.description])
    }
    guard tables[key.table].endEarlyUpload() else { return }
    if sessions.end(key) { putBack(key) }
    signal.raise()
  }
}
