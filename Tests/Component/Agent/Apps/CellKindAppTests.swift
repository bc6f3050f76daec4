import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

@testable import CaravanClient

/// Goal: an app's values reach its rows and come back, and peers of another release say so instead of losing them
/// (CK-07). Method: the client against a real store behind its socket; old peers by hand.
@Suite("Cells of every kind between app and agent", .timeLimit(.minutes(1)))
struct CellKindAppTests {
  typealias Value = CaravanModel.Value

  private static let schema = "name VARCHAR, at LOCATION, since DATE, parent REFERENCE, tags LIST<VARCHAR>"

  private static func cells(parent: String) throws -> [String: Value] {
    [
      "name": .text("a"), "at": .location(try CaravanModel.Location(latitude: 1, longitude: -2)), "since": .integer(5),
      "parent": .reference(CaravanModel.Reference(to: parent, .owning)), "tags": .list([.text("x"), .text("y")]),
    ]
  }

  @Test("CK-07: a place, a date, a reference and a list are written, selected by, changed in a batch, and read")
  func roundTrip() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("places", Self.schema)
        let root = try await table.write(["name": .text("root")])
        let cells = try Self.cells(parent: root)
        let id = try await table.write(cells)
        func row(_ selection: Table.Selection) async throws -> [AppRow] {
          var rows: [AppRow] = []
          for try await row in table.rows(selection) { rows.append(row) }
          return rows
        }
        let found = try await row(.init("parent = ? AND since >= ?", [cells["parent"] ?? .null, .integer(5)]))
        #expect(found.map(\.id) == [id] && found.first?.cells == cells)
        _ = try await table.batch { batch in
          try await batch.update(.init("parent = ?", [.text(root)]), ["tags": .list([]), "at": .null])
        }
        let changed = try await row(.init("at IS NULL AND tags IS NOT NULL")).first
        #expect(changed?["tags"] == .list([]) && changed?["at"] == .null)
        for (value, says) in [
          (Value.list([.text("a"), .integer(1)]), "a list of text with integer"), (.list([.null]), "with null"),
          (.reference(CaravanModel.Reference(to: "")), "refers to no row"), (.list([.integer(1)]), "LIST<VARCHAR>"),
        ] {
          let column = if case .reference = value { "parent" } else { "tags" }
          let error = await #expect(throws: CaravanError.self) {
            try await table.update(.all, [column: value])
          }
          #expect(error?.code == .schemaViolation && error?.message.contains(says) == true, "\(says)")
        }
        #expect(try await row(.all).count == 2)
      }
    }
  }

  @Test("CK-07: a client of an earlier release gets no row that it would read as null, and reads other columns")
  func oldClient() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await client.createTable("places", Self.schema).write(try Self.cells(parent: "r"))
      }
      let old = try await f.raw("album", isNew: false)
      func ask(_ kind: AppRequest.Kind) async throws -> AppReply.Kind? {
        await old.send(AppRequest(id: 9, kind: kind))
        return try await old.receive()?.kind
      }
      guard case .failure(let failure)? = try await ask(.beginRead(Select(table: "places"))) else {
        throw Missing("a refusal")
      }
      #expect(failure.model().code == .featureDisabled && failure.message.contains("column 'at'"))
      guard case .rows(let page)? = try await ask(.beginRead(Select(table: "places", columns: ["name", "since"])))
      else { throw Missing("rows") }
      #expect(page.rows.first?.cells.map(\.value) == [.text("a"), .integer(5)])
    }
  }

  @Test("CK-07: an agent of an earlier release is given no value that it would take for null; texts and dates are")
  func oldAgent() async throws {
    try await withTemporaryDirectory { directory in
      let agent = try OldAgent("\(directory)/agent.sock")
      async let served: Void = agent.serve()
      try await CaravanClient.withConnection(to: agent.path, app: "album") { client in
        let table = client.table("places")
        let cells = try Self.cells(parent: "r")
        let error = await #expect(throws: CaravanError.self) { try await table.write(cells, contents: [:]) }
        #expect(error?.code == .featureDisabled && error?.message.contains("update caravan-agent") == true)
        await #expect(throws: CaravanError.self) {
          try await table.delete(.init("parent = ?", [.reference(CaravanModel.Reference(to: "r"))]))
        }
        #expect(try await table.write(["name": .text("a"), "since": .integer(5)], contents: [:]) == "row")
      }
      await served
      #expect(await agent.asked == 2, "a hello and one write")
    }
  }
}

/// Welcomes one app as agents did before there were such cells, and says that whatever it asks is done. It blocks, so
/// it has a thread of its own.
private actor OldAgent {
  private let executor = Host.live(logLevel: .error).executors.makeSerial("old agent")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated let path: String
  private let listener: Int32
  private(set) var asked = 0

  init(_ path: String) throws {
    self.path = path
    listener = try SocketActivationTests.listener(at: path)
  }

  deinit { close(listener) }

  func serve() {
    let app = accept(listener, nil, nil)
    defer { close(app) }
    while let head = Self.take(8, from: app) {
      let count = head.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      guard let bytes = Self.take(count, from: app), let request = try? AppRequest(decoding: bytes) else { return }
      asked += 1
      let isHello = if case .hello? = request.kind { true } else { false }
      let kind: AppReply.Kind = isHello ? .welcome(AppWelcome()) : .writeOpened(WriteOpened(rows: ["row"]))
      let reply = AppReply(id: request.id, kind: kind).encoded()
      let frame = Frame.head(message: reply.count) + reply
      _ = send(app, frame, frame.count, Int32(MSG_NOSIGNAL))
    }
  }

  private static func take(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
    return got == count ? bytes : nil
  }
}
