import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

import struct CaravanClient.Upcall

@Suite("Apps on the socket", .timeLimit(.minutes(2)))
struct AppServerTests {
  @Test("SIM-30: the paper's photo album, word for word")
  func album() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let album = try await client.createTable("album", AppFixture.schema)
        try await album.registerWriteSync(period: .seconds(600), delayTolerance: .seconds(60), link: .wifi)
        try await album.registerReadSync(period: .seconds(600), delayTolerance: .seconds(60), link: .cellular)
        let photo = StoreFixture.noise(2 << 20)
        let id = try await album.write(
          ["name": .text("Snoopy"), "date": .integer(1), "location": .real(0.5)], objects: ["photo"]
        ) { try await $0.write(photo, to: "photo", at: 0) }
        let rows = try await album.rows(.init("name=?", [.text("Snoopy")]), columns: ["location", "photo"]).all()
        #expect(
          rows.map(\.id) == [id] && rows[0].cells == ["location": .real(0.5)] && rows[0].objects == ["photo": 2 << 20])
        #expect(try await album.contents(of: "photo", row: id).all() == photo)
      }
      let registrations = try await f.store.registrations()
      #expect(registrations.map(\.registration.periodMilliseconds) == [600_000, 600_000])
      #expect(registrations.map(\.registration.link) == [.wifi, .cellular])
      #expect(f.sync.calls == ["registrations album/album", "registrations album/album"])
    }
  }

  @Test("SIM-41: without a cloud, writes, updates, deletes, drop; what was acknowledged is there for who comes next")
  func operations() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        for n in 0..<450 { try await table.write(["name": .text("n\(n)"), "date": .integer(Int64(n))]) }
        #expect(try await table.rows(columns: ["name"]).all().count == 450, "more than one page")
        let ids = try await table.update(.init("date < 2"), ["location": .real(9)], objects: ["photo"]) { objects in
          for row in objects.rows.indices { try await objects.replace("photo", with: [UInt8(row)], row: row) }
        }
        #expect(ids.count == 2)
        #expect(try await table.contents(of: "photo", row: ids[1]).all() == [1])
        #expect(try await table.update(.all, ["date": .integer(7)]).count == 450)
        #expect(try await table.delete(.init("name LIKE 'n1%'")) == 111)
      }
      try await f.app { client in
        let rows = try await client.table("t").rows(orderBy: [("name", true)]).all()
        #expect(rows.count == 339 && rows[0]["name"] == .text("n99") && rows[0]["date"] == .integer(7))
        let status = try await client.status()
        #expect(status.device == "d1" && status.link == .wifi)
        #expect(status.tables.map(\.rows) == [339] && status.tables.map(\.dirty) == [339])
        try await client.setLink(.roaming)
        #expect(try await client.status().link == .roaming)
        try await client.dropTable("t", discardingUnsent: true)
      }
      #expect(f.sync.calls == ["dropped album/t"])
    }
  }

  @Test("whole objects, short ones in one request and long ones in pieces, are as if they had been streamed")
  func contents() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", "name TEXT, a OBJECT, b OBJECT")
        for size in [0, 1_000, ClientLimits.objectPieceBytes, 700_000, 4 * ClientLimits.objectPieceBytes] {
          let bytes = StoreFixture.noise(size)
          let id = try await table.write(["name": .text("x")], contents: ["a": bytes, "b": [1]])
          #expect(try await table.contents(of: "a", row: id).all() == bytes)
          #expect(try await table.contents(of: "b", row: id).all() == [1])
        }
        await #expect { try await table.write([:], contents: ["name": [1]]) } throws: {
          ($0 as? CaravanError)?.code == .schemaViolation
        }
        #expect(try await table.rows().all().count == 5)
      }
    }
  }

  @Test("a write whose closure throws leaves nothing")
  func abandoned() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        await #expect(throws: CancellationError.self) {
          try await table.write(["name": .text("x")], objects: ["photo"]) { objects in
            try await objects.write(StoreFixture.noise(300_000), to: "photo", at: 0)
            throw CancellationError()
          }
        }
        #expect(try await table.rows().all().isEmpty)
      }
    }
  }

  @Test("SIM-43: a connection that breaks in the middle of a write frees everything; the row is as it was")
  func killed() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        try await table.write(["name": .text("x")], objects: ["photo"]) {
          try await $0.write([1, 2], to: "photo", at: 0)
        }
      }
      let before = try await f.store.storedChunks()
      do {
        let peer = try await f.raw("album")
        await peer.send(
          AppRequest(
            id: 5,
            kind: .beginWrite(
              BeginWrite(table: "t", objects: ["photo"], selection: CaravanWire.Selection(text: "name = 'x'")))
          ))
        guard case .writeOpened(let opened)? = try await peer.receive()?.kind else {
          throw CaravanError(.internalError, "")
        }
        for piece in 0..<10 {
          let data = StoreFixture.noise(600_000, seed: UInt64(piece))
          let write = WriteObject(write: opened.write, object: "photo", offset: UInt64(piece) * 600_000, data: data)
          await peer.send(AppRequest(id: 6, kind: .writeObject(write)))
          #expect(try await peer.receive()?.kind == .done(Empty()))
        }
        #expect(await f.store.chunkFileBytes() > 4 << 20)
      }
      try await eventually("staging is freed") { await f.store.chunkFileBytes() == 0 }
      #expect(try await f.store.storedChunks() == before)
      try await f.app { client in
        let row = try await client.table("t").rows().all()[0]
        #expect(try await client.table("t").contents(of: "photo", row: row.id).all() == [1, 2])
        let again = try await client.table("t").update(.all, [:], objects: ["photo"]) {
          try await $0.truncate("photo", to: 1)
        }
        #expect(again.count == 1, "nobody has the object open any more")
      }
    }
  }

  @Test("SIM-03: rows and objects of a snapshot are of one moment, whatever is written meanwhile")
  func snapshot() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        for n in 0..<300 {
          try await table.write(["name": .text("\(n)")], objects: ["photo"]) {
            try await $0.write([1], to: "photo", at: 0)
          }
        }
        try await table.withSnapshot { snapshot in
          var count = 0
          for try await row in snapshot {
            if count == 0 {
              try await table.update(.all, ["name": .text("new")], objects: []) { _ in }
              try await table.update(.init("_id = ?", [.text(row.id)]), [:], objects: ["photo"]) {
                try await $0.write([2], to: "photo", at: 0)
              }
            }
            #expect(row["name"] == .text("\(count)"))
            #expect(try await snapshot.contents(of: "photo", row: row).all() == [1])
            count += 1
          }
          #expect(count == 300)
        }
        for _ in 0..<20 { for try await _ in table.rows() { break } }
        #expect(try await table.rows().all().count == 300, "iterations left early closed their cursors")
      }
    }
  }

  @Test("bad input over the wire: one clear typed error each, and the connection lives")
  func badInput() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        func code(_ body: () async throws -> Void) async -> ErrorCode? {
          do { try await body() } catch let error as CaravanError { return error.code } catch {}
          return nil
        }
        let table = try await client.createTable("t", AppFixture.schema)
        #expect(await code { try await client.createTable("u", "name NUMBER") } == .schemaViolation)
        #expect(await code { try await client.createTable("t", "name TEXT") } == .schemaNotAdditive)
        #expect(await code { try await table.write(["nmae": .text("x")]) } == .schemaViolation)
        #expect(await code { try await table.write(["date": .text("x")]) } == .schemaViolation)
        #expect(await code { try await table.write(["photo": .data([1])]) } == .schemaViolation)
        #expect(await code { try await table.write(["name": .text("a\u{0}b")]) } == .schemaViolation)
        #expect(await code { try await table.write([:], objects: ["name"]) } == .schemaViolation)
        #expect(await code { try await client.table("none").write([:]) } == .tableNotFound)
        #expect(await code { try await client.table("none").syncNow() } == .tableNotFound)
        #expect(await code { try await table.delete(.init("name = 'x'; DROP TABLE t")) } == .invalidData)
        let large = String(repeating: "x", count: 900_000)
        #expect(await code { try await table.write(["name": .text(large + large)]) } == .limitExceeded)
        #expect(await code { _ = try await table.read("photo", of: "none", at: 0, count: 1) } == .noSuchObject)
        #expect(
          await code { try await table.withConflictResolution { try await $0.resolve("none", .mine) } } == .noSuchObject
        )
        #expect(try await table.rows().all().isEmpty)
      }
    }
  }

  @Test(
    "SIM-45: garbage closes only its own connection, with one answer that says why",
    arguments: [
      [UInt8](repeating: 0xff, count: 64), Frame.head(message: 4) + [0xff, 0xff, 0xff, 0xff],
      Array("GET / HTTP/1.1\r\n\r\n".utf8), Frame.head(message: 2, data: 1) + [8, 1, 9],
      Frame.head(message: 0), Frame.head(message: 2) + [8, 1],
    ])
  func garbage(bytes: [UInt8]) async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        for isWelcome in [false, true] {
          let peer = isWelcome ? try await f.raw("other") : try RawPeer(f.socket)
          await peer.send(bytes)
          guard case .failure(let failure)? = try await peer.receive()?.kind else {
            Issue.record("no answer")
            return
          }
          #expect([.invalidData, .limitExceeded, .notAuthenticated].contains(failure.model().code))
          if !isWelcome || bytes != Frame.head(message: 0) && bytes != Frame.head(message: 2) + [8, 1] {
            #expect(try await peer.receive() == nil)
          }
        }
        try await table.write(["name": .text("still here")])
      }
    }
  }

  @Test("MOB-16, MOB-18: an app is its token; another's, a wrong one or none is refused, and apps see only their own")
  func identity() async throws {
    try await AppFixture.with { f in
      try await f.app("one") { client in
        try await client.createTable("t", AppFixture.schema).write(["name": .text("mine")])
      }
      let path = "\(f.socket).tokens/one"
      var info = stat()
      #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o600)
      try await f.app("two") { client in
        await #expect { try await client.table("t").rows().all() } throws: {
          ($0 as? CaravanError)?.code == .tableNotFound
        }
      }
      for token in ["", String(repeating: "0", count: 64), "zz"] {
        let peer = try RawPeer(f.socket)
        await peer.send(AppRequest(id: 1, kind: .hello(AppHello(app: "one", token: token))))
        guard case .failure(let failure)? = try await peer.receive()?.kind else {
          Issue.record("'\(token)' was let in")
          continue
        }
        #expect(failure.model().code == .notAuthenticated)
      }
      #expect(unlink(path) == 0)
      await #expect { try await f.app("one") { _ in } } throws: { ($0 as? CaravanError)?.code == .notAuthenticated }
    }
  }

  @Test("a reader that takes nothing is cut off in the end and holds up nobody")
  func slowReader() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        let id = try await table.write([:], objects: ["photo"]) {
          try await $0.write(StoreFixture.noise(1 << 20), to: "photo", at: 0)
        }
        let slow = try await f.raw("album")
        let read = AppRequest(
          id: 1, kind: .readObject(ReadObject(table: "t", row: id, object: "photo", length: 1 << 20)))
        for _ in 0..<40 { await slow.send(read) }
        let clock = f.host.clock
        let start = clock.now
        for _ in 0..<20 { try await table.write(["name": .text("x")]) }
        // Were they held up, then until the slow one is cut off, after ten seconds.
        #expect(clock.now - start < .seconds(10))
      }
    }
  }

  @Test("MOB-21: requests that wait for the cloud hold up no others; too many are refused")
  func waiting() async throws {
    let gate = Latch()
    try await AppFixture.with(sync: ScriptedSync(gate: gate)) { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<AppLimits.waitingRequests.app { group.addTask { try await table.syncNow() } }
          try await eventually("all wait") { f.sync.calls.count == AppLimits.waitingRequests.app }
          await #expect { try await table.syncNow() } throws: { ($0 as? CaravanError)?.code == .serverBusy }
          try await table.write(["name": .text("meanwhile")])
          gate.open()
          try await group.waitForAll()
        }
        f.sync.state.withLock { $0.refusal = CaravanError(.networkNotConnected, "no link") }
        await #expect { try await table.readSyncNow() } throws: { ($0 as? CaravanError)?.code == .networkNotConnected }
      }
    }
  }

  @Test("SIM-23, SIM-24, SIM-44: upcalls come to a watcher, also those of the time it was away, merged")
  func upcalls() async throws {
    try await AppFixture.with { f in
      let table = TableID(app: ContainerID(unchecked: "album"), name: "photos")
      try await f.app { client in
        let photos = try await client.createTable("photos", AppFixture.schema)
        try await f.store.agree(on: StoreFixture.type, for: table)
        try await photos.watch()
        try await f.apply([StoreFixture.entry("row-1", 1, "a"), StoreFixture.entry("row-2", 2, "b")])
        let upcall = try await client.nextUpcall()
        #expect(upcall?.kind == .newData && upcall?.table == "photos" && upcall?.rows == 2)
        try await photos.update(.init("name = 'a'"), ["name": .text("mine")])
      }
      try await f.apply([StoreFixture.entry("row-1", 3, "theirs")])
      try await f.apply([StoreFixture.entry("row-3", 4, "c")])
      try await f.apply([StoreFixture.entry("row-4", 5, "d")])
      try await f.app { client in
        try await client.table("photos").watch()
        var upcalls: Set<Upcall> = []
        for try await upcall in client.upcalls {
          upcalls.insert(upcall)
          if upcalls.count == 2 { break }
        }
        #expect(upcalls.contains { $0.kind == .conflict && $0.rows == 1 })
        #expect(upcalls.contains { $0.kind == .newData && $0.rows == 2 })
        try await client.table("photos").withConflictResolution { resolution in
          let conflict = try await resolution.conflicts()[0]
          #expect(conflict.mine["name"] == .text("mine") && conflict.theirs?["name"] == .text("theirs"))
          #expect(conflict.ancestor?["name"] == .text("a"))
          try await resolution.resolve(conflict.mine.id, .theirs)
        }
        #expect(try await client.table("photos").rows(.init("_id = 'row-1'")).all()[0]["name"] == .text("theirs"))
      }
    }
  }

  @Test("a resolution whose closure throws resolves nothing")
  func abandonedResolution() async throws {
    try await AppFixture.with { f in
      let table = TableID(app: ContainerID(unchecked: "album"), name: "photos")
      try await f.app { client in
        let photos = try await client.createTable("photos", AppFixture.schema)
        try await f.store.agree(on: StoreFixture.type, for: table)
        try await f.apply([StoreFixture.entry("row-1", 1, "a")])
        try await photos.update(.all, ["name": .text("mine")])
        try await f.apply([StoreFixture.entry("row-1", 2, "theirs")])
        await #expect(throws: CancellationError.self) {
          try await photos.withConflictResolution { resolution in
            try await resolution.resolve("row-1", .theirs)
            throw CancellationError()
          }
        }
        #expect(try await photos.rows().all().map(\.state) == [.conflict])
      }
    }
  }

  @Test("a second agent on the same socket is refused; one left behind by a crash is replaced; the end is told")
  func sockets() async throws {
    try await AppFixture.with { f in
      await #expect { _ = try await AppServer(socket: f.socket, store: f.store, sync: f.sync, host: f.host) } throws: {
        ($0 as? CaravanError)?.code == .unavailable
      }
      let stale = f.socket + "2"
      let server = try await AppServer(socket: stale, store: f.store, sync: f.sync, host: f.host)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        try await CaravanClient.withConnection(to: stale, app: "x") { client in
          server.shutDown()
          try await group.waitForAll()
          await #expect { _ = try await client.status() } throws: {
            ($0 as? CaravanError)?.code == .networkNotConnected
          }
        }
      }
      await #expect { try await CaravanClient.withConnection(to: stale, app: "x") { _ in } } throws: {
        ($0 as? CaravanError)?.code == .networkNotConnected
      }
    }
  }
}

extension AppFixture {
  func apply(_ page: [IncomingEntry]) async throws {
    let table = TableID(app: ContainerID(unchecked: "album"), name: "photos")
    try await store.apply(page, to: table, token: [1], end: .last)
  }
}
