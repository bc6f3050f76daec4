internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Who has staged which chunks in the public databases of a partition, as far as a group asked, and may name them for
/// it until the staging lease ends.
struct PartitionStagers {
  private struct Author: Hashable {
    let database: DatabaseID
    let name: String
  }

  private var known: Set<Wants.Stager> = []
  /// How many chunks each user who was asked about has staged.
  private var held: [Author: Int] = [:]
  /// What the group adds, with what the account is charged for each.
  private(set) var new: [Wants.Stager: Int64] = [:]
  /// Those whose lease begins anew.
  private(set) var kept: Set<Wants.Stager> = []

  func have(_ hash: ChunkHash, in database: DatabaseID, by author: String) -> Bool {
    known.contains(Wants.Stager(database: database, author: author, hash: hash))
  }

  /// Notes who stages chunks, before they are staged.
  /// - Parameter isThere: whether the database has a chunk already.
  /// - Returns: what is known then, and the bytes that the account is charged besides the chunks.
  /// - Throws: `limitExceeded` when the user has staged too much.
  func note(
    _ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView, isThere: (ChunkHash) -> Bool
  ) throws(CaravanError) -> (stagers: PartitionStagers, charged: Int64) {
    guard let name = view.stager else { return (self, 0) }
    precondition(!name.isEmpty, "nobody stages chunks in a public database")
    let author = Author(database: database, name: name)
    var (next, charged, added) = (self, Int64(0), 0)
    for chunk in chunks {
      let stager = Wants.Stager(database: database, author: name, hash: chunk.hash)
      guard next.known.insert(stager).inserted else {
        if next.new[stager] == nil { next.kept.insert(stager) }
        continue
      }
      let charge = StagerRules.charge(bytes: chunk.bytes.count, isThere: isThere(chunk.hash))
      next.new[stager] = charge
      (charged, added) = (charged + charge, added + 1)
    }
    if added > 0 { try StagerRules.check(held: held[author] ?? 0, adding: added) }
    next.held[author, default: 0] += added
    return (next, charged)
  }

  /// - Returns: whether the chunk is in the view, where it stays for the staging lease.
  mutating func keep(_ hash: ChunkHash, in database: DatabaseID, as view: ChunkView) -> Bool {
    switch view {
    case .all: return true
    case .record: preconditionFailure("a record's chunks are kept by the record")
    case .staged(let author):
      let stager = Wants.Stager(database: database, author: author, hash: hash)
      guard known.contains(stager) else { return false }
      if new[stager] == nil { kept.insert(stager) }
      return true
    }
  }

  fileprivate mutating func read(_ stager: Wants.Stager) { known.insert(stager) }

  fileprivate mutating func read(_ count: Int64, of name: String, in database: DatabaseID) {
    held[Author(database: database, name: name)] = Int(count)
  }
}

/// What a group asks about them, and where the answers are.
struct StagerQuestions {
  private let stagers: [Wants.Stager]
  private let authors: [(database: DatabaseID, name: String)]
  private var stagersAt: Int?
  private var countsAt: Int?

  init(_ wants: Wants) {
    stagers = Array(wants.stagers)
    let authors = Dictionary(grouping: stagers) { [$0.database.key, $0.author] }
    self.authors = authors.values.compactMap { $0.first }.map { (database: $0.database, name: $0.author) }
  }

  mutating func ask(_ pipeline: inout Pipeline, _ partition: Int32) {
    guard !stagers.isEmpty else { return }
    stagersAt = pipeline.add(
      StagerStatements.stagers, partition, stagers.map(\.database.key), stagers.map(\.author), stagers.map(\.hash))
    countsAt = pipeline.add(
      StagerStatements.counts, partition, authors.map(\.database.key), authors.map(\.name),
      // No author has more; and the limit has the engine look for each author's by key.
      StoreLimits.chunksStagedByUser)
  }

  func read(_ answers: [Rows], into state: PartitionState) {
    if let at = stagersAt { for row in answers[at] { state.stagers.read(stagers[row.ordinal]) } }
    guard let at = countsAt else { return }
    for row in answers[at] {
      let author = authors[row.ordinal]
      state.stagers.read(row.integer(1), of: author.name, in: author.database)
    }
  }
}

extension Pipeline {
  mutating func add(stagersOf state: PartitionState) {
    let (key, new, kept) = (Int32(state.partition.number), state.stagers.new.map { $0 }, Array(state.stagers.kept))
    if !new.isEmpty {
      add(
        StagerStatements.add, key, new.map(\.key.database.key), new.map(\.key.author), new.map(\.key.hash),
        new.map(\.value), state.keepUntil)
    }
    for (database, stagers) in Dictionary(grouping: kept, by: \.database) {
      for (author, stagers) in Dictionary(grouping: stagers, by: \.author) {
        add(StagerStatements.keep, key, database.key, author, stagers.map(\.hash), state.keepUntil)
      }
    }
  }
}

extension Reads {
  /// Those of the chunks that are in a view.
  /// - Parameter clock: nil: the database's.
  func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView, clock: Int64?
  ) throws(PostgresError) -> Set<ChunkHash> {
    let partition = Int32(Partition(of: database).number)
    switch view {
    case .all: return Set(hashes)
    case .staged(let author):
      let rows = try db.run(
        StagerStatements.stagers, partition, hashes.map { _ in database.key }, hashes.map { _ in author }, hashes)
      return Set(rows.map { hashes[$0.ordinal] })
    case .record(let record):
      guard record.zone.database == database else { return [] }
      let names = ([database.key], [record.zone.name], [record.name])
      var pipeline = Pipeline()
      pipeline.add(Statements.clock, clock)
      pipeline.add(Statements.aliveZone, partition, database.key, record.zone.name)
      pipeline.add(Statements.heads, partition, names.0, names.1, names.2)
      let answers = try db.run(pipeline)
      guard let now = answers[0].first?.integer(0), let zone = answers[1].first, let row = answers[2].first,
        Layout.incarnation(life: zone.unsigned(0), zone: zone.integer(1), stored: zone.unsigned(6))
          == record.incarnation, row.integer(1) == zone.integer(1)
      else { return [] }
      let head = RecordHead(
        version: row.unsigned(2), created: row.unsigned(3), flags: EntryFlags(rawValue: row.integer(4)),
        expires: row.integer(5))
      guard head.version == record.version, head.isLive(at: now) else { return [] }
      return Set((try? ChunkHash.list(row.bytes(6))) ?? []).intersection(hashes)
    }
  }
}

extension PartitionMaintenance {
  /// Forgets who staged chunks once their leases have ended, and those of a time to come (TRU-12).
  func removeStagers(in partition: Partition, clock: Int64?) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      let now = try now(clock)
      let ended = try db.run(
        StagerStatements.remove, key, now - Self.grace, Self.latestChunk(now), PostgresLimits.collectedChunks)
      var growth: [Account: Usage] = [:]
      for row in ended {
        guard let account = DatabaseID(key: row.text(0)).flatMap({ Account(of: $0) }) else { continue }
        growth[account, default: Usage()] += Usage(bytes: -row.integer(1))
      }
      pipeline.add(growth, key)
      return pipeline
    }
  }
}

/// Tables beside those of the layout: who is not in them stages anew, so a database without them is whole.
enum StagerStatements {
  static let tables = [
    // `charge`: what the account is charged for it besides the chunk itself (`StagerRules.charge`).
    """
    CREATE TABLE IF NOT EXISTS caravan_stagers(
      partition integer NOT NULL, database bytea NOT NULL, author bytea NOT NULL, hash bytea NOT NULL,
      charge bigint NOT NULL, until bigint NOT NULL, PRIMARY KEY (partition, database, author, hash))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_stagers_by_end ON caravan_stagers(partition, until)
    """,
  ]

  /// Makes them where they are missing; whoever may not make tables is told so.
  static func prepare(_ db: Connection) throws(PostgresError) {
    do throws(PostgresError) { _ = try db.run("SELECT 1 FROM caravan_stagers WHERE partition = 0 LIMIT 1") } catch {
      guard error.kind == .noSuchTable else { throw error }
      for table in tables { try db.execute(table) }
    }
  }

  static let stagers: StaticString = """
    SELECT w.ordinal, s.until FROM unnest($2, $3, $4) WITH ORDINALITY AS w(database, author, hash, ordinal)
    CROSS JOIN LATERAL (
      SELECT until FROM caravan_stagers
      WHERE partition = $1 AND database = w.database AND author = w.author AND hash = w.hash LIMIT 1) AS s
    """

  static let counts: StaticString = """
    SELECT w.ordinal, count(*) FROM unnest($2, $3) WITH ORDINALITY AS w(database, author, ordinal)
    CROSS JOIN LATERAL (
      SELECT hash FROM caravan_stagers
      WHERE partition = $1 AND database = w.database AND author = w.author LIMIT $4) AS s
    GROUP BY w.ordinal
    """

  static let add: StaticString = """
    INSERT INTO caravan_stagers(partition, database, author, hash, charge, until)
    SELECT $1, w.database, w.author, w.hash, w.charge, $6
    FROM unnest($2, $3, $4, $5) AS w(database, author, hash, charge)
    """

  static let keep: StaticString = """
    UPDATE caravan_stagers SET until = greatest(until, $5)
    WHERE partition = $1 AND database = $2 AND author = $3 AND hash = ANY($4)
    """

  static let survey: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    LEFT JOIN LATERAL (
      SELECT until FROM caravan_stagers WHERE partition = p.partition AND until < $1 LIMIT 1) AS a ON true
    LEFT JOIN LATERAL (
      SELECT until FROM caravan_stagers WHERE partition = p.partition AND until > $2 LIMIT 1) AS b ON true
    WHERE a.until IS NOT NULL OR b.until IS NOT NULL ORDER BY p.partition
    """

  static let remove: StaticString = """
    DELETE FROM caravan_stagers WHERE partition = $1 AND (database, author, hash) IN (
      (SELECT a.database, a.author, a.hash FROM caravan_stagers a
        WHERE a.partition = $1 AND a.until < $2 ORDER BY a.until LIMIT $4)
      UNION ALL
      (SELECT b.database, b.author, b.hash FROM caravan_stagers b
        WHERE b.partition = $1 AND b.until > $3 ORDER BY b.until LIMIT $4))
    RETURNING database, charge
    """
}
