internal import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire
internal import Glibc

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
      CREATE TABLE samples(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, groups INTEGER, size REAL, kind TEXT, label TEXT,
        taken INTEGER, album TEXT, body BLOB);
      CREATE VIRTUAL TABLE titles USING fts5(title, content='');
      CREATE VIRTUAL TABLE places USING rtree(id, south, north, west, east, +latitude, +longitude);
      CREATE TABLE tags(tag TEXT, sample INTEGER, PRIMARY KEY(tag, sample)) WITHOUT ROWID;
      """)
  }

  private let sample: QuerySample

  func add(_ rows: [QuerySample.Row]) throws {
    for row in rows {
      let fields = row.fields
      let album: String = if case .reference(let reference) = fields[9] { reference.target } else { "" }
      try connection.run(
        "INSERT INTO samples(name, groups, size, kind, label, taken, album, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        row.name, fields[2].integerValue ?? 0, fields[3].realValue ?? 0, fields[6].textValue ?? "",
        fields[7].textValue ?? "", fields[8].integerValue ?? 0, album, fields.body)
      let id = connection.lastInsertedRow
      try connection.run("INSERT INTO titles(rowid, title) VALUES(?, ?)", id, fields[1].textValue ?? "")
      if case .location(let place) = fields[4] {
        try connection.run(
          "INSERT INTO places VALUES(?, ?, ?, ?, ?, ?, ?)", id, place.latitude, place.latitude, place.longitude,
          place.longitude, place.latitude, place.longitude)
      }
      guard case .list(let tags) = fields[5] else { continue }
      for tag in tags { try connection.run("INSERT OR IGNORE INTO tags VALUES(?, ?)", tag.textValue ?? "", id) }
    }
  }

  func finish() throws {
    try connection.execute(
      """
      CREATE INDEX samples_by_group ON samples(groups, name); CREATE INDEX samples_by_size ON samples(size);
      CREATE INDEX samples_by_kind ON samples(kind, name); CREATE INDEX samples_by_label ON samples(label);
      CREATE INDEX samples_by_taken ON samples(taken); CREATE INDEX samples_by_album ON samples(album, name);
      COMMIT; PRAGMA wal_checkpoint(TRUNCATE);
      """)
  }

  /// - Returns: how many rows the page has, and the thread's processor time in seconds.
  func find(_ kind: QuerySample.Kind, at round: Int) throws -> (count: Int, seconds: Double) {
    let start = Self.processorSeconds
    let count = try count(kind, at: round)
    return (count, Self.processorSeconds - start)
  }

  private static var processorSeconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func count(_ kind: QuerySample.Kind, at round: Int) throws -> Int {
    let group = sample.group(round)
    switch kind {
    case .number: return try bodies("SELECT name, body FROM samples WHERE groups = ? ORDER BY name LIMIT 50", group)
    case .range:
      let (low, high) = sample.range(round)
      return try bodies(
        "SELECT name, body FROM samples WHERE size >= ? AND size < ? ORDER BY name LIMIT 50", low, high)
    case .text:
      return try bodies("SELECT name, body FROM samples WHERE kind = ? ORDER BY name LIMIT 50", sample.kind(group))
    case .prefix:
      let label = sample.label(group)
      return try bodies(
        "SELECT name, body FROM samples WHERE label >= ? AND label < ? ORDER BY name LIMIT 50", label,
        String(label.dropLast()) + ".")
    case .date:
      let dates = sample.dates(round)
      return try bodies(
        "SELECT name, body FROM samples WHERE taken >= ? AND taken < ? ORDER BY name LIMIT 50", dates.lowerBound,
        dates.upperBound)
    case .reference:
      return try bodies("SELECT name, body FROM samples WHERE album = ? ORDER BY name LIMIT 50", sample.album(group))
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
    case .within:
      let box = sample.box(round)
      return try bodies(
        """
        SELECT name, body FROM places CROSS JOIN samples USING(id)
        WHERE south >= ? AND west >= ? AND north <= ? AND east <= ? ORDER BY name LIMIT 50
        """, box[0], box[1], box[2], box[3])
    case .near: return try near(sample.circle(round))
    }
  }

  /// The box around the circle, and then the distance.
  private func near(_ circle: [Double]) throws -> Int {
    let region = Region.circle.boxes(circle)[0]
    return try bodies(
      """
      SELECT name, body FROM places CROSS JOIN samples USING(id)
      WHERE south >= ? AND west >= ? AND north <= ? AND east <= ?
        AND 12742017.6 * asin(min(1, sqrt(pow(sin(radians(latitude - ?) / 2), 2)
          + cos(radians(latitude)) * cos(radians(?)) * pow(sin(radians(longitude - ?) / 2), 2)))) <= ?
      ORDER BY name LIMIT 50
      """, region.latitudes.lowerBound, region.longitudes.lowerBound, region.latitudes.upperBound,
      region.longitudes.upperBound, circle[0], circle[0], circle[1], circle[2])
  }

  private func bodies(_ sql: StaticString, _ first: any Bindable, _ rest: any Bindable...) throws -> Int {
    let statement = try connection.statement(sql)
    for (index, value) in ([first] + rest).enumerated() { try value.bind(to: statement, at: Int32(index) + 1) }
    defer { statement.reset() }
    var rows: [(String, [UInt8])] = []
    while let row = try statement.next() { rows.append((row.text(0), row.bytes(1))) }
    return rows.count
  }
}
