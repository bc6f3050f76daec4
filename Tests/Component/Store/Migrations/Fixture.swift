import CaravanBackup
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// What the release with layout 4 has written (Tests/Fixtures/README.md).
enum Fixture {
  struct Failure: Error { let message: String }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/layout-4").path

  private static func run(_ words: [String]) throws -> Data {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(message: "\(words[0]) failed: Deploy/packages test") }
    return data
  }

  static func unpack(_ name: String, into directory: String) throws {
    _ = try run(["tar", "--zstd", "-xf", "\(folder)/\(name).tar.zst", "-C", directory])
  }

  static func dump() throws -> String {
    String(decoding: try run(["zstd", "-dcq", "\(folder)/postgres.sql.zst"]), as: UTF8.self)
  }

  static func expectation(_ name: String) throws -> [String: Any] {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).json"))
    guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw Failure(message: "\(name).json is no object")
    }
    return object
  }

  /// Gives `body` a bench for a copy of the fixture, which is not open yet.
  static func with(
    _ engine: BackupTests.Engine, _ body: (StoreBench, BackupTests.Place) async throws -> Void
  ) async throws {
    switch engine {
    case .sqlite:
      try await withTemporaryDirectory { path in
        try unpack("store", into: path)
        let place = BackupTests.Place(engine: .sqlite, address: "\(path)/suite/storage")
        try await body(StoreBench(try place.plan), place)
      }
    case .postgres:
      let server = try PostgresServer.shared.get()
      try await server.withSchema { address in
        let said = try server.psql(dump(), address)
        guard !said.contains("ERROR") else { throw Failure(message: said) }
        let place = BackupTests.Place(engine: .postgres, address: address)
        try await body(StoreBench(try place.plan), place)
      }
    }
  }

  /// All that a store has in tables that name somebody, and how records are: to compare two of them.
  static func everything(_ place: BackupTests.Place) throws -> String {
    switch place.engine {
    case .sqlite:
      var lines: [String] = []
      for number in 0..<2 {
        let db = try CaravanSQLite.Connection(.file("\(place.address)/store-\(number).db"))
        defer { db.close() }
        lines.append("file \(number), layout \(try db.userVersion)")
        #expect(try db.integrityProblems() == [])
        for table in tables {
          lines.append(table)
          let statement = try db.statement(text: "SELECT * FROM \(table) ORDER BY 1, 2")
          while let row = try statement.next() {
            lines.append((0..<Int32(statement.columnCount)).map { "\(row.value($0))" }.joined(separator: "|"))
          }
          statement.reset()
        }
      }
      return lines.joined(separator: "\n")
    case .postgres:
      let script = tables.filter { $0 != "names" }.map { name in
        // By whole rows: no order of some columns says the same of every table.
        "SELECT '\(name)'; SELECT t::text FROM caravan_\(name == "entries" ? "records" : name) AS t ORDER BY 1;"
      }
      return try PostgresServer.shared.get().psql(script.joined(separator: "\n"), place.address)
    }
  }

  /// Whoever is named as a writer or reader.
  static func names(_ place: BackupTests.Place) throws -> Set<String> {
    var names: Set<String> = []
    switch place.engine {
    case .sqlite:
      for number in 0..<2 {
        let db = try CaravanSQLite.Connection(.file("\(place.address)/store-\(number).db"))
        defer { db.close() }
        for select in ["name FROM writers", "writer FROM footprints", "device FROM sightings", "writer FROM log"] {
          names.formUnion(try db.statement(text: "SELECT \(select)").all { $0.text(0) })
        }
      }
    case .postgres:
      let script = [
        "writer FROM caravan_records", "writer FROM caravan_superseded", "writer FROM caravan_footprints",
        "device FROM caravan_sightings", "writer FROM caravan_log", "name FROM caravan_writers",
        "writer FROM caravan_ops", "writer FROM caravan_groups", "writer FROM caravan_group_parts",
      ].map { select in
        let (column, table) = (select.prefix { $0 != " " }, select.drop { $0 != " " })
        return "SELECT DISTINCT convert_from(\(column), 'UTF8')\(table);"
      }
      let said = try PostgresServer.shared.get().psql(script.joined(separator: "\n"), place.address)
      names = Set(said.split(separator: "\n").map(String.init))
    }
    names.remove("")
    return names
  }

  private static let tables = [
    "entries", "superseded", "names", "footprints", "sightings", "writers", "ops", "log", "groups", "group_parts",
    "objects", "zones", "leases",
  ]
}
