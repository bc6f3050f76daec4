import CaravanModel
import CaravanTokens
import CaravanWire
import Testing

/// Goal: what devices see of change tracking beside the plain pull. Method: frames, as the agent sends them.
@Suite(.timeLimit(.minutes(2))) struct ChangeTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]

  @Test("CK-47: a pull of the newest first, under opaque tokens, goes on forward by itself")
  func reverse() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let long = String(repeating: "x", count: 1_000)
      for op in 1...8 { _ = try await a.push(UInt64(op), [.save("r\(op)", [1: .text(long)], type: type)]) }
      var names: [String] = []
      var token: [UInt8] = []
      while true {
        let page = try await b.pull(after: token, maxBytes: 3_000, mode: .reverse)
        names += try page.entries.map(\.name)
        token = page.token
        if names.count == 4 { _ = try await a.push(9, [.save("news", [1: .text("x")], type: type)]) }
        if !page.more { break }
      }
      #expect(names == ["r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "news"])

      let recent = try await b.pull(maxBytes: 3_000, mode: .reverse)
      _ = try await a.push(10, [.save("late", [1: .text("x")], type: type)])
      let turned = try await b.pull(after: recent.token)
      #expect(try turned.entries.map(\.name) == ["late"] && !turned.more)
    }
  }

  @Test("CK-49, CK-51: a device reads by snapshots, hears when it has one, and is never behind its own writes")
  func snapshots() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let long = String(repeating: "x", count: 1_000)
      func row(_ name: String, base: Base = .absent) -> CaravanModel.Mutation {
        .save(name, [1: .text(long)], type: type, base: base)
      }
      for op in 1...4 { _ = try await a.push(UInt64(op), [row("r\(op)")]) }
      let first = try await b.pull(maxBytes: 3_000, snapshot: true)
      #expect(try first.entries.map(\.version) == [1, 2] && first.more && !first.consistent)
      _ = try await a.push(5, [row("r3", base: .version(3))])
      let snapshot = try await b.pull(after: first.token, snapshot: true)
      #expect(try snapshot.entries.map(\.version) == [3, 4] && snapshot.more && snapshot.consistent)
      _ = try await b.push(1, [row("own")])
      let own = try await b.pull(after: first.token, snapshot: true)
      #expect(try own.entries.map(\.version) == [4, 5, 6] && !own.more && own.consistent)
      let news = try await b.pull(after: snapshot.token)
      #expect(try news.entries.map(\.version) == [5, 6] && news.consistent)
    }
  }

  @Test("UNI-11, MOB-52, E12: what a device wrote and knows of costs a pull nothing; the rest comes without bodies")
  func ownWrites() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let rows = (0..<100).map { CaravanModel.Mutation.save("r\($0)", [1: .text("a row of some length")], type: type) }
      _ = try await a.push(1, rows)
      _ = try await b.push(1, [.save("theirs", [1: .text("x")], type: type)])
      let echoed = try await a.pull()
      #expect(try echoed.entries.count == 101 && echoed.entries.filter(\.own).allSatisfy { $0.body.isEmpty })
      let silent = try await a.pull(ownThrough: 100)
      #expect(try silent.entries.map(\.name) == ["theirs"])
      #expect(silent.page.count < 100 && silent.token == echoed.token)
      #expect(try await a.pull(ownThrough: 40).entries.count == 61)
      #expect(try await b.pull(ownThrough: 101).entries.count == 100, "only of its own")
    }
  }

  @Test("CK-48: changed zones of the app's database, and only of it")
  func metaSync() async throws {
    try await CloudCluster.with { cloud in
      let (a, b, stranger) = (
        try cloud.device("a"), try cloud.device("b"), try cloud.device("c", of: "bob")
      )
      let type = try await a.agree(Self.fields)
      #expect(try await b.changedZones().zones.isEmpty)
      let row = CaravanModel.Mutation.save("r", [1: .text("x")], type: type)
      for (op, zone) in ["photos", "albums"].enumerated() { _ = try await a.push(UInt64(op + 1), [row], to: zone) }
      let all = try await b.changedZones()
      #expect(all.zones == [ChangedZone(zone: "photos"), ChangedZone(zone: "albums")] && !all.more)
      #expect(try await b.changedZones(after: all.token).zones.isEmpty)
      _ = try await a.ask(.drop(DropTable(container: "album", zone: "photos")))
      let news = try await b.changedZones(after: all.token)
      #expect(news.zones == [ChangedZone(zone: "photos", deleted: true)])
      #expect(try await stranger.changedZones().zones.isEmpty)
      #expect(try await b.changedZones(in: "caravan-notes").zones.isEmpty)
    }
  }

  @Test("CK-42: a token of another database, of a zone, or forged, lists nothing")
  func zoneTokens() async throws {
    try await CloudCluster.with { cloud in
      let (a, stranger) = (try cloud.device("a"), try cloud.device("c", of: "bob"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("x")], type: type)])
      let token = try await a.changedZones().token
      let pulled = try await a.pull().token
      var forged = token
      forged[forged.count - 1] ^= 1
      func code(_ device: Device, _ token: [UInt8], in container: String = "album") async throws -> ErrorCode? {
        try await device.refusal(.changedZones(ListChangedZones(container: container, token: token)))?.code
      }
      #expect(try await code(a, token) == nil)
      #expect(try await code(stranger, token) == .invalidSyncToken)
      #expect(try await code(a, token, in: "notes") == .invalidSyncToken)
      #expect(try await code(a, pulled) == .invalidSyncToken)
      #expect(try await code(a, forged) == .invalidSyncToken)
      #expect(try await code(a, [1, 2, 3]) == .invalidSyncToken)
      #expect(
        try await a.refusal(.pull(Pull(container: "album", zone: "photos", token: token)))?.code == .invalidSyncToken)
    }
  }
}
