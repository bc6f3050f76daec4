import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// A store in a directory of its own, and short ways to use it.
final class StoreFixture {
  static let app = ContainerID(unchecked: "album")
  static let photos = TableID(app: app, name: "photos")

  let directory: TemporaryDirectory
  private(set) var store: LocalStore
  let owner: UInt64 = 1
  private let options: LocalStoreOptions
  private let clock: ManualClock

  init(_ directory: TemporaryDirectory, _ store: LocalStore, _ options: LocalStoreOptions, _ clock: ManualClock) {
    self.directory = directory
    self.store = store
    self.options = options
    self.clock = clock
  }

  static func host(seed: UInt64 = 1, clock: ManualClock = ManualClock()) -> Host {
    Host(
      clock: clock, random: SeededRandom(seed: seed), executors: Host.live().executors,
      log: Log(level: .error, clock: ManualClock(), sink: NullLogSink()), metrics: MetricsRegistry())
  }

  /// Runs `body` with a new store that has the table `photos`.
  static func with(
    options: LocalStoreOptions = LocalStoreOptions(), clock: ManualClock = ManualClock(),
    _ body: (StoreFixture) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let store = try await LocalStore.open(directory.path, host: host(clock: clock), options: options)
    let fixture = StoreFixture(directory, store, options, clock)
    try await store.createTable(
      photos, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
      localOnly: false)
    try await body(fixture)
    #expect(try await fixture.store.problems() == [])
    await fixture.store.close()
  }

  /// Gives the store as it is after a crash: what was committed, and nothing that was only in memory.
  /// - Parameter meanwhile: happens to the files of the directory.
  func crash(meanwhile: (String) throws -> Void = { _ in }) async throws {
    await store.close()
    try meanwhile(directory.path)
    store = try await LocalStore.open(directory.path, host: Self.host(seed: 2, clock: clock), options: options)
  }

  // MARK: Rows

  @discardableResult
  func write(_ name: String, photo: [UInt8]? = nil, in table: TableID = photos) async throws -> String {
    guard let photo else { return try await store.write(table, cells: [CellValue("name", .text(name))])[0] }
    let opened = try await store.openWrite(
      table, cells: [CellValue("name", .text(name))], objects: ["photo"], owner: owner)
    try await store.writeObject(opened.handle, row: 0, object: "photo", offset: 0, bytes: photo, owner: owner)
    return try await store.closeWrite(opened.handle, owner: owner)[0]
  }

  func edit(_ name: String, at offset: UInt64, _ bytes: [UInt8]) async throws {
    let opened = try await store.openWrite(
      Self.photos, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text(name)]), owner: owner)
    for row in opened.rows.indices {
      try await store.writeObject(opened.handle, row: row, object: "photo", offset: offset, bytes: bytes, owner: owner)
    }
    try await store.closeWrite(opened.handle, owner: owner)
  }

  func rows(_ selection: CaravanAgentStore.Selection? = nil, in table: TableID = photos) async throws -> [RowView] {
    let page = try await store.beginRead(ReadRequest(table: table, selection: selection), owner: owner)
    return page.rows
  }

  func names(_ selection: CaravanAgentStore.Selection? = nil) async throws -> [String] {
    try await rows(selection).map { row in
      guard case .text(let name)? = row.cells.first(where: { $0.column == "name" })?.value else { return "" }
      return name
    }
  }

  func photo(_ row: String, copy: CaravanAgentStore.RowCopy = .mine) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let slice = try await store.readObject(
        Self.photos, row: row, object: "photo", offset: UInt64(bytes.count), length: 100_000, copy: copy, owner: owner)
      bytes += slice.bytes
      if slice.bytes.isEmpty || UInt64(bytes.count) == slice.size { return bytes }
    }
  }

  // MARK: Sync

  /// The type as a cloud would answer, with ids that differ from positions.
  static let type = CaravanModel.RecordType(
    id: 42, definition: 40, name: "photos",
    fields: [
      .init(id: 3, name: "name", kind: .text), .init(id: 5, name: "date", kind: .integer),
      .init(id: 6, name: "location", kind: .real), .init(id: 9, name: "photo", kind: .object),
    ])

  func agree() async throws { try await store.agree(on: Self.type, for: Self.photos) }

  func collect() async throws -> PushPlan? {
    try await store.collect(Self.photos, maximumRows: 400, maximumBytes: 1 << 20)
  }

  static func body(_ name: String, photo: [UInt8]? = nil) -> [UInt8] {
    var fields = RecordFields([3: .text(name)])
    if let photo { fields[9] = .asset(manifest(photo)) }
    return fields.body
  }

  /// One chunk for each 100,000 bytes.
  static func manifest(_ bytes: [UInt8]) -> AssetManifest {
    AssetManifest(parts: chunks(bytes).map { .init(hash: $0.hash, length: UInt32($0.bytes.count)) })
  }

  static func chunks(_ bytes: [UInt8]) -> [LocalChunk] {
    stride(from: 0, to: bytes.count, by: 100_000).map { start in
      LocalChunk(containing: Array(bytes[start..<min(start + 100_000, bytes.count)]))
    }
  }

  static func entry(_ id: String, _ version: UInt64, _ name: String, photo: [UInt8]? = nil) -> IncomingEntry {
    IncomingEntry(
      entry: Entry(
        name: id, version: version, created: 1, type: 42, body: body(name, photo: photo), writer: "elsewhere"))
  }

  static func tombstone(_ id: String, _ version: UInt64) -> IncomingEntry {
    IncomingEntry(entry: Entry(name: id, version: version, created: 1, isDeleted: true, writer: "elsewhere"))
  }

  @discardableResult
  func apply(_ page: [IncomingEntry], token: [UInt8] = [1], end: PageEnd = .last, point: UInt64? = nil) async throws
    -> PullSummary
  {
    try await store.apply(page, to: Self.photos, token: token, end: end, point: point)
  }

  /// Of the plan's rows, as they go.
  func names(of plan: PushPlan?) throws -> [String] {
    var names: [String] = []
    for mutation in plan?.mutations ?? [] {
      guard case .save(_, let body, _) = mutation.change else { continue }
      if case .text(let name) = try RecordFields(body: body)[3] { names.append(name) }
    }
    return names
  }

  func accept(_ plan: PushPlan, from version: UInt64) async throws {
    let outcomes = plan.mutations.indices.map { Outcome.accepted(version: version + UInt64($0)) }
    try await store.record(outcomes, of: plan.op)
  }

  /// A row that is clean at `version`.
  func synced(_ name: String, photo: [UInt8]? = nil, version: UInt64) async throws -> String {
    let id = try await write(name, photo: photo)
    guard let plan = try await collect() else { return id }
    try await accept(plan, from: version)
    return id
  }

  func status() async throws -> TableStatusView { try await store.status(of: Self.app)[0] }

  static func noise(_ count: Int, seed: UInt64 = 7) -> [UInt8] { SeededRandom(seed: seed).bytes(count) }
}
