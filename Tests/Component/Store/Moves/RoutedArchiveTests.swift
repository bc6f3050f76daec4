import CaravanBackup
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStorageCore
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanStorageDriver

/// Goal: one backup has what is in a main store and in one beside it, each user once (CK-100). Method: users in both,
/// and one who has been in both; a move that is under way; a store that is not named.
@Suite(.timeLimit(.minutes(2))) struct RoutedArchiveTests {
  static let kinds: [StoreKind] = [.files, .postgres]

  /// The main store in files, another of the kind.
  private static func with(
    _ kind: StoreKind, _ body: (MoveBench, _ main: String, _ other: String) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      let main = "\(path)/main"
      guard kind == .postgres else {
        return try await MoveBench.with(MoveBench(.files, in: path)) { bench in
          try await body(bench, main, "\(path)/other")
        }
      }
      try await PostgresServer.shared.get().withSchema { address in
        try await MoveBench.with(MoveBench(.postgres, in: address, main: main)) { bench in
          try await body(bench, main, address)
        }
      }
    }
  }

  private static func source(_ kind: StoreKind, _ place: String) throws(CaravanError) -> any ArchiveSource {
    kind == .postgres ? try PostgresSnapshot(ConnectionString(place)) : try SQLiteSnapshot(place)
  }

  @Test("CK-100: a backup of two stores has each user once, and is restored into one", arguments: kinds)
  func backup(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, main, other in
      let users = ["ada", "bob", "eve"]
      for (number, user) in users.enumerated() {
        let zone = try Sample.zone(of: user)
        try await bench.routed.stage([MoveBench.chunk], in: zone.database)
        let rows = [Sample.save("a"), Sample.save("b-\(user)", chunks: [MoveBench.chunk.hash])]
        _ = try await bench.commit(zone, rows, as: "phone", UInt64(number + 1))
      }
      _ = try await bench.commit(
        ZoneID(DatabaseID(container: ContainerID("notes"), environment: .development, owner: nil), "open"),
        [Sample.save("s")], as: "phone", 9)
      let eve = UserID(unchecked: "eve")
      for (owner, name) in [(MoveBench.ada, "other"), (eve, "other"), (eve, "main")] {
        try await bench.move(owner, to: name)
      }
      _ = try await bench.routed.setQuota(Quota(records: 50, bytes: nil), of: .user(MoveBench.ada, .development))
      func open(_ others: [String: String]) async throws -> RoutedArchive {
        try await RoutedArchive.open(
          home: { () throws(CaravanError) in try SQLiteSnapshot(main) }, others,
          neighbour: { place throws(CaravanError) in try Self.source(kind, place) }, clock: bench.clock)
      }
      await #expect(throws: CaravanError.self, "ada would be left out") { try await open([:]) }
      try await withTemporaryDirectory { directory in
        let file = "\(directory)/backup"
        let written = try BackupFile.write(try await open([MoveBench.name: other]), to: file, at: bench.clock.wallTime)
        #expect(written.zones.count == 4 && written.records == 7 && written.chunks == 3)
        let target = "\(directory)/restored"
        let restored = try BackupFile.restore(file, at: bench.clock.wallTime) { () throws(CaravanError) in
          try SQLiteRestore(StoreOptions(.directory(target)), host: bench.host)
        } checking: { () throws(CaravanError) in
          try SQLiteSnapshot(target)
        }
        #expect(restored == written)
        let store = try await StoreSQLite(StoreOptions(.directory(target)), host: bench.host)
        for user in users {
          let found = try await store.fetch(["a", "b-\(user)"], fields: nil, in: Sample.zone(of: user))
          #expect(found == (try await bench.routed.fetch(["a", "b-\(user)"], fields: nil, in: Sample.zone(of: user))))
        }
        #expect(try await store.account(.user(MoveBench.ada, .development)).quota == Quota(records: 50, bytes: nil))
        #expect(try await PlacementCache(store: store, host: bench.host).all().isEmpty, "all are in the one store")
        await store.close()
      }
    }
  }

  @Test("CK-100: a backup waits until nobody is being moved, and then gives up")
  func moving() async throws {
    try await Self.with(.files) { bench, main, other in
      _ = try await bench.commit(Sample.zone(), [Sample.save("a")], as: "phone", 1)
      try await bench.routed.placementCache.write(Placement(to: "other"), of: UserID(unchecked: "bob"))
      let isOver = Latch()
      let time = Task {
        while !isOver.isOpen {
          bench.clock.advance(by: .seconds(1))
          await Task.yield()
        }
      }
      func open() async throws {
        _ = try await RoutedArchive.open(
          home: { () throws(CaravanError) in try SQLiteSnapshot(main) }, [MoveBench.name: other],
          neighbour: { place throws(CaravanError) in try SQLiteSnapshot(place) }, clock: bench.clock)
      }
      let error = await #expect(throws: CaravanError.self) { try await open() }
      #expect(error?.code == .serverBusy)
      isOver.open()
      await time.value
      try await bench.routed.placementCache.write(Placement(), of: UserID(unchecked: "bob"))
      try await open()
    }
  }
}
