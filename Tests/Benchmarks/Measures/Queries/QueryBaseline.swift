internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// The same records in a file of SQLite's, with the index that somebody would make by hand for each question: b-trees,
/// FTS5, R*Tree.
struct QueryBaseline {
  private let connection: Connection

  init(directory: String, sample: QuerySample) throws {
    connection = try Connection(.file("\(directory)/floor.db"))
    self.sample = sample
    try connection.execute(
      """
      BEGIN;
      CREATE TABLE samples(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, groups INTEGER, size REAL, body BLOB);
      CREATE VIRTUAL TABLE titles USING fts5(title, content='');
      CREATE VIRTUAL TABLE places USING rtree(id, south, north, west, east);
      CREATE TABLE tags(tag TEXT, sample INTEGER, PRIMARY KEY(tag, sample)) WITHOUT ROWID;
      """)
  }

  private let sample: QuerySample

  func add(_ rows: [QuerySample.Row]) throws {
    for row in rows {
      try connection.run(
        "INSERT INTO samples(name, groups, size, body) VALUES(?, ?, ?, ?)", row.name,
        row.fields[2].integerValue ?? 0, row.fields[3].realValue ?? 0, row.fields.body)
      let id = connection.lastInsertedRow
      try connection.run("INSERT INTO titles(rowid, title) VALUES(?, ?)", id, row.fields[1].textValue ?? "")
      if case .location(let place) = row.fields[4] {
        try connection.run(
          "INSERT INTO places VALUES(?, ?, ?, ?, ?)", id, place.latitude, place.latitude, place.longitude,
          place.longitude)
      }
      guard case .list(let tags) = row.fields[5] else { continue }
      for tag in tags { try connection.run("INSERT OR IGNORE INTO tags VALUES(?, ?)", tag.textValue ?? "", id) }
    }
  }

  func finish() throws {
    try connection.execute(
      """
      CREATE INDEX samples_by_group ON samples(groups, name); CREATE INDEX samples_by_size ON samples(size); COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
  }

  /// - Returns: how many rows the page has.
  func find(_ kind: QuerySample.Kind, at round: Int) throws -> Int {
    let group = sample.group(round)
    func bodies(_ sql: StaticString, _ first: any Bindable, _ rest: any Bindable...) throws -> Int {
      let statement = try connection.statement(sql)
      for (index, value) in ([first] + rest).enumerated() { try value.bind(to: statement, at: Int32(index) + 1) }
      defer { statement.reset() }
      var rows: [(String, [UInt8])] = []
      while let row = try statement.next() { rows.append((row.text(0), row.bytes(1))) }
      return rows.count
    }
    switch kind {
    case .equal: return try bodies("SELECT name, body FROM samples WHERE groups = ? ORDER BY name LIMIT 50", group)
    case .range:
      let (low, high) = sample.range(round)
      return try bodies(
        "SELECT name, body FROM samples WHERE size >= ? AND size < ? ORDER BY name LIMIT 50", low, high)
    case .words:
      return try bodies(
        """
        SELECT name, body FROM titles CROSS JOIN samples ON samples.id = titles.rowid WHERE titles MATCH ?
        ORDER BY name LIMIT 50
        """, "word\(group)")
    case .members:
      return try bodies(
        """
        SELECT name, body FROM tags CROSS JOIN samples ON samples.id = sample WHERE tag = ? ORDER BY name LIMIT 50
        """, "tag\(group)")
    case .place:
      let box = sample.box(round)
      return try bodies(
        """
        SELECT name, body FROM places CROSS JOIN samples USING(id)
        WHERE south >= ? AND west >= ? AND north <= ? AND east <= ? ORDER BY name LIMIT 50
        """, box[0], box[1], box[2], box[3])
    }
  }
}
