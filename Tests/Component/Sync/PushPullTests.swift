import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Rows between devices through sync, schema and a real store.
@Suite(.timeLimit(.minutes(2))) struct PushPullTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("date", .integer)]

  @Test("MOB-50, MOB-52: what one device pushes another pulls, byte for byte; its own rows come back without bodies")
  func roundTrip() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let row = CaravanModel.Mutation.save(
        "r1", [1: .text("Zürich"), 2: .integer(7), 9: .text("a newer client's")], type: type)
      let versions = try await a.push(1, [row]).versions
      #expect(versions == [1])

      let seenByB = try #require(try await b.pull().entries.first)
      guard case .save(_, let body, _) = row.change else { throw Missing("body of a save") }
      #expect(seenByB.body == body && seenByB.name == "r1" && seenByB.version == 1 && seenByB.type == type.id)
      #expect(seenByB.writer == "ann/a/1" && !seenByB.own)

      let seenByA = try #require(try await a.pull().entries.first)
      #expect(seenByA.own && seenByA.body.isEmpty && seenByA.version == 1)
      let newLife = try cloud.device("a", epoch: 2)
      #expect(try await newLife.pull().entries.first?.body == body, "a device that lost its store needs its own rows")
    }
  }

  @Test("MOB-55, CK-33: a stale base is a conflict with the server's copy; the other rows of the push are accepted")
  func conflict() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r1", [1: .text("a")], type: type)])
      let result = try await b.push(
        1, [.save("r1", [1: .text("b")], type: type), .save("r2", [1: .text("b")], type: type)])
      guard case .conflict(let server?) = result.outcomes[0] else {
        Issue.record("r1 must be in conflict: \(result)")
        return
      }
      #expect(server.name == "r1" && server.writer == "ann/a/1" && server.version == 1)
      #expect(try RecordFields(body: server.body)[1] == .text("a"))
      #expect(result.versions == [2])

      let resolved = try await b.push(2, [.save("r1", [1: .text("b")], type: type, base: .version(1))])
      #expect(resolved.versions == [3])
    }
  }

  @Test("UNI-07, E9: the same op again after a lost reply has the same result, not a conflict with oneself")
  func replay() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let mutations: [CaravanModel.Mutation] = [
        .save("r1", [1: .text("x")], type: type), .save("r2", [1: .text("y")], type: type),
      ]
      let first = try await a.push(1, mutations)
      for _ in 0..<3 { #expect(try await a.push(1, mutations) == first) }
      #expect(try await b.pull().entries.map(\.version) == first.versions)
      #expect(try await a.settle(1) == first)
    }
  }

  @Test("UNI-07: an op's number used for another push gives the outcomes of the first one, and stops nobody")
  func reusedNumber() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r1", [1: .text("a")], type: type)])
      let first = try await b.push(
        1, [.save("r0", [1: .text("b")], type: type), .save("r1", [1: .text("b")], type: type)])
      #expect(try await b.push(1, [.save("r2", [1: .text("b")], type: type)]) == first)
      #expect(try await a.push(2, [.save("r2", [1: .text("a")], type: type)]).versions == [3])
    }
  }

  @Test("UNI-07: an op that was settled before it arrived never applies")
  func settled() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      #expect(try await a.settle(5) == .aborted)
      #expect(try await a.push(5, [.save("r1", [1: .text("late")], type: type)]) == .aborted)
      #expect(try await a.pull().entries.isEmpty)
      #expect(try await a.push(6, [.save("r1", [1: .text("new")], type: type)]).versions == [1])
    }
  }

  @Test("CK-40: pages of a chosen size, resumed by token at any cut, give every row once and then nothing")
  func paging() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      for batch in 0..<3 {
        let rows = (0..<300).map { CaravanModel.Mutation.save("r\(batch)-\($0)", [1: .text("row \($0)")], type: type) }
        #expect(try await a.push(UInt64(batch + 1), rows).versions.count == 300)
      }
      var names: [String] = []
      var (token, pages) = ([UInt8](), 0)
      while true {
        let page = try await b.pull(after: token, maxBytes: 4_096)
        #expect(page.page.count <= 8_192)
        names += try page.entries.map(\.name)
        (token, pages) = (page.token, pages + 1)
        if !page.more { break }
      }
      #expect(names.count == 900 && Set(names).count == 900)
      #expect(pages > 3)
      #expect(try await b.pull(after: token).entries.isEmpty)
      _ = try await a.push(4, [.save("last", [1: .text("x")], type: type)])
      #expect(try await b.pull(after: token).entries.map(\.name) == ["last"])
    }
  }

  @Test("CK-43: a deletion reaches who had the row, and is not told to who never had it")
  func deletion() async throws {
    try await CloudCluster.with { cloud in
      let (a, b, c) = (try cloud.device("a"), try cloud.device("b"), try cloud.device("c"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r1", [1: .text("x")], type: type), .save("r2", [1: .text("x")], type: type)])
      let token = try await b.pull().token
      let deletion = CaravanModel.Mutation(name: "r1", base: .version(1), change: .delete)
      #expect(try await a.push(2, [deletion]).versions == [3])
      let news = try await b.pull(after: token).entries
      #expect(news.map(\.name) == ["r1"] && news.allSatisfy { $0.deleted })
      #expect(try await c.pull().entries.map(\.name) == ["r2"])
    }
  }

  @Test("SIM-32: a row whose chunks are not staged is not applied; after staging with a ticket, the same op is")
  func chunksFirst() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("photo", .object)])
      let bytes = [UInt8](repeating: 7, count: 1_000)
      let hash = try #require(ChunkHash(SHA256.hash(bytes).bytes))
      let row = CaravanModel.Mutation.save(
        "r1", [1: .asset(AssetManifest(parts: [.init(hash: hash, length: 1_000)]))], type: type)
      #expect(try await a.push(1, [row]) == .missing([hash]))
      #expect(try await b.pull().entries.isEmpty)

      guard
        case .ticket(let ticket) = try await a.ask(
          .ticket(RequestTicket(container: "album", upload: true, bytes: 5_000)))
      else {
        Issue.record("a ticket was asked for")
        return
      }
      let put = ChunkRequest(ticket: ticket, put: [Chunk(hash: hash.bytes, data: bytes)])
      let stored: ChunkReply = try await a.bus.call(
        put, to: .chunks(a.enrolled, try Partition(ticket.partition)))
      #expect(stored.stored == hash.bytes)
      #expect(try await a.push(1, [row]).versions == [1])
      #expect(try await b.pull().entries.map(\.name) == ["r1"])
      await #expect(throws: CaravanError.self, "another device's ticket opens nothing") {
        let _: ChunkReply = try await b.bus.call(
          put, to: .chunks(b.enrolled, try Partition(ticket.partition)))
      }
    }
  }

  @Test("CK-45: dropping a table resets who had it; dropping it again is done already")
  func drop() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r1", [1: .text("x")], type: type)])
      let token = try await b.pull().token
      for _ in 0..<2 {
        #expect(try await a.ask(.drop(DropTable(container: "album", zone: "photos"))) == .done(Empty()))
      }
      _ = try await a.push(2, [.save("r2", [1: .text("x")], type: type)])
      let reset = try await b.pull(after: token)
      let blind = try await b.pull()
      #expect(reset.resetRequired && blind.resetRequired, "it may have lost its token, and hold what it wrote")
      for beginning in [reset.token, blind.token] {
        #expect(try await b.pull(after: beginning).entries.map(\.name) == ["r2"])
      }
      _ = try await a.ask(.drop(DropTable(container: "album", zone: "photos")))
      #expect(try await b.pull(after: reset.token).resetRequired, "another life has passed before it began")
    }
  }
}
