import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// Goal: an app that does not run is started for what has arrived for it, as its package says, and no oftener than is
/// of use (CK-85). Method: the agent's server with a directory of registrations; the test listens in the app's place,
/// as systemd does, and applies pages of notifications by hand.
@Suite("Apps that are started", .timeLimit(.minutes(1))) struct AppStartTests {
  private static let log = TableID(app: ContainerID(unchecked: "album"), name: NotificationLog.name)

  /// - Parameters:
  ///   - lines: of the registration, beside name and user.
  ///   - body: is given the listening socket.
  private static func with(
    _ lines: @escaping @Sendable (String) -> String,
    _ body: @escaping @Sendable (AppFixture, Int32) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let path = "\(directory)/start.sock"
      let listener = try SocketActivationTests.listener(at: path)
      defer { close(listener) }
      _ = fcntl(listener, F_SETFL, O_NONBLOCK)
      try TextFile.writeSecret("name = album\nuid = \(geteuid())\n\(lines(path))\n", to: "\(directory)/album.conf")
      try await AppFixture.with(AppServer.Configuration(packages: directory)) { f in try await body(f, listener) }
    }
  }

  private static func arrives(_ number: UInt64, _ f: AppFixture) async throws {
    try await f.store.agree(on: NotificationLog.type, for: log)
    try await f.store.apply(
      [.notification(number, of: 1, slots: NotificationLog.kept, at: nil, reason: .changes)], to: log, token: [1],
      end: .last)
  }

  /// How often the app was to be started.
  private static func starts(_ listener: Int32) -> Int {
    var count = 0
    while case let connection = accept(listener, nil, nil), connection >= 0 {
      close(connection)
      count += 1
    }
    return count
  }

  private static func subscribe(_ f: AppFixture) async throws {
    try await f.app { client in _ = try await client.subscribeToZones("zones") }
  }

  @Test("CK-85: what arrives starts an app that does not run, and not one that does") func starts() async throws {
    try await Self.with({ "start = \($0)" }) { f, listener in
      try await Self.subscribe(f)
      #expect(Self.starts(listener) == 0, "nothing has arrived")
      try await f.app { _ in
        try await Self.arrives(1, f)
        try await Task.sleep(for: .milliseconds(200))
        #expect(Self.starts(listener) == 0, "it runs")
      }
      // It has gone without having been told.
      try await eventually("it is started") { Self.starts(listener) == 1 }
      try await f.app { client in
        for try await _ in client.notifications(after: .start, waits: false) {}
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(Self.starts(listener) == 0, "it has been told, and went")
      try await Self.arrives(2, f)
      try await eventually("it is started") { Self.starts(listener) == 1 }
    }
  }

  @Test("CK-85: only what the registration names starts the app, and one without a word of it is not started")
  func named() async throws {
    for lines: @Sendable (String) -> String in [{ "start = \($0)\nstart-for = photos other" }, { _ in "" }] {
      try await Self.with(lines) { f, listener in
        try await Self.subscribe(f)
        try await Self.arrives(1, f)
        try await Task.sleep(for: .milliseconds(200))
        #expect(Self.starts(listener) == 0)
      }
    }
  }

  @Test("CK-85: a registration that says half of it, or what is no path, is passed over") func registrations() throws {
    func start(_ lines: String) throws -> AppRegistration.Start? {
      try AppRegistration(parsing: "name = album\nuid = 7\n\(lines)").start
    }
    #expect(try start("") == nil)
    #expect(try start("start = /run/a.sock")?.tables == [NotificationLog.name])
    #expect(try start("start = /run/a.sock\nstart-for = a  b")?.tables == ["a", "b"])
    for lines in [
      "start-for = a", "start = run/a.sock", "start = ", "start = /a\nstart-for =", "start = /a\nstart = /b",
      "start = /a\nstart-for = \((0...AppRegistration.startTables).map { "t\($0)" }.joined(separator: " "))",
    ] {
      #expect(throws: CaravanError.self, "\(lines)") { try start(lines) }
    }
  }

  @Test("CK-85: an app that does not take what there is, is started ever more seldom; one that has, at once")
  func pauses() {
    let app = ContainerID(unchecked: "album")
    var starts = AppStarts(shortest: 10, longest: 60)
    var now: UInt64 = 0
    #expect(starts.next == nil && starts.due(at: now).isEmpty)
    starts.wants(app, at: now)
    for pause: UInt64 in [10, 20, 40, 60, 60] {
      #expect(starts.due(at: now) == [app])
      starts.started(app, at: now)
      starts.wants(app, at: now)
      #expect(starts.due(at: now).isEmpty)
      #expect(starts.next == now + pause)
      now = now + pause
    }
    starts.runs(app)
    #expect(starts.next == nil, "it runs, and is told there")
    starts.isDone(app)
    starts.wants(app, at: now)
    #expect(starts.due(at: now) == [app])
  }
}
