import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

/// Goal: the device is its owner's; another user's app gets its own share of it, and nobody gets another's name.
/// Method: connections that processes of other users have made, so that the agent hears of them what the kernel says.
@Suite("The device's owner", .timeLimit(.minutes(1)), .enabled(if: OtherUser.arePossible))
struct DeviceOwnerTests {
  private static let album = ContainerID(unchecked: "album")
  private static let open = AppServer.Configuration(isOpen: true)

  @Test("TRU-05: another user sets no link, no budget and no policy, resets no device, and decides on no app")
  func deviceWide() async throws {
    try await AppFixture.with(Self.open) { f in
      let app = try await f.stranger(as: "album")
      for kind in [
        .setLink(SetLink(link: .roaming)), .setLink(SetLink(automatic: true)), .resetDevice(Empty()),
        .setPolicy(CaravanWire.NetworkPolicy(maximumLink: .roaming, budgets: [])), .listApps(Empty()),
        .allowApp(AllowApp(app: "notes", uid: OtherUser.one)), .forgetApp(AppName(app: "album")),
      ] as [AppRequest.Kind] {
        #expect(await app.refusal(of: kind)?.code == .notAuthenticated, "\(kind)")
      }
      let owner = try await f.refusal(of: AppHello(owner: true))
      #expect(owner?.code == .notAuthenticated)
      #expect(f.sync.calls.isEmpty && f.sync.state.withLock { $0.link } == .wifi)
      #expect(f.sync.state.withLock { $0.policy } == CaravanAgentCore.NetworkPolicy())
      // The user who runs the agent may.
      try await f.app("mine") { client in
        try await client.setLink(.roaming)
        try await client.resetDevice()
        try await client.setPolicy(.init(maximumLink: .wifi))
      }
      #expect(f.sync.calls == ["reset device"] && f.sync.state.withLock { $0.link } == .roaming)
    }
  }

  @Test("MOB-18: an app of another user sees no counters, and what its own tables took of a budget")
  func counters() async throws {
    let sync = ScriptedSync()
    let (album, notes) = (ContainerID(unchecked: "album"), ContainerID(unchecked: "notes"))
    func usage(_ app: ContainerID?, _ bytes: UInt64) -> SyncStatus.Usage {
      .init(
        account: .init(link: .cellular, table: app.map { TableID(app: $0, name: "t") }),
        bytes: .init(up: bytes, down: 0))
    }
    sync.state.withLock { state in
      state.counters = [.init(name: "caravan_agent_wire_bytes_total", value: 7)]
      state.policy = CaravanAgentCore.NetworkPolicy(dailyBytes: [.cellular: 1_000])
      state.spent = [.cellular: 111]
      state.usage = [usage(album, 1), usage(notes, 10), usage(nil, 100)]
    }
    try await AppFixture.with(sync: sync, Self.open) { f in
      guard case .status(let status) = try await f.stranger(as: "album").ask(.status(Empty())) else {
        throw CaravanError(.internalError, "no status")
      }
      #expect(status.counters.isEmpty && status.policy?.budgets.map(\.usedToday) == [1])
      #expect(status.usage.map(\.bytesUp) == [1] && status.usage.map(\.table) == ["t"])
      try await f.app("notes") { client in
        let own = try await client.status()
        #expect(own.counters.count == 1 && own.spentToday == [.cellular: 111])
        #expect(own.usage.map(\.bytesUp) == [10, 100], "and not the other app's")
      }
    }
  }

  @Test("TRU-06: another user's first contact waits, visibly, until the owner allows it; no other user profits")
  func first() async throws {
    try await AppFixture.with { f in
      let refused = try await f.refusal(of: AppHello(app: "album"))
      #expect(refused?.code == .notAuthenticated)
      #expect(refused?.message.contains("caravan agent allow album --uid \(OtherUser.one)") == true)
      try await DeviceOwner.withConnection(to: f.socket) { owner in
        #expect(try await owner.apps().map(\.standing) == [.waiting])
        try await owner.allow(Self.album, user: OtherUser.one)
        #expect(try await owner.apps().map(\.standing) == [.allowed])
        let others = try await f.refusal(of: AppHello(app: "album"), to: OtherUser.two)
        #expect(others?.code == .notAuthenticated)
        let token = try await f.stranger().introduce("album")
        #expect(try await owner.apps().map(\.standing) == [.bound])
        _ = try await f.stranger(as: "album", token: token)
        let error = await #expect(throws: CaravanError.self) {
          try await owner.allow(Self.album, user: OtherUser.two)
        }
        #expect(error?.code == .objectExists)
      }
    }
  }

  @Test("TRU-06: an app that lost its token gets another by its owner's word; the old one is void")
  func lostToken() async throws {
    try await AppFixture.with(Self.open) { f in
      let lost = try await f.stranger().introduce("album")
      try await DeviceOwner.withConnection(to: f.socket) { owner in
        try await owner.allow(Self.album, user: OtherUser.one)
      }
      let token = try await f.stranger().introduce("album", token: lost)
      #expect(token != lost)
      let old = try await f.refusal(of: AppHello(app: "album", token: lost))
      #expect(old?.code == .notAuthenticated)
      _ = try await f.stranger(as: "album", token: token)
    }
  }

  @Test("TRU-06: a forgotten app is cut off, keeps its tables, and waits again")
  func forgotten() async throws {
    try await AppFixture.with(Self.open) { f in
      let app = try await f.stranger(as: "album")
      try await app.ask(.createTable(CreateTable(table: "t", schema: "a TEXT")))
      try await DeviceOwner.withConnection(to: f.socket) { owner in
        let tables = try await owner.forget(Self.album)
        let left = try await owner.apps()
        #expect(tables == 1 && left.isEmpty)
        let error = await #expect(throws: CaravanError.self) { try await owner.forget(Self.album) }
        #expect(error?.code == .noSuchObject)
      }
      #expect(await app.refusal(of: .status(Empty()))?.code == .cancelled)
      #expect(try await f.store.status(of: Self.album).count == 1)
    }
  }

  @Test("TRU-06: an app that an earlier release bound to another user stays known")
  func known() async throws {
    try await AppFixture.with { f in
      let given = try await f.store.authenticate(app: Self.album, token: [], user: OtherUser.one)
      let token = try #require(given)
      #expect(try await f.store.authenticate(app: Self.album, token: token, user: OtherUser.one) == nil)
      _ = try await f.stranger(
        as: "album", token: token.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
    }
  }

  @Test("TRU-06: who has not said hello may say nothing long, and so holds no memory")
  func longHello() async throws {
    try await AppFixture.with { f in
      let peer = try await f.stranger()
      await peer.send(Frame.head(message: 4_097))
      guard case .failure(let failure)? = try await peer.receive()?.kind else {
        throw CaravanError(.internalError, "no refusal")
      }
      #expect(failure.model().code == .limitExceeded)
      #expect(try await peer.receive() == nil)
    }
  }
}

/// Goal: an app's package may name its user, and a name is taken by nobody else. Method: as above, with directories of
/// registrations.
@Suite("Apps that packages registered", .timeLimit(.minutes(1)), .enabled(if: OtherUser.arePossible))
struct PackagedAppTests {
  private static func with(
    _ text: String, mode: mode_t = 0o644, _ body: @escaping @Sendable (AppFixture) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      try TextFile.writeSecret(text, to: "\(directory)/album.conf")
      chmod("\(directory)/album.conf", mode)
      try await AppFixture.with(AppServer.Configuration(packages: directory)) { f in try await body(f) }
    }
  }

  @Test("TRU-06: the user that a package names is let in at once, and no other, the agent's own included")
  func registered() async throws {
    try await Self.with("name = album\nuid = \(OtherUser.one)\n") { f in
      let own = try RawPeer(f.socket)
      #expect(await own.refusal(of: .hello(AppHello(app: "album")))?.code == .notAuthenticated)
      let others = try await f.refusal(of: AppHello(app: "album"), to: OtherUser.two)
      #expect(others?.code == .notAuthenticated)
      _ = try await f.stranger(as: "album")
    }
  }

  @Test("TRU-06: a registration that others could have written says nothing, nor does one of another name")
  func untrusted() async throws {
    for (text, mode) in [
      ("name = album\nuid = \(OtherUser.one)", 0o666), ("name = notes\nuid = \(OtherUser.one)", 0o644),
      ("uid = \(OtherUser.one)", 0o644), ("name = album\nuid = nobody-of-that-name", 0o644),
    ] as [(String, mode_t)] {
      try await Self.with(text, mode: mode) { f in
        let refused = try await f.refusal(of: AppHello(app: "album"))
        #expect(refused?.code == .notAuthenticated, "\(text)")
      }
    }
  }
}
