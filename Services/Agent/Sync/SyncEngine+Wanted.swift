internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

// Chunks that the cloud's disk has lost. Nothing of this need be remembered for long: the cloud asks again with every
// hello. It asks for some at a time, so a device that had any of them says hello again at once.
extension SyncEngine {
  /// Rows of a table that this device does not have, or does not sync, are others' to bring.
  func note(wanted records: WantedRecords) async throws(CaravanError) {
    guard let app = try? ContainerID(records.container) else { return }
    let table = TableID(app: app, name: records.zone)
    guard await store.syncedTables().contains(table) else { return }
    let damaged = records.records.map { CloudDamage(row: $0.name, version: $0.version) }
    try await store.isDamaged(atCloud: damaged, of: table)
  }

  /// Over a link that some table of the app may be written over, or that an app just now asked for a sync over.
  func sendWanted(in group: inout DiscardingTaskGroup) {
    guard schedule.isConnected else { return }
    for app in wanted.apps {
      guard let linkGuard = linkGuard(of: app) else { continue }
      let hashes = wanted.take(app, at: moment.monotonic)
      group.addTask { await self.send(wanted: hashes, through: linkGuard) }
    }
  }

  private func linkGuard(of app: ContainerID) -> LinkGuard? {
    if let key = schedule.permittedWrite(of: app) { return LinkGuard(engine: self, key: key, isDemanded: false) }
    let key = waiters.keys.first { $0.table.app == app && schedule.permits($0, isDemanded: true) }
    return key.map { LinkGuard(engine: self, key: $0, isDemanded: true) }
  }

  private func send(wanted hashes: [ChunkHash], through linkGuard: LinkGuard) async {
    do throws(CaravanError) {
      let sent = try await dependencies.mover.send(wanted: store.held(hashes), through: linkGuard)
      guard !sent.isEmpty else { return }
      host.log.info("the cloud had lost chunks, and has them again", [.app: linkGuard.table.app, .count: sent.count])
      wanted.noteSent(sent, at: moment.monotonic)
      schedule.controlMessages.helloIsDue(at: moment.monotonic)
      signal.raise()
    } catch {
      host.log.debug("chunks that the cloud has lost do not go", [.table: linkGuard.table, .error: error.description])
    }
  }
}

extension ChunkRequests {
  /// What names no app or no chunk is left out.
  mutating func ask(for wanted: [WantedChunks]) {
    for some in wanted {
      guard let app = try? ContainerID(some.container), let hashes = try? ChunkHash.list(some.hashes) else { continue }
      ask(for: hashes, of: app)
    }
  }
}

extension ChunkMover {
  /// Chunks that the cloud has lost, of those that are here; in pieces where the link bears no more.
  /// - Returns: those that it has now.
  func send(wanted hashes: [ChunkHash], through linkGuard: LinkGuard) async throws(CaravanError) -> Set<ChunkHash> {
    var rest = hashes[...]
    var sent: Set<ChunkHash> = []
    while !rest.isEmpty {
      let window = Array(rest.prefix(EngineLimits.chunksPerUpload))
      let chunks = try await store.chunks(window, maximumBytes: min(exchanger.fragment.bytes, Limits.chunkBatchBytes))
      // What is left out before the last one is not here any more.
      let last = chunks.last.flatMap { window.lastIndex(of: $0.hash) } ?? window.count - 1
      rest = rest.dropFirst(last + 1)
      guard !chunks.isEmpty else { continue }
      do throws(CaravanError) { try await put(chunks, [:], through: linkGuard) } catch {
        guard !sent.isEmpty else { throw error }
        break
      }
      sent.formUnion(chunks.map(\.hash))
    }
    return sent
  }
}
