import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

@testable import CaravanLaunch

/// Plays systemd: takes what services tell it.
private final class NotifyListener: Sendable {
  let environment: [String: String]
  private let descriptor: Int32

  /// - Parameter name: a path, or `@` and an abstract name.
  init(_ name: String) throws {
    environment = ["NOTIFY_SOCKET": name]
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if name.hasPrefix("@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(status == 0)
  }

  deinit { close(descriptor) }

  /// What was told and not heard yet.
  func heard() -> [String] {
    var heard: [String] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return heard }
      heard.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }
}

/// What watches over a process: systemd's protocols, played by the test.
@Suite("Supervisors", .timeLimit(.minutes(1)))
struct SupervisorTests {
  @Test("sd_notify(3): a path and an abstract name are told; without a supervisor nothing is")
  func addresses() async throws {
    try await withTemporaryDirectory { directory in
      for name in ["\(directory)/notify", "@caravan-\(getpid())-notify"] {
        let listener = try NotifyListener(name)
        let socket = try #require(NotifySocket(environment: listener.environment))
        #expect(socket.tell("STATUS=hello"))
        #expect(listener.heard() == ["STATUS=hello"])
      }
      let gone = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": "\(directory)/gone"]))
      #expect(!gone.tell("READY=1"))
    }
    for environment in [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "relative"]] {
      #expect(NotifySocket(environment: environment) == nil)
    }
    #expect(NotifySocket(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
  }

  @Test("the watchdog is fed at half its patience, if it is this process's")
  func watchdogPeriod() throws {
    func period(_ variables: [String: String]) throws -> Duration? {
      let environment = variables.merging(["NOTIFY_SOCKET": "/nowhere"]) { a, _ in a }
      return try #require(SupervisorTies(environment: environment, process: 7, clock: ManualClock()) { true }).period
    }
    #expect(try period(["WATCHDOG_USEC": "3000000"]) == .milliseconds(1_500))
    #expect(try period(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"]) == .milliseconds(1_500))
    #expect(try period(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"]) == nil)
    #expect(try period([:]) == nil)
    #expect(try period(["WATCHDOG_USEC": "soon"]) == nil)
  }

  /// A service whose health the test decides.
  private final class Patient: Sendable {
    let isWell = Mutex(false)
    let asked = Mutex(0)

    func answer() -> Bool {
      asked.withLock { $0 += 1 }
      return isWell.withLock { $0 }
    }
  }

  @Test("READY=1 when the process serves, WATCHDOG=1 only while it does, STOPPING=1 at its end")
  func life() async throws {
    try await withTemporaryDirectory { directory in
      let listener = try NotifyListener("\(directory)/notify")
      let clock = ManualClock()
      let patient = Patient()
      let environment = listener.environment.merging(["WATCHDOG_USEC": "20000000"]) { a, _ in a }
      let ties = try #require(
        SupervisorTies(environment: environment, process: 7, clock: clock) { patient.answer() })
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await ties.run() }
        /// One more question, with its answer carried out: the next pause has begun.
        func round(_ wait: Duration) async -> [String] {
          clock.advance(by: wait)
          await clock.untilSleepers()
          return listener.heard()
        }
        await clock.untilSleepers()
        #expect(listener.heard() == [], "it does not serve yet")
        #expect(await round(SupervisorTies.impatience) == [])
        patient.isWell.withLock { $0 = true }
        #expect(await round(SupervisorTies.impatience) == ["READY=1\nWATCHDOG=1"])
        #expect(await round(.seconds(10)) == ["WATCHDOG=1"])
        #expect(await round(.seconds(10)) == ["WATCHDOG=1"])
        patient.isWell.withLock { $0 = false }
        #expect(await round(.seconds(10)) == [], "who does not serve feeds nobody")
        #expect(await round(SupervisorTies.impatience) == [])
        patient.isWell.withLock { $0 = true }
        #expect(await round(SupervisorTies.impatience) == ["WATCHDOG=1"])
        #expect(patient.asked.withLock { $0 } == 8)
        ties.shutDown()
        await group.waitForAll()
        #expect(listener.heard() == ["STOPPING=1"])
      }
    }
  }

  @Test("without a watchdog a process that serves is not woken again")
  func noWatchdog() async throws {
    try await withTemporaryDirectory { directory in
      let listener = try NotifyListener("\(directory)/notify")
      let clock = ManualClock()
      let ties = try #require(SupervisorTies(environment: listener.environment, process: 7, clock: clock) { true })
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await ties.run() }
        var heard: [String] = []
        try? await eventually("it is ready") {
          heard += listener.heard()
          return !heard.isEmpty
        }
        #expect(heard == ["READY=1\nWATCHDOG=1"])
        clock.advance(by: .seconds(3_600))
        #expect(clock.sleepers == 0 && listener.heard() == [])
        ties.shutDown()
        await group.waitForAll()
        #expect(listener.heard() == ["STOPPING=1"])
      }
    }
  }

  @Test("sd_listen_fds(3): what is meant for another process is not taken, and what is no listening socket is refused")
  func inheritedSockets() throws {
    func taken(_ variables: [String: String]) throws -> InheritedSocket? {
      try InheritedSocket.taken(from: variables, process: 7)
    }
    #expect(try taken([:]) == nil)
    #expect(try taken(["LISTEN_FDS": "1", "LISTEN_PID": "8"]) == nil)
    #expect(try taken(["LISTEN_FDS": "1"]) == nil)
    #expect(throws: CaravanError.self) { try taken(["LISTEN_FDS": "2", "LISTEN_PID": "7"]) }
    let idle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(idle) }
    #expect(throws: CaravanError.self) { try InheritedSocket(idle) }
    var pair: [Int32] = [-1, -1]
    #expect(pipe(&pair) == 0)
    defer { pair.forEach { _ = close($0) } }
    #expect(throws: CaravanError.self) { try InheritedSocket(pair[0]) }
  }
}
