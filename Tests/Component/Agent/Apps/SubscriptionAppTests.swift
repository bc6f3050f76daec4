import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

import struct CaravanClient.TableProperties

@testable import CaravanClient

/// Goal: an app subscribes, and hears each notification once, in order, with what was missed between (CK-82, CK-83,
/// CK-86). Method: the client against an agent whose cloud is scripted; pages of the log are applied by hand.
@Suite("Subscriptions of apps", .timeLimit(.minutes(1))) struct SubscriptionAppTests {
  private static let log = TableID(app: ContainerID(unchecked: "album"), name: NotificationLog.name)

  private static func entry(
    _ number: UInt64, of source: UInt64 = 1, slots: UInt64 = NotificationLog.kept, at: Int64? = nil,
    reason: NotificationLog.Reason = .changes
  ) -> IncomingEntry { .notification(number, of: source, slots: slots, at: at, reason: reason) }

  private static func apply(_ f: AppFixture, _ page: [IncomingEntry]) async throws {
    try await f.store.agree(on: NotificationLog.type, for: log)
    try await f.store.apply(page, to: log, token: [1], end: .last)
  }

  private static func here(
    _ client: CaravanClient, after cursor: NotificationCursor = .start
  ) async throws -> [CloudNotification] {
    var all: [CloudNotification] = []
    for try await notification in client.notifications(after: cursor, waits: false) { all.append(notification) }
    return all
  }

  @Test("CK-82, CK-83: what is subscribed to reaches the cloud as it was said, is listed, and removed")
  func asks() async throws {
    let sync = ScriptedSync()
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let first = try await client.table("places").subscribe(
          "near", to: .init("name = ?", [.text("x")]), events: [.enters, .leaves], in: .public, zone: "z")
        #expect(first.map(\.id) == ["near"])
        let expected = CloudSubscription.Subject.rows(
          table: "places", .init("name = ?", [.text("x")]), zone: "z", [.enters, .leaves])
        #expect(first.first?.subject == expected)
        let content = NotificationContent(titleKey: "K", titleArguments: ["name"], badges: true, fields: ["name"])
        #expect(try await client.table("places").subscribe("all", showing: content).last?.content == content)
        #expect(try await client.subscribeToZones("zones").last?.subject == .zones)
        #expect(try await client.unsubscribe("near", in: .public).map(\.id) == ["all", "zones"])
        #expect(try await client.subscriptions().map(\.id) == ["all", "zones"])
        let error = await #expect(throws: CaravanError.self) { try await client.unsubscribe("") }
        #expect(error?.code == .invalidData)
        for content in [NotificationContent(fields: ["name"]), .init(titleKey: String(repeating: "x", count: 200))] {
          await #expect(throws: CaravanError.self) { try await client.subscribeToZones("z", showing: content) }
        }
      }
    }
    let near = StandingQuery(
      id: "near",
      .records(type: "places", text: .init("name = ?", arguments: [.text("x")]), zone: "z", [.enters, .leaves]))
    let app = ContainerID(unchecked: "album")
    #expect(
      sync.state.withLock { $0.managed } == [
        SubscriptionsQuestion(app: app, isPublic: true, .save(near)),
        SubscriptionsQuestion(
          app: app,
          .save(
            StandingQuery(
              id: "all", .records(type: "places", text: nil, zone: nil, .all),
              shows: NotificationContent(titleKey: "K", titleArguments: ["name"], badges: true, fields: ["name"])))),
        SubscriptionsQuestion(app: app, .save(StandingQuery(id: "zones", .zones))),
        SubscriptionsQuestion(app: app, isPublic: true, .remove("near")), SubscriptionsQuestion(app: app),
      ])
  }

  @Test("CK-86: where a source says that nothing is missing below its first number, nothing is told as missed")
  func beginnings() async throws {
    try await AppFixture.with { f in
      try await f.app { client in _ = try await client.subscribeToZones("zones") }
      let since = RecordFields([NotificationLog.Field.since.rawValue: .integer(50)])
      try await Self.apply(
        f, [.notification(50, of: 3, showing: since), .notification(52, of: 3, showing: since), Self.entry(2, of: 4)])
      try await f.app { client in
        let told = try await Self.here(client)
        #expect(told.filter { $0.source == 3 }.map(\.number) == [50, 51, 52])
        #expect(told.filter { $0.reason == .missed }.map(\.number).sorted() == [1, 51])
      }
    }
  }

  @Test("CK-83: a template is named with its parameters, and what the cloud made of it is listed with its name")
  func templates() async throws {
    let sync = ScriptedSync()
    let made = SubscriptionTemplate(name: "near", type: "places", text: "name = ?", events: .enters, version: 4)
      .bound(id: "n", [.text("x")], zone: "z")
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        // The scripted cloud answers with what it was asked for, which no cloud does.
        let error = await #expect(throws: CaravanError.self) {
          try await client.subscribe(
            "n", template: "near", parameters: [.text("x"), .integer(4)], in: .public, zone: "z")
        }
        #expect(error?.code == .internalError)
        sync.state.withLock { $0.subscriptions = [made] }
        let list = try await client.subscriptions()
        #expect(list.map(\.template) == ["near"])
        #expect(list.first?.subject == .rows(table: "places", .init("name = ?", [.text("x")]), zone: "z", .enters))
        await #expect(throws: CaravanError.self) {
          try await client.subscribe(
            "n", template: "near",
            parameters: Array(repeating: .text(String(repeating: "x", count: 1 << 20)), count: 2))
        }
      }
    }
    let asked = StandingQuery(id: "n", .template("near", arguments: [.text("x"), .integer(4)], zone: "z"))
    #expect(
      sync.state.withLock { $0.managed.first }
        == SubscriptionsQuestion(app: ContainerID(unchecked: "album"), isPublic: true, .save(asked)))
  }

  @Test("CK-85: what a notification shows and carries reaches the app as it was written")
  func content() async throws {
    typealias Field = NotificationLog.Field
    let shown = RecordFields([
      Field.title.rawValue: .text("T"), Field.body.rawValue: .text("B"), Field.titleKey.rawValue: .text("TK"),
      Field.titleArguments.rawValue: .list([.text("a"), .text("")]), Field.bodyKey.rawValue: .text("BK"),
      Field.bodyArguments.rawValue: .list([.text("4")]), Field.badge.rawValue: .integer(1),
      Field.sound.rawValue: .text("ping"), Field.isCut.rawValue: .integer(1),
      Field.fields.rawValue: .text(#"{"n":4,"s":"é","l":[1,2],"p":{"latitude":1,"longitude":2.5},"none":null}"#),
    ])
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.subscribeToZones("z")
        let odd = RecordFields([Field.fields.rawValue: .text("{no JSON"), Field.sound.rawValue: .text("s")])
        let page: [IncomingEntry] = [
          .notification(1, showing: shown), .notification(2), .notification(3, showing: odd), .notification(5),
        ]
        try await Self.apply(f, page)
        let all = try await Self.here(client).map(\.content)
        var expected = CloudNotification.Content()
        (expected.title, expected.body, expected.titleKey, expected.bodyKey) = ("T", "B", "TK", "BK")
        (expected.titleArguments, expected.bodyArguments) = (["a", ""], ["4"])
        (expected.badges, expected.sound, expected.isCut) = (true, "ping", true)
        expected.fields = [
          "n": .integer(4), "s": .text("é"), "l": .list([.integer(1), .integer(2)]), "none": .null,
          "p": .location(try Location(latitude: 1, longitude: 2.5)),
        ]
        #expect(all.count == 5 && all[0] == expected && !all[0].isSilent)
        #expect(all[1] == CloudNotification.Content() && all[1].isSilent)
        #expect(all[2].fields.isEmpty && all[2].sound == "s" && all[3] == CloudNotification.Content())
      }
    }
  }

  @Test("CK-86: the first subscription makes the table, read at once; what the cloud refuses makes none")
  func table() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.refusal = CaravanError(.networkNotPermitted, "not over this link") }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let error = await #expect(throws: CaravanError.self) { try await client.subscribeToZones("z") }
        #expect(error?.code == .networkNotPermitted)
        #expect(try await client.status().tables.isEmpty)
        sync.state.withLock { $0.refusal = nil }
        try await client.subscribeToZones("z")
        #expect(try await client.status().tables.map(\.name) == [NotificationLog.name])
        try await client.subscribeToZones("z")
      }
      #expect(sync.calls == ["registrations \(Self.log)"], "once")
      let list = try await f.store.subscriptions(toldOnly: nil)
      #expect(list.items.map(\.table) == [Self.log] && list.items.allSatisfy { $0.periodMilliseconds == 0 })
      #expect(list.generation > 0)
    }
  }

  @Test(
    "CK-86: each notification once and in order, those that are here first, then those that come, also in used slots")
  func once() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.subscribeToZones("z")
        try await Self.apply(f, [Self.entry(2, at: 20), Self.entry(1, at: 10), Self.entry(1, of: 9, at: 15)])
        var iterator = client.notifications().makeAsyncIterator()
        var seen: [CloudNotification] = []
        for _ in 0..<3 { seen.append(try #require(try await iterator.next())) }
        #expect(seen.map(\.record) == ["row-1", "row-1", "row-2"] && seen.map(\.source) == [1, 9, 1])
        #expect(seen.map(\.database) == [.private, .public, .private])
        let first = try #require(seen.first)
        #expect(first.subscription == "near" && first.reason == .changes && first.type == "places")
        #expect(first.version == 10 && first.act?.device == "phone" && first.at == 10 && first.number == 1)
        #expect(first.act?.milliseconds == 10 && first.act?.user.isEmpty == true)
        // In the slot of the first.
        try await Self.apply(f, [Self.entry(3, slots: 2)])
        let third = try #require(try await iterator.next())
        #expect(third.number == 3 && third.skipped == 0 && third.cursor.description == "1:3,9:1")
        #expect(try await Self.here(client, after: third.cursor).isEmpty)
        // Of more sources than a selection names.
        let many = NotificationCursor(taken: third.cursor.taken.merging((100...130).map { ($0, 1) }) { one, _ in one })
        #expect(try await Self.here(client, after: many).isEmpty)
        #expect(try await Self.here(client, after: seen[1].cursor).map(\.number) == [2, 3])
      }
      try await f.app { client in
        let cursor = try #require(NotificationCursor("1:2,9:1"))
        #expect(try await Self.here(client, after: cursor).map(\.number) == [3], "also on another connection")
      }
    }
  }

  @Test("CK-86: who counts what was missed has the log fetched first, also where nobody has read it before")
  func fetched() async throws {
    let sync = ScriptedSync()
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        try await client.fetchNotifications()
        #expect(sync.calls.last == "sync \(Self.log) false true")
        try await Self.apply(f, [Self.entry(1)])
        #expect(try await Self.here(client).map(\.number) == [1])
      }
    }
  }

  @Test("CK-86: numbers that are skipped are told as missed, in their place")
  func skipped() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.subscribeToZones("z")
        try await Self.apply(f, [Self.entry(3), Self.entry(4), Self.entry(7, reason: .missed)])
        let all = try await Self.here(client, after: .init(taken: [1: 1]))
        #expect(all.map(\.reason) == [.missed, .changes, .changes, .missed, .missed])
        #expect(all.map(\.skipped) == [1, 0, 0, 2, 0] && all.map(\.number) == [2, 3, 4, 6, 7])
        #expect(all.map(\.subscription) == ["", "near", "near", "", "near"])
        #expect(all.map(\.cursor.description) == ["1:2", "1:3", "1:4", "1:6", "1:7"])
      }
    }
  }

  @Test("CK-86: what would change the table is refused; its reading, watching and registration are not")
  func readOnly() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.subscribeToZones("z")
        try await Self.apply(f, [Self.entry(1)])
        let (name, table) = (NotificationLog.name, client.table(NotificationLog.name))
        let changes: [@Sendable () async throws -> Void] = [
          { try await client.createTable(name, "subscription VARCHAR") },
          { try await client.updateTable(name, TableProperties(replication: .localOnly)) },
          { try await client.dropTable(name, discardingUnsent: true) },
          { try await table.write(["subscription": .text("x")]) },
          { try await table.write(["subscription": .text("x")], contents: ["photo": [1]]) },
          { try await table.update(.all, ["subscription": .text("x")]) },
          { _ = try await table.delete(.all) },
          { _ = try await table.batch { batch in try await batch.delete(.all) } },
          { try await table.withConflictResolution { _ in } },
          { try await table.registerWriteSync(period: .zero, delayTolerance: .zero, link: .wifi) },
        ]
        for (place, change) in changes.enumerated() {
          let error = await #expect(throws: CaravanError.self, "\(place)") { try await change() }
          #expect(error?.code == .invalidData && error?.message.contains("is read only") == true, "\(place)")
        }
        try await table.registerReadSync(period: .seconds(60), delayTolerance: .seconds(5), link: .wifi)
        try await table.watch()
        #expect(try await client.nextUpcall()?.rowIDs == ["1-1"])
        #expect(try await table.rows().all().map(\.state) == [.clean])
        #expect(try await client.status().tables.first?.dirty == 0)
      }
      #expect(try await f.store.syncState(of: Self.log).dirtyRows == 0)
    }
  }

  @Test("CK-86: another app of the device sees none of it; who only listens has the table as well")
  func apart() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.subscribeToZones("z")
        try await Self.apply(f, [Self.entry(1)])
      }
      try await f.app("other") { client in
        let rows = client.table(NotificationLog.name).rows()
        let error = await #expect(throws: CaravanError.self) { _ = try await rows.all() }
        #expect(error?.code == .tableNotFound)
        let none = try await Self.here(client)
        #expect(none.isEmpty)
        let status = try await client.status()
        #expect(status.tables.map(\.name) == [NotificationLog.name])
      }
    }
  }

  @Test("CK-86: a cursor is read from its text, and from nothing else")
  func cursors() {
    #expect(NotificationCursor("")?.taken == [:] && NotificationCursor("2:5,1:7")?.description == "1:7,2:5")
    for text in ["1", "1:", ":1", "1:2:3", "1:2,1:3", "a:1", "1:-2"] {
      #expect(NotificationCursor(text) == nil, "\(text)")
    }
  }
}
