import CaravanCrypto
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStorageDriver
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// A main store and one beside it, and what moves users between them.
struct MoveBench: Sendable {
  let clock: ManualClock
  let host: Host
  let main: StoreSQLite
  let other: any MovableStore
  let routed: RoutedStore
  let mover: OwnerMover
  /// Hears of what is entered into the main store's logs.
  let listener = Listener()

  static let name = "other"
  static let ada = UserID(unchecked: "ada")
  static let chunk = ChunkBytes(hash: ChunkHash(SHA256.hash([7, 7, 7]).bytes)!, bytes: [7, 7, 7])

  /// - Parameters:
  ///   - kind: of the store beside the main one, which is as that, or in files.
  ///   - directory: where files lie, or the address of PostgreSQL.
  ///   - mainDirectory: where the main store's files lie, if not there or in memory.
  ///   - files: how many the main store has, if not as ever.
  ///   - tap: of the files of both.
  ///   - observer: hears of the main store's commits instead of `listener`.
  ///   - statements: hears the statements of both.
  init(
    _ kind: StoreKind, in directory: String, main mainDirectory: String? = nil, files: Int? = nil,
    tap: (any DiskTap)? = nil,
    observer: (any CommitObserver)? = nil, statements: (any StatementTap)? = nil
  ) async throws {
    clock = ManualClock()
    let live = Host.live(logLevel: .error)
    host = Host(
      clock: clock, random: SeededRandom(seed: 11), executors: live.executors, log: live.log, metrics: MetricsRegistry()
    )
    if kind == .files { Files.makeDirectory(directory) }
    func options(_ name: String) -> StoreOptions {
      var options =
        kind != .files ? StoreOptions.simulation(.memory) : StoreOptions(.directory("\(directory)/\(name)"))
      options.durability = .none
      (options.tap, options.statements) = (tap, statements)
      return options
    }
    var home = options("main")
    if let mainDirectory { home.location = .directory(mainDirectory) }
    if let files { home.files = files }
    main = try await StoreSQLite(home, host: host, observer: observer ?? listener)
    let bell = CommitBell()
    switch kind {
    case .memory, .files: other = try await StoreSQLite(options("other"), host: host, observer: bell)
    case .postgres:
      var options = PostgresOptions(try ConnectionString(directory))
      options.isWhole = Sample.isWhole
      (options.writers, options.readers, options.clock) = (2, 2, clock)
      other = try await StorePostgres(options, host: host, observer: bell)
    }
    routed = try await RoutedStore(
      home: main, [Neighbour(Self.name, other, observer: bell)], host: host)
    mover = OwnerMover(routed, host: host)
  }

  static func with(_ kind: StoreKind, _ body: (MoveBench) async throws -> Void) async throws {
    switch kind {
    case .memory, .files:
      try await withTemporaryDirectory { try await with(MoveBench(kind, in: $0), body) }
    case .postgres:
      let server = try PostgresServer.shared.get()
      try await server.withSchema { address in try await with(MoveBench(kind, in: address), body) }
    }
  }

  static func with(_ bench: MoveBench, _ body: (MoveBench) async throws -> Void) async throws {
    let failure = await withTaskGroup(of: Void.self) { group in
      group.addTask { await bench.mover.run() }
      var failure: (any Error)?
      do { try await body(bench) } catch { failure = error }
      group.cancelAll()
      return failure
    }
    await bench.main.close()
    await bench.closeOther()
    if let failure { throw failure }
  }

  private func closeOther() async {
    switch other {
    case let store as StoreSQLite: await store.close()
    case let store as StorePostgres: await store.close()
    default: break
    }
  }

  // MARK: Moves

  /// Returns when the user is there, and nothing is left to do.
  @discardableResult
  func move(_ owner: UserID = ada, to name: String) async throws -> MoveReply {
    var reply = try await mover.move(owner, to: name)
    try await eventually("\(owner) is in \(name)") {
      reply = try await mover.move(owner, to: nil)
      // After an attempt that failed it waits.
      if reply.attempts > 0, !reply.problem.isEmpty { clock.advance(by: .seconds(2)) }
      return reply.to.isEmpty && reply.leaving.isEmpty
    }
    return reply
  }

  func collectAll() async throws { while try await routed.collect() {} }

  // MARK: What is there

  /// Everything that a device can see of a zone, with what tells one life of it from another.
  func page(_ query: ChangeQuery) async throws -> (page: ChangePage, entries: [CaravanWire.Entry]) {
    let page = try await routed.changes(query)
    return (page, try EntryPage.decode(page.page).entries)
  }

  func commit(
    _ zone: ZoneID, _ mutations: [CaravanModel.Mutation], as writer: String, _ number: UInt64, floor: UInt64 = 0
  ) async throws(CaravanError) -> CommitResult {
    try await routed.commit(
      Commit(
        zone: zone, op: OpID(writer: writer, epoch: 1, number: number), opFloor: floor, isAtomic: false,
        mutations: mutations))
  }

  /// Of the user's partition, from its beginning.
  func log(of user: UserID = ada) async throws -> [LoggedCommit] {
    let partition = Partition(of: .system(user))
    return try await routed.log(of: partition, after: 0, atMost: 4_096).entries
  }
}
