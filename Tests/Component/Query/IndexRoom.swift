import CaravanPostgreSQL
import CaravanQueryCore
import CaravanSQLite
import CaravanTestKit
import Glibc

import class Foundation.ProcessInfo

@testable import CaravanQueryDriver

/// Where an index of a test lies: a directory, or a database of its own on a PostgreSQL of the tests'. It goes with it.
final class IndexRoom: Sendable {
  private let directory: TemporaryDirectory
  /// nil: it lies in files.
  private let database: (server: PostgresServer, name: String)?

  /// For tests that do not say: `CARAVAN_INDEX=postgres` runs them on PostgreSQL.
  static var usual: IndexEngine {
    ProcessInfo.processInfo.environment["CARAVAN_INDEX"] == "postgres" ? .postgres : .sqlite
  }

  init(_ engine: IndexEngine = usual) throws {
    directory = try TemporaryDirectory(isInMemory: true)
    guard engine == .postgres else {
      database = nil
      return
    }
    let server = try PostgresServer.shared.get()
    database = (server, try server.makeDatabase())
  }

  deinit { if let database { database.server.dropDatabase(database.name) } }

  private var address: String? { database.map { $0.server.address(database: $0.name) } }

  var place: any IndexPlace {
    get throws {
      guard let address else { return IndexFile(path: "\(directory.path)/index.db", durability: .none) }
      return PostgresIndex(try ConnectionString(address))
    }
  }

  /// Of one instance of the service.
  func place(of name: String) throws -> QueryPlace {
    guard let address else { return .directory("\(directory.path)/\(name)") }
    return .postgres(try ConnectionString(address))
  }

  /// What instance `name` has is gone, or what all have.
  func clear(_ name: String) throws {
    if let database {
      let connection = try database.server.connect(address)
      defer { connection.close() }
      try connection.execute("DROP SCHEMA IF EXISTS caravan_index_1 CASCADE")
    }
    for suffix in ["", "-wal", "-shm"] { remove("\(directory.path)/\(name)/index.db\(suffix)") }
  }
}
