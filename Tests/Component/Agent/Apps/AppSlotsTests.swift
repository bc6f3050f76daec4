import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@Suite("Shares of the agent's socket", .timeLimit(.minutes(2)))
struct AppSlotsTests {
  private static let shares = AppSlots.Shares(
    connections: AppShare(app: 3, user: 5, all: 8), waiting: AppShare(app: 2, user: 3, all: 4),
    bytes: AppShare(app: 10, user: 15, all: 20), nameless: 2, namelessOfAll: 5)

  private func app(_ name: String) -> ContainerID { ContainerID(unchecked: name) }

  private func sit(_ user: UInt32, _ name: String, at slots: inout AppSlots) throws -> UInt64 {
    let slot = try slots.admit(user: user).slot
    do { try slots.identify(slot, as: app(name)) } catch {
      slots.leave(slot)
      throw error
    }
    return slot
  }

  private func isBusy(_ error: any Error, _ text: String) -> Bool {
    guard let error = error as? CaravanError else { return false }
    return error.code == .serverBusy && error.message.contains(text) && error.retryAfterMilliseconds != nil
  }

  // Goal: who has its share gets no more, whatever it calls itself, and everybody else does.
  // Method: an app takes all connections it can, then its user under other names, then another user.
  @Test("SIM-43: connections, by app, by user whatever its apps are called, and in all; whoever leaves makes room")
  func connections() throws {
    var slots = AppSlots(Self.shares)
    var mine: [UInt64] = []
    for _ in 0..<3 { mine.append(try sit(1, "a", at: &slots)) }
    #expect { try sit(1, "a", at: &slots) } throws: { isBusy($0, "app 'a' has 3 connections") }
    for name in ["b", "c"] { _ = try sit(1, name, at: &slots) }
    #expect { try sit(1, "d", at: &slots) } throws: { isBusy($0, "apps of user 1 have 5 connections") }
    for name in ["x", "y", "z"] { _ = try sit(2, name, at: &slots) }
    #expect { try sit(3, "p", at: &slots) } throws: { isBusy($0, "all apps have 8 connections") }
    #expect(slots.count == 8)
    slots.leave(mine[0])
    slots.leave(mine[0])
    _ = try sit(1, "d", at: &slots)
    #expect { try sit(1, "a", at: &slots) } throws: { isBusy($0, "apps of user 1") }
  }

  // Goal: connections that never say who they are keep nobody out who does.
  // Method: a user's come in any number; each pushes out the one that came first, and another user's stay.
  @Test("SIM-43: of those who do not say who they are, the one that came first goes")
  func nameless() throws {
    var slots = AppSlots(Self.shares)
    let other = try slots.admit(user: 2).slot
    let first = try slots.admit(user: 1)
    let second = try slots.admit(user: 1)
    #expect(first.displaced == nil && second.displaced == nil)
    let third = try slots.admit(user: 1)
    #expect(third.displaced == first.slot)
    #expect { try slots.identify(first.slot, as: app("a")) } throws: { ($0 as? CaravanError)?.code == .cancelled }
    try slots.identify(third.slot, as: app("a"))
    for _ in 0..<100 { _ = try slots.admit(user: 1) }
    try slots.identify(other, as: app("b"))
    #expect(slots.count == 4)
  }

  // Goal: many users who do not say who they are keep no other out either.
  // Method: five of three users; whoever comes then pushes out one of the user who has most.
  @Test("TRU-02: of all users together, too, the one that came first of who has most goes")
  func namelessOfAll() throws {
    var slots = AppSlots(Self.shares)
    let first = try slots.admit(user: 1).slot
    for user in [2, 2, 1, 3] as [UInt32] { #expect(try slots.admit(user: user).displaced == nil) }
    #expect(try slots.admit(user: 4).displaced == first)
    #expect(slots.count == 5)
  }

  // Goal: what waits and what is held is bounded as well, and given back with the connection.
  // Method: an app has its share of each over several connections; another app has not, until their user has.
  @Test("SIM-43: requests that wait, and bytes that nobody takes")
  func waitingAndBytes() throws {
    var slots = AppSlots(Self.shares)
    let (one, two, other) = (try sit(1, "a", at: &slots), try sit(1, "a", at: &slots), try sit(1, "b", at: &slots))
    try slots.beginWaiting(one)
    try slots.beginWaiting(two)
    #expect { try slots.beginWaiting(one) } throws: { isBusy($0, "app 'a' has 2 requests") }
    try slots.beginWaiting(other)
    slots.endWaiting(two)
    try slots.beginWaiting(one)
    #expect { try slots.beginWaiting(other) } throws: { isBusy($0, "apps of user 1 have 3 requests") }

    slots.holds(6, one)
    try slots.checkRoom(one)
    slots.holds(4, two)
    #expect { try slots.checkRoom(one) } throws: { isBusy($0, "app 'a' has 10 bytes") }
    try slots.checkRoom(other)
    slots.holds(5, other)
    #expect { try slots.checkRoom(other) } throws: { isBusy($0, "apps of user 1 have 15 bytes") }
    slots.leave(one)
    try slots.checkRoom(two)
    try slots.checkRoom(other)
    try slots.beginWaiting(other)
  }

  // Goal: on the real socket, an app that takes every connection it can get, and says nothing on others, keeps no
  // other app out.
  // Method: raw connections far beyond the shares, named and nameless; then another app connects and writes.
  @Test("SIM-43: a flood of connections is refused with a typed error, and another app comes in all the same")
  func flood() async throws {
    try await AppFixture.with { f in
      try await f.app("greedy") { _ in }
      var held: [RawPeer] = []
      for _ in 0..<AppLimits.connections.app { held.append(try await f.raw("greedy", isNew: false)) }
      await #expect { try await f.app("greedy") { _ = try await $0.status() } } throws: {
        isBusy($0, "app 'greedy' has \(AppLimits.connections.app) connections")
      }
      for _ in 0..<2 * AppLimits.connections.all { held.append(try RawPeer(f.socket)) }
      try await f.app("meek") { client in
        try await client.createTable("t", "name TEXT").write(["name": .text("here")])
      }
      held = []
      try await eventually("they have gone") {
        do { try await f.app("greedy") { _ = try await $0.status() } } catch let error as CaravanError {
          guard error.code == .serverBusy else { throw error }
          return false
        }
        return true
      }
    }
  }

  // Goal: answers that an app does not take cost the agent no more memory than its share, and no other app anything.
  // Method: connections of one app ask for long objects and read nothing; its next request is refused until they go.
  @Test("SIM-43: an app that asks and does not read is refused further requests; another's are answered")
  func unread() async throws {
    try await AppFixture.with { f in
      let row = try await f.app("greedy") { client in
        try await client.createTable("t", "photo OBJECT").write([:], contents: ["photo": StoreFixture.noise(512 << 10)])
      }
      let read = AppRequest(
        id: 1, kind: .readObject(ReadObject(table: "t", row: row, object: "photo", length: 512 << 10)))
      try await f.app("greedy") { client in
        var held: [RawPeer] = []
        for _ in 1..<AppLimits.connections.app {
          let peer = try await f.raw("greedy", isNew: false)
          for _ in 0..<20 { await peer.send(read) }
          held.append(peer)
        }
        try await eventually("its share is full") {
          do { _ = try await client.status() } catch let error as CaravanError {
            guard isBusy(error, "app 'greedy' has") else { throw error }
            return true
          }
          return false
        }
        try await f.app("meek") { other in
          let table = try await other.createTable("t", "name TEXT")
          for n in 0..<20 { try await table.write(["name": .text("\(n)")]) }
        }
        held = []
        try await eventually("there is room again") {
          do { _ = try await client.status() } catch let error as CaravanError {
            guard error.code == .serverBusy else { throw error }
            return false
          }
          return true
        }
      }
    }
  }

  // Goal: objects that an app leaves open take no more memory than its share, however many they are.
  // Method: as many open writes as it may have, each with less than an object keeps for itself. Nothing is closed, so
  // whatever is on the disk is there because the share was full.
  @Test("SIM-43: what an app's open objects keep in memory is bounded over all of them")
  func openObjects() async throws {
    try await StoreFixture.with { f in
      let piece = StoreFixture.noise(StoreLimits.overlayBytes - 1_000)
      var given = 0
      for number in 0..<StoreLimits.openWritesPerApp {
        let opened = try await f.store.openWrite(StoreFixture.photos, cells: [], objects: ["photo"], owner: 1)
        // Not from the front: what is written so is cut as it comes.
        try await f.store.writeObject(opened.handle, row: 0, object: "photo", offset: 1, bytes: piece, owner: 1)
        given += piece.count
        let onDisk = await f.store.chunkFileBytes()
        #expect(given - onDisk <= StoreLimits.overlayBytesPerApp, "after \(number)")
        if given < StoreLimits.overlayBytesPerApp { #expect(onDisk == 0) }
      }
      await f.store.release(owner: 1)
    }
  }
}
