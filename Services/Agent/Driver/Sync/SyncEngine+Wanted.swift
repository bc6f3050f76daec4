internal import AgentCore
internal import Model
internal import Runtime
internal import Wire

// Chunks that the cloud's disk has lost. Nothing of this need be remembered: the cloud asks again with every hello.
extension SyncEngine {
  func note(wanted chunks: [WantedChunks]) {
    for some in chunks {
      guard let app = try? ContainerID(some.container), let hashes = try? ChunkHash.list(some.hashes) else { continue }
      wanted[app] = hashes
    }
  }

  /// Over a link that some table of the app may be written over.
  func sendWanted(in group: inout DiscardingTaskGroup) {
    let due = wanted
    wanted = [:]
    guard bus != nil else { return }
    for (app, hashes) in due.sorted(by: { $0.key.text < $1.key.text }) {
      let keys = registered.keys.sorted().filter { $0.table.app == app && $0.direction == .write }
      guard let key = keys.first(where: { coalescer.permits($0, isDemanded: false) }) else { continue }
      group.addTask { await self.send(wanted: hashes, of: key) }
    }
  }

  private func send(wanted hashes: [ChunkHash], of key: Key) async {
    do throws(CaravanError) {
      let count = try await crew.mover.send(
        wanted: hashes, through: Gate(engine: self, key: key, isDemanded: false))
      guard count > 0 else { return }
      host.log.info("the cloud had lost chunks, and has them again", [.app: key.table.app, .count: count])
    } catch {
      host.log.debug("chunks that the cloud has lost do not go", [.table: key.table, .error: error.description])
    }
  }
}

extension ChunkMover {
  /// Chunks that the cloud has lost, as far as they are here.
  /// - Returns: how many it has now.
  func send(wanted hashes: [ChunkHash], through gate: Gate) async throws(CaravanError) -> Int {
    var rest = hashes[...]
    var count = 0
    while !rest.isEmpty {
      let window = Array(rest.prefix(EngineLimits.chunksPerUpload))
      rest = rest.dropFirst(window.count)
      let chunks = try await store.chunks(window, maximumBytes: min(exchanger.fragment.bytes, Limits.chunkBatchBytes))
      guard !chunks.isEmpty else { continue }
      let put = chunks.map { Chunk(hash: $0.hash.bytes, data: $0.bytes) }
      count += try await send(put, plain: chunks.map(\.bytes.count), through: gate).count
    }
    metrics.chunksUp.add(count)
    return count
  }
}
