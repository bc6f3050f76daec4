import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

@Suite("Child processes", .timeLimit(.minutes(1)))
struct ChildProcessTests {
  @Test("Its exit code or signal, its output and its environment are as asked")
  func exits() async throws {
    try await withTemporaryDirectory { directory in
      let log = "\(directory)/log"
      let command = ChildCommand(
        "/bin/sh", ["-c", "echo $WORD; echo oops >&2; exit 3"], environment: ["WORD": "hello"], output: .file(log))
      let child = try await ChildProcess.start(command, host: .quiet)
      #expect(await child.wait() == .code(3))
      #expect(await child.wait() == .code(3))
      #expect(!child.isRunning)
      #expect(try TextFile.read(log) == "hello\noops\n")
      let killed = try await ChildProcess.start(ChildCommand("sleep", ["60"]), host: .quiet)
      killed.kill()
      #expect(await killed.wait() == .signal(9))
    }
  }

  @Test("Stop asks first, and kills when that does not help")
  func stop() async throws {
    let clock = Host.quiet.clock
    let polite = try await ChildProcess.start(ChildCommand("sleep", ["60"]), host: .quiet)
    #expect(await polite.stop(clock: clock) == .signal(15))
    try await withTemporaryDirectory { directory in
      let ready = "\(directory)/ready"
      let script = "trap '' TERM; touch \(ready); while :; do sleep 0.1; done"
      let stubborn = try await ChildProcess.start(ChildCommand("/bin/sh", ["-c", script]), host: .quiet)
      try await eventually("the trap is set") { FileManager.default.fileExists(atPath: ready) }
      #expect(await stubborn.stop(within: .milliseconds(100), clock: clock) == .signal(9))
    }
  }

  @Test("A program that is not there is an error, or an exit with 127")
  func absent() async throws {
    do {
      let child = try await ChildProcess.start(ChildCommand("/no/such/program"), host: .quiet)
      #expect(await child.wait() == .code(127))
    } catch {
      #expect(error.message.contains("/no/such/program"))
    }
  }

  @Test("As a service: ending unasked is an error, ending as asked is none")
  func service() async throws {
    let short = try await ChildProcess.start(ChildCommand("true"), host: .quiet)
    #expect(await failure { try await short.run() }?.code == .internalError)
    let long = try await ChildProcess.start(ChildCommand("sleep", ["60"]), host: .quiet)
    try await running([long]) {}
    #expect(!long.isRunning)
  }

  @Test("It dies with the process that started it", .enabled(if: access("/usr/bin/setpriv", X_OK) == 0))
  func diesWithParent() async throws {
    // The guardian sets the signal on itself before it becomes the program.
    try await withTemporaryDirectory { directory in
      let log = "\(directory)/log"
      let command = ChildCommand("setpriv", ["--dump"], output: .file(log))
      let child = try await ChildProcess.start(command, host: .quiet)
      #expect(await child.wait() == .code(0))
      #expect(try TextFile.read(log).contains("Parent death signal: KILL"))
    }
  }
}
