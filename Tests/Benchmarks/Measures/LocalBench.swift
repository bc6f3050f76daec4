internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import Glibc

/// A row with a 1 MiB object through the agent's socket, beside the same bytes as a file and an SQLite row (BEN-06);
/// then short objects in both store modes. What is read is compared by `memcmp`, and that is timed in both.
struct LocalBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  private static let objectBytes = 1 << 20

  func run() async throws {
    let floor = try DirectStore(directory: suite.directory, host: suite.host).measure(
      bytes: Self.objectBytes, rounds: rounds)
    let socket = try await suite.agent("local", user: "local", link: "none")
    try await CaravanClient.withConnection(to: socket, app: "bench") { client in
      let table = try await client.createTable("local", "name VARCHAR, thing OBJECT")
      let clock = suite.host.clock
      var (writes, reads, deletes) = (Samples(), Samples(), Samples())
      for round in 0..<rounds {
        let object = suite.host.random.bytes(Self.objectBytes)
        var start = clock.now
        let row = try await table.write(["name": .text("\(round)")], objects: ["thing"]) {
          try await $0.write(object, to: "thing", at: 0)
        }
        writes.add(clock.now - start)
        start = clock.now
        guard isSame(try await table.contents(of: "thing", row: row).all(), object) else {
          throw CaravanError(.internalError, "an object came back changed")
        }
        reads.add(clock.now - start)
        start = clock.now
        try await table.delete(.init("name=?", [.text("\(round)")]))
        deletes.add(clock.now - start)
      }
      for (figure, ours, raw) in [
        ("write", writes, floor.writes), ("read", reads, floor.reads), ("delete", deletes, floor.deletes),
      ] {
        report.line(
          figure, ["p50_ms": ours.p50, "p99_ms": ours.p99, "ratio": raw.p50 / ours.p50],
          floor: ["file_and_sqlite_p50_ms": raw.p50])
      }
      try await StoreModeBench(client: client, host: suite.host, report: report, rounds: 10 * rounds).run()
    }
  }
}

/// Row in SQLite, object in a file: written aside, synced, renamed.
private struct DirectStore {
  let directory: String
  let host: Host

  func measure(bytes: Int, rounds: Int) throws(CaravanError) -> (writes: Samples, reads: Samples, deletes: Samples) {
    let db = try Connection(.file("\(directory)/direct.db"))
    defer { db.close() }
    try db.execute("CREATE TABLE IF NOT EXISTS rows(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    var (writes, reads, deletes) = (Samples(), Samples(), Samples())
    for round in 0..<rounds {
      let object = host.random.bytes(bytes)
      let path = "\(directory)/object-\(round)"
      var start = host.clock.now
      try writeFile(object, path)
      try db.run("INSERT INTO rows(name) VALUES (?)", "\(round)")
      writes.add(host.clock.now - start)
      start = host.clock.now
      let back = try readFile(path, bytes)
      guard isSame(back, object) else { throw CaravanError(.internalError, "a file came back changed") }
      reads.add(host.clock.now - start)
      start = host.clock.now
      try db.run("DELETE FROM rows WHERE name = ?", "\(round)")
      unsafe unlink(path)
      deletes.add(host.clock.now - start)
    }
    return (writes, reads, deletes)
  }

  private func writeFile(_ bytes: [UInt8], _ path: String) throws(CaravanError) {
    let draft = path + ".new"
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer {
      close(descriptor)
      close(folder)
    }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count, fdatasync(descriptor) == 0, unsafe rename(draft, path) == 0, fsync(folder) == 0 else {
      throw CaravanError(.storageFull, "cannot write '\(path)'")
    }
  }

  private func readFile(_ path: String, _ count: Int) throws(CaravanError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe read(descriptor, &bytes, count) == count else {
      throw CaravanError(.internalError, "cannot read '\(path)'")
    }
    return bytes
  }
}

private func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  unsafe one.count == other.count && memcmp(one, other, one.count) == 0
}
