import CaravanCLICore
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

@testable import CaravanCLIDriver

/// Goal: no convenience file ends a suite (TRU-11). Method: its parts, where the disk does not take the file.
@Suite(.timeLimit(.minutes(1))) struct AnnouncerTests {
  @Test("TRU-11: a run file that cannot be written is said, ends nothing, and is written once it can be")
  func runFile() async throws {
    try await withTemporaryDirectory { path in
      let live = Host.live(logLevel: .error)
      let log = MemoryLogSink()
      let host = live.with(log: Log(level: .info, clock: live.clock, sink: log))
      let directory = SuiteDirectory(path)
      let processes = ProcessTable(["sync"])
      let announcer = Announcer(
        RunFile(
          http: "http://127.0.0.1:1", nats: "nats://127.0.0.1:2", authority: nil, directory: path, version: "0",
          process: 7),
        directory: directory, gateway: try GatewayClient(url: "http://127.0.0.1:1", adminToken: nil, host: live),
        processes: processes, terminal: Terminal(host: live) { _ in }, host: host)
      // Nothing can take the place of a directory.
      Files.makeDirectory(directory.runFile)
      let begun = Latch()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await announcer.keep { begun.open() } }
        await begun.wait()
        processes.died("sync")
        processes.started("sync", 42)
        try await eventually("it is said, once") { log.records.count == 1 }
        unsafe rmdir(directory.runFile)
        try await eventually("the file is there") { try directory.lastRun()?.processes.first?.process == 42 }
        announcer.shutDown()
        try await group.waitForAll()
      }
      #expect(try directory.lastRun()?.process == 0)
      #expect(log.records.count == 2, "that it is written again is said, too")
    }
  }

  @Test("TRU-11: a process starts without a log where there can be none")
  func withoutLog() async throws {
    try await withTemporaryDirectory { path in
      Files.makeDirectory("\(path)/log")
      let host = Host.live(logLevel: .error)
      let child = try await ChildProcess.start(
        ChildCommand("/bin/true", output: .file("\(path)/log")), host: host)
      #expect(await child.wait() == .code(0))
      let lost = try await ChildProcess.start(
        ChildCommand("/bin/echo", ["x"], output: .file("\(path)/none/log")), host: host)
      #expect(await lost.wait() == .code(0))
    }
  }
}
