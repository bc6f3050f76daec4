import CaravanChunkFiles
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Notes what is asked of the disk, and refuses syncs on demand.
private final class SyncTap: DiskTap {
  private let state = Mutex((changes: [String](), refusesSyncs: false))

  var changes: [String] { state.withLock { $0.changes } }
  func refuse(_ refuses: Bool) { state.withLock { $0.refusesSyncs = refuses } }

  func allows(_ change: DiskChange, of path: String) -> Bool {
    state.withLock { state in
      switch change {
      case .write: state.changes.append("write")
      case .sync: state.changes.append("sync")
      default: break
      }
      if case .sync = change { return !state.refusesSyncs }
      return true
    }
  }
}

/// Goal: a sync that was begun early promises no more than it may. Method: a real file under a tap.
@Suite("Syncs of the chunk file")
struct ChunkFileSyncTests {
  private func withFile(_ body: (ChunkFile, SyncTap) throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let tap = SyncTap()
      let file = try ChunkFile("\(directory)/chunks.dat", tap: tap)
      try body(file, tap)
      file.close()
    }
  }

  @Test("what was begun early is not asked for again; what was written since is", arguments: [true, false])
  func early(isHelped: Bool) async throws {
    let helper: any Helper = isHelped ? Host.live().executors.makeHelper("sync") : NoHelper()
    try await withFile { file, tap in
      _ = try file.add([1, 2, 3])
      try file.beginSync(by: helper)
      try file.sync()
      try file.sync()
      #expect(tap.changes == ["write", "sync"])
      _ = try file.add([4])
      try file.beginSync(by: helper)
      let place = try file.add([5])
      try file.sync()
      #expect(tap.changes == ["write", "sync", "write", "sync", "write", "sync"])
      #expect(try file.read(at: place, count: 1) == [5])
      // Nothing to begin with.
      try file.beginSync(by: helper)
      #expect(tap.changes.count == 6)
    }
  }

  @Test("a disk that refuses the early sync is asked again, and nothing counts as synced")
  func refused() async throws {
    try await withFile { file, tap in
      _ = try file.add([1, 2, 3])
      tap.refuse(true)
      #expect(throws: CaravanError.self) { try file.beginSync(by: NoHelper()) }
      #expect(throws: CaravanError.self) { try file.sync() }
      tap.refuse(false)
      try file.sync()
      #expect(tap.changes == ["write", "sync", "sync", "sync"])
    }
  }

  @Test("a file that is closed in the middle of an early sync waits for it")
  func closed() async throws {
    let helper = Host.live().executors.makeHelper("sync")
    for _ in 0..<50 {
      try await withFile { file, _ in
        _ = try file.add([UInt8](repeating: 7, count: 100_000))
        try file.beginSync(by: helper)
      }
    }
  }
}
