import Foundation
import Model
import PostgreSQL
import Runtime
import Store
import StorePostgres
import StoreSQLite

/// BEN-16: what a store keeps on the disk after 100,000 updates of records chosen at random, beside what the same live
/// records take when each has been written once. A log of diffs beside the records would go on growing.
struct Amplification {
  private static let records = 10_000
  private static let updates = 100_000
  private static let batch = 100
  private static let bodyBytes = 250

  let host: Runtime.Host
  private let zone: ZoneID

  init(host: Runtime.Host) throws {
    self.host = host
    zone = try ZoneID(DatabaseID(container: ContainerID("bench"), owner: UserID("ann")), "notes")
  }

  func sqlite(in directory: String) async throws {
    func open() async throws -> StoreSQLite {
      try await StoreSQLite(StoreOptions(.directory(directory)), host: host)
    }
    var store = try await open()
    try await load(store)
    await store.close()
    let once = try Self.bytes(of: directory)
    store = try await open()
    try await update(store)
    await store.close()
    report("SQLite", once: once, after: try Self.bytes(of: directory))
  }

  /// In a database of its own, which is left as it is.
  func postgres(_ address: ConnectionString) async throws {
    let store = try await StorePostgres(PostgresOptions(address), host: host)
    let session = try PostgreSQL.Connection(PostgreSQL.ConnectionOptions(address))
    func size() throws -> Int {
      // What autovacuum does in its own time.
      try session.execute("VACUUM")
      try session.execute("CHECKPOINT")
      let rows = try session.run(
        """
        SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()
        """)
      return Int(rows[0].integer(0))
    }
    try await load(store)
    let once = try size()
    try await update(store)
    report("PostgreSQL", once: once, after: try size())
    await store.close()
  }

  private func report(_ engine: String, once: Int, after: Int) {
    let live = Self.records * (Self.bodyBytes + 12)
    print(
      "\(engine): \(Self.records) records take \(once >> 10) KiB written once, \(after >> 10) KiB after "
        + "\(Self.updates) updates: amplification \(Self.ratio(after, once)), "
        + "\(Self.ratio(after, live)) of names and bodies")
  }

  private static func ratio(_ a: Int, _ b: Int) -> String { String(format: "%.2f", Double(a) / Double(b)) }

  // MARK: Work

  private func load(_ store: any Store) async throws {
    try await commit(store, count: Self.records / Self.batch, epoch: 1) { part in
      (0..<Self.batch).map { part * Self.batch + $0 }
    }
  }

  private func update(_ store: any Store) async throws {
    try await commit(store, count: Self.updates / Self.batch, epoch: 2) { _ in
      var chosen: Set<Int> = []
      while chosen.count < Self.batch { chosen.insert(Int(host.random.below(UInt64(Self.records)))) }
      return chosen.sorted()
    }
    while try await store.collect() {}
  }

  private func commit(
    _ store: any Store, count: Int, epoch: UInt64, _ records: (Int) -> [Int]
  ) async throws {
    for part in 0..<count {
      let mutations = records(part).map { number in
        Mutation(
          name: "record-\(10_000 + number)", base: .any,
          change: .save(type: 1, body: host.random.bytes(Self.bodyBytes), chunks: []))
      }
      let op = OpID(writer: "bench", epoch: epoch, number: UInt64(part + 1))
      let commit = Commit(zone: zone, op: op, opFloor: op.number, isAtomic: true, mutations: mutations)
      guard case .applied(let outcomes, _, _) = try await store.commit(commit), case .accepted? = outcomes.last else {
        throw CaravanError(.internalError, "an update of the benchmark was not accepted")
      }
    }
  }

  private static func bytes(of directory: String) throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(atPath: directory)
    return try files.reduce(0) { sum, file in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(file)")
      return sum + (attributes[.size] as? Int ?? 0)
    }
  }
}
