internal import CaravanModel
internal import CaravanQuery
internal import CaravanQueryCore
internal import CaravanQueryDriver
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire
internal import Glibc

/// CK-84: what a million subscriptions to queries take, and how long the writing of one record takes where a few of
/// them are hit, beside the same record in a database that nobody has subscribed to. In this process, on the query
/// service's own index file, so that nothing else is measured.
struct StandingBench: Sendable {
  let report: BenchReport
  let host: Host
  let directory: String
  let subscriptions: Int
  let rounds: Int

  private static let perTransaction = 1_000
  /// Subscriptions of each kind that one record hits, about.
  private static let hits = 2
  private static let type = CaravanModel.RecordType(
    id: 1, definition: 1, name: "samples",
    fields: [
      FieldDefinition(id: 1, name: "title", kind: .text), FieldDefinition(id: 2, name: "group", kind: .integer),
      FieldDefinition(id: 3, name: "taken", kind: .date), FieldDefinition(id: 4, name: "place", kind: .location),
      FieldDefinition(id: 5, name: "tags", kind: .text, isList: true),
    ])

  private enum Kind: Int, CaseIterable {
    case number, words, range, near, members
  }

  private var ofEach: Int { max(1, subscriptions / Kind.allCases.count) }
  /// Different values that they ask for.
  private var values: Int { max(1, ofEach / Self.hits) }

  func run() async throws {
    let file = IndexFile(path: "\(directory)/standing.db", durability: .normal)
    let writer = try IndexWriter(file, host: host)
    let watched = try database("watched")
    let before = host.process.residentBytes ?? 0
    let start = host.clock.now
    for first in stride(from: 0, to: subscriptions, by: Self.perTransaction) {
      var update = IndexUpdate(
        zone: try ZoneID(watched, SubscriptionZone.name),
        progress: ZoneProgress(incarnation: 1, seq: Seq(first + 1)), at: host.clock.wallTime)
      update.standings = try (first..<min(first + Self.perTransaction, subscriptions)).map { .saved(try standing($0)) }
      try await writer.apply([update], in: Partition(of: update.zone.database))
    }
    let took = (host.clock.now - start).seconds
    try await measure(writer, watched, before: before, took: took)
    await writer.close()
    try await reopen(file)
  }

  private func database(_ user: String) throws -> DatabaseID {
    DatabaseID(container: try ContainerID("bench"), environment: .development, owner: try UserID(user))
  }

  // MARK: Subscriptions

  private func standing(_ number: Int) throws -> StandingRow {
    let kind = Kind.allCases[number % Kind.allCases.count]
    let value = number / Kind.allCases.count % values
    let text: CaravanModel.Query.Text
    switch kind {
    case .number: text = .init("\"group\" = ?", arguments: [.integer(Int64(value))])
    case .words: text = .init("title MATCH ?", arguments: [.text("word\(value)")])
    case .members: text = .init("tags CONTAINS ?", arguments: [.text("tag\(value)")])
    case .range:
      text = .init("taken >= ? AND taken < ?", arguments: [.integer(Int64(value)), .integer(Int64(value) + 1)])
    case .near:
      let place = place(of: value)
      text = .init("place NEAR (?, ?, 10)", arguments: [.real(place.latitude), .real(place.longitude)])
    }
    let query = CaravanModel.StandingQuery(
      id: "s\(number % 100)", .records(type: Self.type.name, text: text, zone: nil, .all))
    return StandingRow(user: try UserID("u\(number / 100)"), query: query, viewer: nil, type: Self.type)
  }

  /// Each value has one, far from all others.
  private func place(of value: Int) -> CaravanModel.Location {
    let side = Int(Double(values).squareRoot()) + 1
    let (row, column) = (Double(value / side), Double(value % side))
    guard
      let place = try? CaravanModel.Location(
        latitude: 10 + 60 * row / Double(side), longitude: 10 + 60 * column / Double(side))
    else { preconditionFailure("value \(value) lies nowhere") }
    return place
  }

  private func row(_ number: Int) throws -> IndexRow {
    let value = Int(host.random.below(UInt64(values)))
    let fields = RecordFields([
      1: .text("word\(value) and others"), 2: .integer(Int64(value)), 3: .integer(Int64(value)),
      4: .location(place(of: value)), 5: .list([.text("tag\(value)")]),
    ])
    let entry = CaravanModel.Entry(
      name: "row-\(number)", version: Seq(number + 1), created: Seq(number + 1), type: Self.type.id, body: fields.body,
      writer: "@bench", authorship: Authorship(modified: 1, created: 1, creator: "@bench"))
    return IndexRow(entry, try BodyCells(entry.body), definition: Self.type.definition)
  }

  // MARK: Changes

  private func measure(_ writer: IndexWriter, _ watched: DatabaseID, before: Int, took: Double) async throws {
    let quiet = try database("quiet")
    var (ours, floor) = (Samples(), Samples())
    var (seconds, floorSeconds) = (0.0, 0.0)
    for round in 0..<rounds + 100 {
      for (database, isWatched) in [(watched, true), (quiet, false)] {
        var update = IndexUpdate(
          zone: try ZoneID(database, "rows"), progress: ZoneProgress(incarnation: 1, seq: Seq(round + 1)),
          at: host.clock.wallTime)
        update.rows = [try row(round)]
        let (start, used) = (host.clock.now, Self.processorSeconds)
        try await writer.apply([update], in: Partition(of: update.zone.database))
        // The first rounds fill caches.
        guard round >= 100 else { continue }
        if isWatched {
          ours.add(host.clock.now - start)
          seconds += Self.processorSeconds - used
        } else {
          floor.add(host.clock.now - start)
          floorSeconds += Self.processorSeconds - used
        }
      }
    }
    let resident = (host.process.residentBytes ?? 0) - before
    report.line(
      "change",
      [
        "subscriptions": Double(subscriptions), "hits": Double(Self.hits * Kind.allCases.count), "p50_ms": ours.p50,
        "p99_ms": ours.p99, "matching_p50_ms": ours.p50 - floor.p50, "matching_p99_ms": ours.p99 - floor.p50,
        "cpu_us": seconds / Double(rounds) * 1e6,
      ],
      floor: [
        "unwatched_p50_ms": floor.p50, "unwatched_p99_ms": floor.p99,
        "unwatched_cpu_us": floorSeconds / Double(rounds) * 1e6,
      ])
    report.line(
      "subscription",
      [
        "memory_bytes": Double(resident) / Double(subscriptions),
        "file_bytes": try Double(bytes(of: "standing.db")) / Double(subscriptions),
        "saves_per_s": Double(subscriptions) / took,
      ])
  }

  private static var processorSeconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func bytes(of name: String) throws -> Int {
    var status = stat()
    guard unsafe stat("\(directory)/\(name)", &status) == 0 else {
      throw CaravanError(.internalError, "'\(name)' is not there: error \(errno)")
    }
    return Int(status.st_size)
  }

  /// As a service that starts again does, until it has taken in a change.
  private func reopen(_ file: IndexFile) async throws {
    let start = host.clock.now
    let writer = try IndexWriter(file, host: host)
    var update = IndexUpdate(
      zone: try ZoneID(database("watched"), "rows"),
      progress: ZoneProgress(incarnation: 1, seq: Seq(rounds + 1_000)), at: host.clock.wallTime)
    update.rows = [try row(rounds + 1_000)]
    try await writer.apply([update], in: Partition(of: update.zone.database))
    report.line("reopened", ["ms": (host.clock.now - start).seconds * 1e3])
    await writer.close()
  }
}
