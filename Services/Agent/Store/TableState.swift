internal import CaravanAgentCore
internal import CaravanChunking
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// A table as the store knows it: its row in `tables`, and what follows from it.
struct TableState {
  let number: Int64
  let table: TableID
  private(set) var schema: SchemaText
  var properties: CaravanAgentCore.TableProperties
  var isLocalOnly: Bool { properties.isLocalOnly }
  var type: CaravanModel.RecordType? { didSet { codec = RowCodec(columns: schema.columns, type: type) } }
  var token: [UInt8]
  /// Between a reset and the last page of its resync.
  var isResyncing: Bool
  /// The next pull begins with a reset: what was left to the cloud, or lost here, has to be told again.
  var mustStartOver = false
  /// Until the end of the resync: rows of the device's own were left to the cloud, and have to come with their bodies.
  var lacksOwnRows = false
  /// Rows that the query does not ask for were kept because an app had them open.
  var hasRowsOutsideFilter = false
  /// Of a resync: what the query does not ask for need not be named, for all rows here were as the cloud's.
  var skipsRowsOutsideFilter = false
  /// The token leads back in time: the table has yet to come to as many rows as it is to keep (UNI-15).
  var lacksOlder = false
  /// Of a table that shows its zone as it once was (UNI-13): pages have brought all of the zone at this version, and
  /// what waits and is no newer shows at once, when all of it can. 0: something newer has come, or nothing.
  var point: Seq = 0
  /// Unix milliseconds; 0: never.
  var lastSync: Int64
  var refused: String
  /// What its app is told of.
  var log = EventLog(from: 0)
  /// What the transaction that runs does to it that its app is to hear of.
  let draft = EventDraft()
  /// Something was written to the log since whoever listens was told.
  var hasNews = false
  /// Since the cloud said that its zone does not exist; nil: it has not, or has said since that it does.
  var absence: ZoneAbsence?
  /// The cloud refused rows of it; most of the time none, and then nobody looks.
  var hasRefusals = false
  /// Why its sync rests until somebody resets it (REC-27).
  var fault: TableFault?

  private(set) var rows: RowTable
  private(set) var codec: RowCodec
  /// Waiting entries of the table; most of the time none, and then nobody looks.
  var waiting = 0
  /// Rows that wait for chunks that were lost, or that somebody wants to read; most of the time none.
  var repairs = 0
  /// A page from its token on left out what has to be known: the next one is asked for as a whole, also by a session
  /// that comes after this one has been cut off.
  var lacksBodies = false
  /// A plan that was made with the change itself, and that nobody has taken.
  var untaken: PushPlan?
  /// Its op in flight.
  var op: UInt64?
  /// Highest version that the answer to a push of this process gave a row: the device has no own writes up to here to
  /// hear of. nil: it may have, for this process has not pulled the table to its end yet. What was written by a store
  /// of which this one is an old copy comes to light then.
  var ownThrough: Seq?

  private var lowercased: [String: Int]

  init(
    number: Int64, table: TableID, schema: SchemaText, properties: CaravanAgentCore.TableProperties, damage: DamageLog
  ) {
    self.number = number
    self.table = table
    self.schema = schema
    self.properties = properties
    token = []
    isResyncing = false
    (lastSync, refused) = (0, "")
    rows = RowTable(table, columns: schema.columns, damage: damage)
    codec = RowCodec(columns: schema.columns, type: nil)
    lowercased = Self.lowercased(schema)
  }

  /// The table has gained columns, behind the others.
  mutating func extend(to schema: SchemaText, damage: DamageLog) {
    self.schema = schema
    rows = RowTable(table, columns: schema.columns, damage: damage)
    lowercased = Self.lowercased(schema)
    // Also gives the codec the columns.
    type = type.map { SchemaExtension.provisional($0, for: schema) }
    if type == nil { codec = RowCodec(columns: schema.columns, type: nil) }
  }

  /// The record type, if it has all of the columns: otherwise it has to be agreed on with the cloud again.
  var agreedType: CaravanModel.RecordType? { type.flatMap { SchemaExtension.isAgreed($0) ? $0 : nil } }

  private static func lowercased(_ schema: SchemaText) -> [String: Int] {
    Dictionary(
      schema.columns.enumerated().map { ($0.element.name.lowercased(), $0.offset) }, uniquingKeysWith: { a, _ in a })
  }

  /// Its rows may refer to each other, as far as this device knows its columns.
  var holdsReferences: Bool { schema.columns.contains { $0.kind == .reference } }

  var showsSnapshots: Bool { properties.consistency == .snapshot }

  /// Apps may see something else of its rows, although these are as they were.
  func showsOtherwise(than other: TableState) -> Bool {
    (absence == nil) != (other.absence == nil) || properties != other.properties || schema != other.schema
  }

  /// Names of columns are found in any case, as SQL does.
  /// - Throws: `schemaViolation` naming the table's columns.
  func column(named name: String) throws(CaravanError) -> Int {
    if let index = lowercased[name.lowercased()] { return index }
    let known = schema.columns.map(\.name).joined(separator: ", ")
    throw CaravanError(
      .schemaViolation, "table '\(table.name)' has no column '\(name.prefix(80))': it has \(known.prefix(400))")
  }

  /// Whether the object of a field comes with its row. Those of columns that are unknown here do.
  func isEager(field: UInt32) -> Bool { codec.column(ofField: field).map { isEager(column: $0) } ?? true }
  func isEager(column: Int) -> Bool { properties.fetch.isEmpty || policy(of: column) == .eager }
  func policy(of column: Int) -> CaravanAgentCore.FetchPolicy { properties.policy(of: schema.columns[column].name) }

  /// Whether changes of the row must be noted for the cloud. What a local table once synced is still known there.
  func tracks(_ head: RowHead) -> Bool { !isLocalOnly || head.version > 0 || head.flags != .clean }

  /// In a resync everything has to be named.
  var readsBackwards: Bool { !isResyncing && (token.isEmpty || lacksOlder) }

  /// What the cloud need not bring; in a resync, where what is not named is gone, only as long as that loses nothing.
  var filter: RowFilter? { !lacksBodies && (!isResyncing || skipsRowsOutsideFilter) ? queryFilter : nil }

  /// Its query says nothing that the cloud could check, as far as it is known how that knows its columns.
  var picksHere: Bool { properties.query != nil && agreedType != nil && queryFilter == nil }

  private var queryFilter: RowFilter? {
    guard let query = properties.query, let type = agreedType else { return nil }
    return RowFilter(query, columns: schema.columns, type: type)
  }

  /// How its objects are cut, as far as it is known already what the record type says (SIM-93); nil: as all others.
  var chunking: ChunkingParameters? {
    guard let average = type?.settings?.chunkBytes, TypeSettings.chunkSizes.contains(average) else { return nil }
    return ChunkingParameters(average: Int(average), most: Limits.chunkBytes)
  }

  /// The proposal for the cloud: ids are the cloud's to give.
  var proposal: CaravanModel.RecordType {
    CaravanModel.RecordType(
      id: 0, definition: 0, name: table.name,
      fields: schema.fields(),
      settings: type?.settings)
  }

  // MARK: Stored form

  static func loadAll(_ database: Connection, damage: DamageLog) throws(CaravanError) -> [TableState] {
    let states = try database.all(
      """
      SELECT id, app, name, schema, local_only, type, token, resyncing, last_sync, refused,
        (SELECT count(*) FROM incoming WHERE table_id = tables.id AND role = 0),
        (SELECT op FROM plans WHERE table_id = tables.id),
        (SELECT count(*) FROM incoming WHERE table_id = tables.id AND role >= 2), properties, fault, point
      FROM tables ORDER BY id
      """
    ) { (row) throws(CaravanError) in try TableState(row, damage) }
    return states
  }

  private init(_ row: CaravanSQLite.Row, _ damage: DamageLog) throws(CaravanError) {
    self.init(
      number: row.integer(0), table: TableID(app: ContainerID(unchecked: row.text(1)), name: row.text(2)),
      schema: try SchemaText(parsing: row.text(3)), properties: try Self.properties(row.bytes(13), row.flag(4)),
      damage: damage)
    if !row.isNull(5) { type = try CaravanWire.RecordType.decode(row.bytes(5)).model() }
    codec = RowCodec(columns: schema.columns, type: type)
    token = row.bytes(6)
    (isResyncing, mustStartOver) = (row.integer(7) & 1 != 0, row.integer(7) & 2 != 0)
    (lacksOwnRows, hasRowsOutsideFilter) = (row.integer(7) & 4 != 0, row.integer(7) & 8 != 0)
    (lacksOlder, skipsRowsOutsideFilter) = (row.integer(7) & 16 != 0, row.integer(7) & 32 != 0)
    lastSync = row.integer(8)
    refused = row.text(9)
    waiting = Int(row.integer(10))
    op = row.isNull(11) ? nil : row.unsigned(11)
    repairs = Int(row.integer(12))
    fault = TableFault(rawValue: row.integer(14))
    point = row.unsigned(15)
  }

  private static func properties(
    _ stored: [UInt8], _ isLocalOnly: Bool
  ) throws(CaravanError) -> CaravanAgentCore.TableProperties {
    let base = CaravanAgentCore.TableProperties(replication: isLocalOnly ? .localOnly : .full)
    return stored.isEmpty ? base : base.applying(try CaravanWire.TableProperties.decode(stored).model())
  }

  func insert(_ database: Connection) throws(CaravanError) {
    try database.run(
      "INSERT INTO tables (id, app, name, schema, local_only, properties) VALUES (?, ?, ?, ?, ?, ?)",
      number, table.app.text, table.name, schema.description, isLocalOnly,
      CaravanWire.TableProperties(properties).encoded())
  }

  func save(_ database: Connection) throws(CaravanError) {
    try database.run(
      """
      UPDATE tables SET local_only = ?, type = ?, token = ?, resyncing = ?, last_sync = ?, refused = ?, fault = ?,
        point = ? WHERE id = ?
      """, isLocalOnly, type.map { CaravanWire.RecordType($0).encoded() }, token, progress, lastSync, refused,
      fault?.rawValue ?? 0, point, number)
  }

  /// How far its pulls have come, as `resyncing` has it.
  private var progress: Int64 {
    (isResyncing ? 1 : 0) + (mustStartOver ? 2 : 0) + (lacksOwnRows ? 4 : 0) + (hasRowsOutsideFilter ? 8 : 0)
      + (lacksOlder ? 16 : 0) + (skipsRowsOutsideFilter ? 32 : 0)
  }

  func saveSchema(_ database: Connection) throws(CaravanError) {
    try database.run("UPDATE tables SET schema = ? WHERE id = ?", schema.description, number)
  }

  func saveProperties(_ database: Connection) throws(CaravanError) {
    try database.run(
      "UPDATE tables SET properties = ? WHERE id = ?", CaravanWire.TableProperties(properties).encoded(), number)
  }
}
