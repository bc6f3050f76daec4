import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Glibc
import Testing

/// Goal: the bridge is faithful and typed. Method: small statements on databases in memory.
@Suite struct SQLiteTests {
  private func connection() throws -> Connection {
    let db = try Connection(.memory)
    try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b UNIQUE)")
    return db
  }

  private func count(_ db: Connection) throws -> Int64? { try db.first("SELECT count(*) FROM t") { $0.integer(0) } }

  @Test("values come back as they went in; empty is not NULL")
  func values() throws {
    let db = try connection()
    let values: [SQLValue] = [
      .null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("zwölf\u{1F411}"), .blob([]),
      .blob([0, 255]),
    ]
    for value in values { try db.run("INSERT INTO t(a) VALUES (?)", value) }
    #expect(try db.all("SELECT a FROM t ORDER BY id") { $0.value(0) } == values)
    try db.run("INSERT INTO t(id, a, b) VALUES (?, ?, ?)", 99, UInt64.max, Int64?.none)
    let row = try #require(try db.first("SELECT a, b FROM t WHERE id = 99", read: { ($0.unsigned(0), $0.isNull(1)) }))
    #expect(row == (.max, true))
  }

  @Test("a borrowed blob arrives whole, also an empty one, and the statement runs again")
  func borrowed() throws {
    let db = try connection()
    let big = [UInt8](repeating: 9, count: 300_000)
    for blob in [big, [], [1]] {
      try db.statement("INSERT INTO t(b, a) VALUES (?, ?)").run(blob.count, borrowing: blob)
    }
    let bytes = try db.all("SELECT a FROM t ORDER BY id") { (row) throws(CaravanError) in
      var copy: [UInt8] = [7]
      row.append(0, to: &copy)
      let size = try row.withBytes(0) { $0.byteCount }
      #expect(size == row.byteCount(0) && !row.isNull(0))
      return copy
    }
    #expect(bytes == [[7] + big, [7], [7, 1]])
    let again = #expect(throws: CaravanError.self) {
      try db.statement("INSERT INTO t(b, a) VALUES (?, ?)").run(1, borrowing: big)
    }
    #expect(again?.code == .objectExists && db.lastFailure?.kind == .constraint)
  }

  @Test("a transaction that throws leaves nothing; a savepoint that throws leaves what was before it")
  func transactions() throws {
    let db = try connection()
    struct Stop: Error {}
    let refusal = CaravanError(.invalidData, "stop")
    #expect(throws: refusal) {
      try db.transaction { () throws(CaravanError) in
        try db.run("INSERT INTO t(a) VALUES (1)")
        throw refusal
      }
    }
    #expect(try count(db) == 0 && !db.isInTransaction)
    try db.transaction { () throws(CaravanError) in
      try db.run("INSERT INTO t(a) VALUES (1)")
      do throws(CaravanError) {
        try db.savepoint { () throws(CaravanError) in
          try db.run("INSERT INTO t(a) VALUES (2)")
          throw refusal
        }
      } catch { #expect(error == refusal) }
      try db.savepoint { () throws(CaravanError) in try db.run("INSERT INTO t(a) VALUES (3)") }
    }
    #expect(try db.all("SELECT a FROM t") { $0.integer(0) } == [1, 3])
  }

  @Test("failures have the codes that callers act on")
  func failures() throws {
    let db = try connection()
    func code(_ body: () throws(CaravanError) -> Void) -> ErrorCode? {
      do throws(CaravanError) { try body() } catch { return error.code }
      return nil
    }
    #expect(code { () throws(CaravanError) in _ = try db.prepare("SELECT nothing FROM t") } == .invalidData)
    #expect(code { () throws(CaravanError) in _ = try db.prepare("-- nothing") } == .invalidData)
    #expect(
      code { () throws(CaravanError) in try db.run("INSERT INTO t(id, a) VALUES (?, ?)", 1, 2, 3) } == .invalidData)
    let absent = #expect(throws: CaravanError.self) { try Connection(.file("/nowhere/at/all.db")) }
    #expect(absent?.code == .storageFull && absent?.message.contains("see that it is there") == true)
    try db.execute("PRAGMA max_page_count=3")
    #expect(
      code { () throws(CaravanError) in try db.run("INSERT INTO t(a) VALUES (?)", [UInt8](repeating: 0, count: 99_999))
      }
        == .storageFull)
    #expect(db.lastFailure?.kind == .diskRefused)
  }

  @Test("a file that is no database is said to be damaged")
  func damaged() async throws {
    try await withTemporaryDirectory { path in
      do {
        let db = try Connection(.file("\(path)/a.db"))
        try db.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        #expect(try db.integrityProblems().isEmpty)
        try db.checkpoint(.truncate)
      }
      let file = try #require(fopen("\(path)/a.db", "r+"))
      fputs("no database at all, only text", file)
      fclose(file)
      let error = #expect(throws: CaravanError.self) { try Connection(.file("\(path)/a.db")) }
      #expect(error?.code == .internalError && error?.message.contains("damaged") == true)
    }
  }

  @Test("the authorizer sees every part of a stranger's statement and can refuse it")
  func authorizer() throws {
    let db = try connection()
    try db.execute("CREATE TABLE secret(s)")
    func prepare(_ condition: String) throws -> Statement {
      try db.prepare("SELECT id FROM t WHERE \(condition)") { request in
        switch request {
        case .select, .read(table: "t", _), .function(name: "length"): .allow
        default: .deny
        }
      }
    }
    _ = try prepare("length(a) = 1 AND b IN (1, 2)")
    for condition in [
      "a = (SELECT s FROM secret)", "load_extension('x')", "id IN (SELECT rowid FROM sqlite_master)", "random() = 1",
      "a IN (WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r) SELECT x FROM r)",
    ] {
      let error = #expect(throws: CaravanError.self, "\(condition)") { try prepare(condition) }
      #expect(error?.code == .invalidData)
    }
    try db.run("INSERT INTO secret VALUES (1)")
  }

  private static let endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r"

  @Test("a progress handler stops an endless statement, and the connection goes on")
  func progress() throws {
    let db = try connection()
    var asked = 0
    db.setProgressHandler(everySteps: 1_000) {
      asked += 1
      return asked < 20 ? .goOn : .stop
    }
    let error = #expect(throws: CaravanError.self) { try db.prepare(Self.endless).run() }
    #expect(error?.code == .cancelled && asked == 20)
    db.setProgressHandler(everySteps: 0, nil)
    try db.run("INSERT INTO t(a) VALUES (1)")
  }

  @Test("an interrupter stops a statement from elsewhere; after closing it does nothing")
  func interruption() throws {
    let db = try connection()
    let interrupter = db.interrupter
    db.setProgressHandler(everySteps: 1_000) {
      interrupter.interrupt()
      return .goOn
    }
    let error = #expect(throws: CaravanError.self) { try db.prepare(Self.endless).run() }
    #expect(error?.code == .cancelled)
    db.close()
    interrupter.interrupt()
  }

  @Test("statements of run-time text are kept, but not without bound")
  func texts() throws {
    let db = try connection()
    for number in 0..<1_000 {
      #expect(try db.statement(text: "SELECT \(number)").first { $0.integer(0) } == Int64(number))
    }
    let one = try db.statement(text: "SELECT 1 AS one")
    #expect(try db.statement(text: "SELECT 1 AS one") === one && one.columnName(0) == "one" && one.isReadOnly)
  }

  @Test("a lock on a directory is one owner's until released")
  func directoryLock() async throws {
    try await withTemporaryDirectory { path in
      let lock = try DirectoryLock("\(path)/new")
      let error = #expect(throws: CaravanError.self) { try DirectoryLock("\(path)/new") }
      #expect(error?.code == .unavailable)
      lock.release()
      lock.release()
      _ = try DirectoryLock("\(path)/new")
      #expect { try DirectoryLock("/proc/nothing") } throws: { ($0 as? CaravanError)?.code == .invalidData }
    }
  }
}
