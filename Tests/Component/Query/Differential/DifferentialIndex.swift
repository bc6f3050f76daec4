import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanWire

@testable import CaravanQueryDriver

/// The query service's index in a file of its own: its writer, and readers that differ in what they take for few
/// records, so that a small table is read in each of the ways in which large ones are.
final class DifferentialIndex: Sendable {
  static let shards: Range<UInt32> = 0..<3

  private let writer: IndexWriter
  private let readers: [IndexReader]
  private let host: Host

  init(_ place: any IndexPlace, host: Host) throws {
    writer = try IndexWriter(place, host: host)
    readers = try [1, 4, QueryLimits.fewRecords].map { few in
      try IndexReader(place, steps: QueryLimits.steps, few: few, host: host)
    }
    self.host = host
  }

  func begin() async throws {
    for shard in Self.shards { try await writer.begin(Partition(of: album.shard(shard)), under: 1) }
  }

  func close() async {
    for reader in readers { await reader.close() }
    await writer.close()
  }

  /// - Parameter seq: of the commit.
  func apply(_ records: [KnownRecord], removed: [KnownRecord], seq: Seq) async throws {
    for shard in Self.shards {
      for zone in Set((records + removed).filter { $0.shard == shard }.map(\.zone)).sorted() {
        func isHere(_ record: KnownRecord) -> Bool { record.shard == shard && record.zone == zone }
        var update = IndexUpdate(
          zone: try ZoneID(album.shard(shard), zone), progress: ZoneProgress(incarnation: 1, seq: seq),
          at: host.clock.wallTime)
        update.rows = try records.filter(isHere).map { try $0.row(seq) }
        update.removed = removed.filter(isHere).map { RemovedRow(name: $0.name, version: seq, writer: "@test") }
        try await writer.apply([update], in: Partition(of: update.zone.database))
      }
    }
  }

  /// Which indexes a query may use.
  enum Indexes: String, CaseIterable {
    /// Those that the service would have it use.
    case all
    case some
    case none
  }

  /// How a query is answered.
  struct Way: Sendable {
    let indexes: Indexes
    let reader: Int
    /// Whether one of some indexes is among these.
    let keeps: @Sendable (UInt32) -> Bool
  }

  var ways: Int { readers.count }

  /// One page, of one shard or of all.
  func page(_ query: Query, _ type: CaravanModel.RecordType, shards: Range<UInt32>, _ way: Way) async throws
    -> QueryReply
  {
    var replies: [QueryReply] = []
    for shard in shards {
      var part = query
      part.database = album.shard(shard)
      let compiled = try CompiledQuery(part, type: type)
      let key = TableKey(database: part.database, definition: type.definition)
      guard let indexes = try await prepared(key, compiled.needs, way) else {
        replies.append(QueryReply())
        continue
      }
      guard
        let page = try await readers[way.reader].find(
          compiled, indexes, in: Partition(of: part.database), placesHits: shards.count > 1)
      else {
        throw CaravanError(.internalError, "an index of shard \(shard) changes though nobody writes")
      }
      replies.append(
        QueryReply(hits: page.hits, cursor: page.cursor, position: page.position, count: page.count))
    }
    guard replies.count > 1 else { return replies[0] }
    return try QueryHandler.merged(replies, of: query)
  }

  /// nil: the shard has no record of the type.
  private func prepared(_ key: TableKey, _ needs: [IndexNeed], _ way: Way) async throws -> TableIndexes? {
    guard way.indexes != .none else {
      return try await writer.prepare(key, [], at: host.clock.wallTime).map { table in
        TableIndexes(table: table.indexes.table, generation: table.indexes.generation)
      }
    }
    var table = try await writer.prepare(key, needs, at: host.clock.wallTime)
    while table?.isReady == false {
      _ = try await writer.step(key)
      table = try await writer.prepare(key, needs, at: host.clock.wallTime)
    }
    guard var indexes = table?.indexes, way.indexes == .some else { return table?.indexes }
    indexes.slots = indexes.slots.filter { way.keeps($0.key) }
    indexes.members = indexes.members.filter { way.keeps($0.key) }
    indexes.words = indexes.words.filter { way.keeps($0.key) }
    return indexes
  }
}

extension KnownRecord {
  fileprivate func row(_ seq: Seq) throws -> IndexRow {
    let entry = CaravanModel.Entry(
      name: name, version: seq, created: seq, type: DifferentialGenerator.type.id, body: fields.body, writer: "@test",
      authorship: authorship)
    return IndexRow(entry, try BodyCells(entry.body), definition: DifferentialGenerator.type.definition)
  }
}
