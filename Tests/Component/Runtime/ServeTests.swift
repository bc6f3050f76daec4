import CaravanEncoding
import Glibc
import Testing

@testable import CaravanRuntime

/// Whole lives of a server, each in a process of its own.
@Suite("Serving", .timeLimit(.minutes(1)))
struct ServeTests {
  /// Sends itself a signal, and again when it is told to stop and is `deaf`.
  private final class Suicidal: Service {
    let signal: Int32
    let isDeaf: Bool
    let stop = Latch()

    init(_ signal: Int32, isDeaf: Bool = false) { (self.signal, self.isDeaf) = (signal, isDeaf) }

    func run() async throws {
      kill(getpid(), signal)
      await stop.wait()
    }

    func shutDown() {
      if isDeaf { kill(getpid(), signal) } else { stop.open() }
    }
  }

  private struct Failing: Service {
    func run() async throws { throw CommandLineStop.usage("the disk is gone") }
    func shutDown() {}
  }

  private static func serve(_ arguments: [String] = [], _ service: any Service) async -> Never {
    exit(
      await Command("caravan-test", "Does nothing.", flags: [.logLevel]).run(arguments, environment: [:]) { _, _ in
        [service]
      })
  }

  @Test("SIGTERM and SIGINT end a server in order, with exit code 0 and a line in its log")
  func signals() async throws {
    let terminated = await #expect(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) {
      await Self.serve([], Suicidal(SIGTERM))
    }
    let lines = try #require(terminated).standardErrorContent.split(separator: UInt8(ascii: "\n"))
      .compactMap { try? JSON.parse(Array($0)) }
    #expect(lines.contains { $0["message"] == "a signal asks to stop" && $0["signal"] == 15 })
    #expect(lines.contains { $0["message"] == "stopped" && $0["service"] == "caravan-test" })
    await #expect(processExitsWith: .exitCode(0)) { await Self.serve([], Suicidal(SIGINT)) }
  }

  @Test("a second signal ends a server that does not stop")
  func secondSignal() async {
    await #expect(processExitsWith: .exitCode(128 + SIGTERM)) { await Self.serve([], Suicidal(SIGTERM, isDeaf: true)) }
  }

  @Test("a service that fails makes exit code 1, a wrong command line 2, help 0")
  func exitCodes() async throws {
    await #expect(processExitsWith: .exitCode(1)) { await Self.serve([], Failing()) }
    let wrong = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
      await Self.serve(["--colour"], Failing())
    }
    let line = String(decoding: try #require(wrong).standardErrorContent, as: UTF8.self)
    #expect(line.contains("caravan-test: there is no flag '--colour'; see caravan-test --help\n"))
    let help = await #expect(processExitsWith: .exitCode(0), observing: [\.standardOutputContent]) {
      await Self.serve(["--help"], Failing())
    }
    #expect(String(decoding: try #require(help).standardOutputContent, as: UTF8.self).contains("usage: caravan-test"))
  }
}
