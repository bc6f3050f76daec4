import CaravanAgentApps
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

@testable import CaravanClient

/// Goal: an agent that hangs is told from one that works. Method: sockets on which nobody is let in, or nothing is
/// answered any more.
@Suite("Patience with the agent", .timeLimit(.minutes(1)))
struct PatienceTests {
  @Test("who is looked at twice in the time it may be silent is asked once, and then given up")
  func watchdog() {
    var watchdog = Watchdog()
    #expect(watchdog.begin() && !watchdog.begin(), "one looks for all")
    #expect(watchdog.look(isAwaited: true) == .ask)
    watchdog.heard()
    #expect(watchdog.look(isAwaited: true) == .lookAgain && watchdog.look(isAwaited: true) == .ask)
    #expect(watchdog.look(isAwaited: true) == .giveUp)
    watchdog.heard()
    #expect(watchdog.look(isAwaited: true) == .lookAgain && watchdog.look(isAwaited: false) == .end)
    #expect(watchdog.begin() && watchdog.look(isAwaited: true) == .ask, "it begins anew")
  }

  private func isSilence(_ error: any Error) -> Bool { (error as? CaravanError)?.code == .timedOut }

  @Test("an agent that is stopped lets nobody in: who has patience for so long is told")
  func stopped() async throws {
    try await AppFixture.with { f in
      let path = f.socket + "2"
      let idle = try await AppServer(socket: path, store: f.store, sync: f.sync, host: f.host)
      await #expect {
        try await CaravanClient.withConnection(to: path, app: "x", within: .milliseconds(50)) { _ in }
      } throws: {
        isSilence($0)
      }
      idle.shutDown()
    }
  }

  @Test("one that is stopped later leaves no request waiting, whatever it is")
  func stoppedLater() async throws {
    try await withTemporaryDirectory { directory in
      let agent = try HangingAgent("\(directory)/agent.sock")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await agent.letOneIn() }
        try await CaravanClient.withConnection(to: agent.path, app: "x", within: .milliseconds(200)) { client in
          async let synced: Void = client.table("photos").syncNow()
          await #expect { try await client.status() } throws: { isSilence($0) }
          do {
            try await synced
            Issue.record("nobody has synced")
          } catch {
            #expect(isSilence(error))
          }
          await #expect { try await client.status() } throws: { isSilence($0) }
        }
      }
    }
  }

  @Test("who only waits for upcalls is told of an agent that is stopped, and of one that has gone")
  func upcalls() async throws {
    try await withTemporaryDirectory { directory in
      let agent = try HangingAgent("\(directory)/agent.sock")
      for (hangsUp, code) in [(false, ErrorCode.timedOut), (true, .networkNotConnected)] {
        async let isIn: Void = agent.letOneIn(andHangUp: hangsUp)
        try await CaravanClient.withConnection(to: agent.path, app: "x", within: .milliseconds(200)) { client in
          let error = await #expect(throws: CaravanError.self) { try await client.nextUpcall() }
          #expect(error?.code == code)
        }
        await isIn
      }
    }
  }

  @Test("a sync may take longer than the agent may be silent: it says that it is there")
  func slowSync() async throws {
    let gate = Latch()
    try await AppFixture.with(sync: ScriptedSync(gate: gate)) { f in
      try await CaravanClient.withConnection(to: f.socket, app: "album", within: .seconds(1)) { client in
        let photos = try await client.createTable("photos", AppFixture.schema)
        f.host.clock.call(at: f.host.clock.now + .milliseconds(2_500)) { gate.open() }
        try await photos.syncNow()
      }
    }
  }
}

/// Welcomes one app and does nothing more. It blocks, so it has a thread of its own.
private actor HangingAgent {
  private let executor = Host.live(logLevel: .error).executors.makeSerial("hanging agent")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated let path: String
  private let listener: Int32
  private var app: Int32 = -1

  init(_ path: String) throws {
    self.path = path
    listener = try SocketActivationTests.listener(at: path)
  }

  deinit { for descriptor in [listener, app] where descriptor >= 0 { close(descriptor) } }

  func letOneIn(andHangUp hangsUp: Bool = false) {
    if app >= 0 { close(app) }
    app = accept(listener, nil, nil)
    var hello = [UInt8](repeating: 0, count: 1_024)
    guard recv(app, &hello, hello.count, 0) > 0 else { return }
    let welcome = AppReply(id: 1, kind: .welcome(AppWelcome())).encoded()
    let frame = Frame.head(message: welcome.count) + welcome
    _ = send(app, frame, frame.count, Int32(MSG_NOSIGNAL))
    if hangsUp { shutdown(app, Int32(SHUT_RDWR)) }
  }
}
