import CaravanModel
import CaravanStore
import CaravanWire
import Testing

/// Goal: any store leaves out bodies that its reader surely does not want, and tells of every row that the reader may
/// have and that is nothing to it any more (UNI-15). Method: the protocol only; rows of one number, of which those
/// below 10 are wanted.
@Suite(.timeLimit(.minutes(2))) struct FilterConformance {
  private static let few = try? RowFilter([.test(RowFilter.Test(1, .integer, .less, .integer(10)))])

  private static func query(
    _ zone: ZoneID, from position: CaravanModel.ChangePosition? = nil, mode: ChangeQuery.Mode = .forward,
    reader: ChangeQuery.Reader? = .init(writer: "tablet", epoch: 1), maxRecords: Int = 1_000
  ) throws -> ChangeQuery {
    ChangeQuery(
      zone: zone, position: position, mode: mode, maxRecords: maxRecords, reader: reader,
      filter: few)
  }

  private static func row(_ name: String, _ number: Int64) -> CaravanModel.Mutation {
    Sample.save(name, [1: .integer(number)])
  }

  /// `name number` of a row, `name -` of a stranger, `name own`, `name deleted`.
  private static func told(_ entries: [CaravanWire.Entry]) throws -> [String] {
    try entries.map { entry in
      if entry.stranger {
        #expect(
          entry == CaravanWire.Entry(name: entry.name, version: entry.version, stranger: true), "and nothing else")
        return "\(entry.name) -"
      }
      if entry.own { return "\(entry.name) own" }
      if entry.deleted { return "\(entry.name) deleted" }
      guard case .integer(let number) = try RecordFields(body: entry.body)[1] else { return "\(entry.name) ?" }
      return "\(entry.name) \(number)"
    }
  }

  @Test(
    "UNI-15: of strangers nothing comes; whoever may have a row hears that it is one", arguments: StoreKind.allCases)
  func forward(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Self.row("a", 1), Self.row("b", 20), Self.row("c", 3), Self.row("d", 40)])
      let (first, all) = try await bench.page(Self.query(zone))
      #expect(try Self.told(all) == ["a 1", "c 3"])
      #expect(first.next?.seq == 4 && !first.more && first.isConsistent)

      // One ceases to match, one begins, one stays outside; new ones; one goes.
      try await bench.commit(
        zone, [Self.row("a", 11), Self.row("b", 2), Self.row("d", 41), Self.row("e", 5), Self.row("f", 50)])
      try await bench.commit(zone, [Sample.delete("c")])
      let (second, news) = try await bench.page(Self.query(zone, from: first.next))
      #expect(try Self.told(news) == ["a -", "b 2", "d -", "e 5", "c deleted"])
      // The same without a filter has them all.
      var plain = try Self.query(zone, from: first.next)
      plain.filter = nil
      #expect(
        try Self.told(try await bench.page(plain).entries) == ["a 11", "b 2", "d 41", "e 5", "f 50", "c deleted"])
      // Left out when it was made, wanted now, and nothing again.
      try await bench.commit(zone, [Self.row("f", 6)])
      let (third, late) = try await bench.page(Self.query(zone, from: second.next))
      #expect(try Self.told(late) == ["f 6"])
      try await bench.commit(zone, [Self.row("f", 60)])
      #expect(try Self.told(try await bench.page(Self.query(zone, from: third.next)).entries) == ["f -"])
    }
  }

  @Test(
    "UNI-15: pages end where strangers are, and a row of another kind or shape is kept", arguments: StoreKind.allCases)
  func paged(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      for batch in 0..<4 {
        try await bench.commit(zone, (0..<50).map { Self.row("\(batch).\($0)", $0 == 7 ? 7 : 100 + $0) })
      }
      try await bench.commit(zone, [Sample.save("scrawl"), Sample.save("text", [1: .text("x")])])
      var query = try Self.query(zone, maxRecords: 2)
      var names: [String] = []
      for _ in 0..<20 {
        let (page, entries) = try await bench.page(query)
        names += entries.map(\.name)
        query.position = page.next
        if !page.more { break }
      }
      #expect(names == ["0.7", "1.7", "2.7", "3.7", "scrawl"], "a number that is a text is null to the reader")
      #expect(query.position?.seq == 202)
    }
  }

  @Test(
    "UNI-15, CK-43: a copy that a commit showed or made may be here, whenever it was made",
    arguments: StoreKind.allCases)
  func footprint(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Self.row("a", 1)])
      let (start, _) = try await bench.page(Self.query(zone))
      try await bench.commit(zone, [Self.row("x", 70)])
      let shown = try await bench.outcomes(zone, [Sample.save("x", base: .absent)], op: bench.op("tablet"))
      guard case .conflict(.some) = shown.first else { throw Unexpected(shown) }
      try await bench.commit(zone, [Self.row("own", 80)], op: bench.op("tablet"))
      let (_, told) = try await bench.page(Self.query(zone, from: start.next))
      #expect(try Self.told(told) == ["x -", "own own"])
      // Who asks for bodies of its own hears of them as of all others; who never wrote has nothing.
      let again = ChangeQuery.Reader(writer: "tablet", epoch: 0)
      #expect(
        try Self.told(try await bench.page(Self.query(zone, from: start.next, reader: again)).entries)
          == ["x -", "own -"])
      let watch = ChangeQuery.Reader(writer: "watch", epoch: 1)
      #expect(try await bench.page(Self.query(zone, from: start.next, reader: watch)).entries.isEmpty)
      // From the beginning: only what it may have.
      var anew = try Self.query(zone)
      anew.isFresh = true
      #expect(try Self.told(try await bench.page(anew).entries) == ["a 1", "x -", "own own"])
    }
  }

  @Test("UNI-15, CK-47: backwards as well, and after the turn", arguments: StoreKind.allCases)
  func reverse(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<6).map { Self.row("r\($0)", $0.isMultiple(of: 2) ? $0 : 90) })
      let (first, newest) = try await bench.page(Self.query(zone, mode: .reverse, maxRecords: 2))
      #expect(try Self.told(newest) == ["r4 4", "r2 2"])
      let (last, oldest) = try await bench.page(Self.query(zone, from: first.next, mode: .reverse))
      #expect(try Self.told(oldest) == ["r0 0"])
      try await bench.commit(zone, [Self.row("r2", 22), Self.row("new", 99)])
      #expect(try Self.told(try await bench.page(Self.query(zone, from: last.next)).entries) == ["r2 -"])
    }
  }

  @Test("UNI-15, CK-49: in a snapshot what rows were then decides", arguments: StoreKind.allCases)
  func snapshot(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Self.row("a", 1), Self.row("b", 20), Self.row("c", 3)])
      var query = try Self.query(zone, maxRecords: 1)
      query.bySnapshots = true
      let (first, start) = try await bench.page(query)
      #expect(try Self.told(start) == ["a 1"] && first.more)
      try await bench.commit(zone, [Self.row("b", 2), Self.row("c", 30)])
      (query.position, query.maxRecords) = (first.next, 100)
      let (second, then) = try await bench.page(query)
      #expect(try Self.told(then) == ["c 3"] && second.isConsistent)
      query.position = second.next
      #expect(try Self.told(try await bench.page(query).entries) == ["b 2", "c -"])
    }
  }

  @Test("UNI-15: of a thousand rows, of which ten are wanted, ten come", arguments: StoreKind.allCases)
  func bytes(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let note = String(repeating: "n", count: 500)
      for batch in 0..<5 {
        try await bench.commit(
          zone,
          (0..<200).map { Sample.save("\(batch).\($0)", [1: .integer($0 < 2 ? $0 : 1_000), 2: .text(note)]) })
      }
      let (page, entries) = try await bench.page(Self.query(zone))
      var plain = try Self.query(zone)
      plain.filter = nil
      let whole = try await bench.page(plain).page
      #expect(entries.count == 10 && !page.more && whole.count == 1_000)
      let sizes = [page.page.count, whole.page.count]
      #expect(sizes == [5_486, 551_186])
      // Over a link for small pages: one for each row, for what is left out does not fill them.
      var small = try Self.query(zone)
      small.maxBytes = 600
      for number in 1...20 {
        let (page, entries) = try await bench.page(small)
        small.position = page.next
        #expect(entries.count <= 1)
        if !page.more { break }
        #expect(number < 12)
      }
    }
  }
}
