import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: what is no store of this kind is refused with what helps, and is left as it was. Method: directories by hand.
@Suite struct StoreFilesTests {
  private static func refusal(_ work: () async throws -> Void) async -> CaravanError? {
    do {
      try await work()
      return nil
    } catch { return error as? CaravanError }
  }

  @Test("a snapshot of a directory without a store is refused, and makes none")
  func nothing() async throws {
    try await withTemporaryDirectory { path in
      let refusal = await Self.refusal { _ = try SQLiteSnapshot(path) }
      #expect(refusal != nil)
      let left = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(left.isEmpty)
    }
  }

  @Test("a store opens with as many files as it was made with, and says how many those are")
  func files() async throws {
    try await withTemporaryDirectory { path in
      func open(files: Int) async throws {
        var options = StoreOptions(.directory(path))
        (options.files, options.durability) = (files, .none)
        let bench = StoreBench(.sqlite(options))
        try await bench.open()
        await bench.close()
      }
      try await open(files: 2)
      for files in [1, 3] {
        let refusal = await Self.refusal { try await open(files: files) }
        #expect(refusal?.code == .invalidData && refusal?.message.contains("--files 2") == true)
      }
      try await open(files: 2)
    }
  }
}
