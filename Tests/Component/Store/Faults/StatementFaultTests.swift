import CaravanModel
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: whichever step of whichever SQL statement fails, the call did nothing and says so, the same call again does
/// all of it, and the store goes on (I1, I7, R4). Method: step n fails, for all n, of every operation; SQLite leaves
/// the transaction open, as it does for some failures, or ends it, as it does for others.
@Suite(.timeLimit(.minutes(5))) struct StatementFaultTests {
  /// Both endings of each step, or one of them in turn.
  static let isLong = ProcessInfo.processInfo.environment["CARAVAN_LONG"] != nil

  @Test("I1, I7: step n of an operation fails, for all n", arguments: StoreOperation.all + StoreOperation.maintenance)
  func everyStep(operation: StoreOperation) async throws {
    let tap = FaultySteps()
    var options = StoreOptions.simulation(.memory)
    options.statements = tap
    let bench = StoreBench(.sqlite(options))
    try await bench.open()
    let faults = try await Self.enumerate(operation, bench, tap)
    #expect(faults >= 4, "the tap was asked")
    await bench.close()
  }

  @Test("I1: step n of a read fails on a connection that only reads, for all n", arguments: StoreOperation.reads)
  func everyStepOfReader(operation: StoreOperation) async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      let tap = FaultySteps()
      var options = StoreOptions.simulation(.directory(path))
      (options.statements, options.readersPerFile) = (tap, 1)
      let bench = StoreBench(.sqlite(options))
      try await bench.open()
      #expect(try await Self.enumerate(operation, bench, tap) >= 3, "the tap was asked")
      await bench.close()
      // A statement left open would hold its snapshot, and the log could not be emptied.
      let db = try Connection(.file("\(path)/store-0.db"))
      let pages = try db.checkpoint(.truncate)
      #expect(pages.logged == pages.written)
      #expect(try db.integrityProblems() == [])
      db.close()
    }
  }

  /// - Returns: faults that were met.
  private static func enumerate(_ operation: StoreOperation, _ bench: StoreBench, _ tap: FaultySteps) async throws
    -> Int
  {
    let ideal = try await Ideal(operation, StoreOperation.Place(bench.store, "ideal", bench.clock))
    for step in 0..<2_000 {
      let fates: [StatementFate] =
        isLong ? [.fails, .failsAndRollsBack] : [step.isMultiple(of: 2) ? .fails : .failsAndRollsBack]
      for fate in fates {
        let place = try StoreOperation.Place(bench.store, "u\(step)-\(fate == .fails ? "a" : "b")", bench.clock)
        try await operation.prepare(place)
        tap.arm(step, fate, twice: step % 4 < 2)
        let answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
        guard let failed = tap.disarm() else {
          try await ideal.expect(answer, at: place, "without a fault")
          try await ideal.expectProof(at: place, "without a fault")
          return step
        }
        let context = "step \(step), \(fate), of '\(failed)'"
        try await ideal.expectAfterFault(answer, at: place, context)
        if case .failure = answer {
          try await ideal.expect(
            await Result.of { () throws(CaravanError) in try await operation.act(place) }, at: place, context)
        }
        try await ideal.expectProof(at: place, context)
        try await place.commit(77, [Sample.save("after")])
      }
    }
    Issue.record("\(operation) has no end")
    return 0
  }
}

extension Result where Failure == CaravanError {
  static func of(_ body: () async throws(CaravanError) -> Success) async -> Self {
    do throws(CaravanError) { return .success(try await body()) } catch { return .failure(error) }
  }
}

/// What an operation does where nothing goes wrong.
struct Ideal: Sendable {
  let operation: StoreOperation
  let before: String
  let after: String
  let answer: String
  let proof: String

  init(_ operation: StoreOperation, _ place: StoreOperation.Place) async throws {
    self.operation = operation
    try await operation.prepare(place)
    before = try await place.state()
    answer = try await operation.act(place)
    after = try await place.state()
    proof = try await operation.prove(place)
  }

  func expectProof(at place: StoreOperation.Place, _ context: String) async throws {
    let proof = try await operation.prove(place)
    #expect(proof == self.proof, "\(context)")
  }

  func expect(_ answer: Result<String, CaravanError>, at place: StoreOperation.Place, _ context: String) async throws {
    #expect(answer == .success(self.answer), "\(context)")
    let state = try await place.state()
    #expect(state == after, "\(context)")
  }

  /// The fault was met inside, or the call did nothing and may be made again.
  func expectAfterFault(_ answer: Result<String, CaravanError>, at place: StoreOperation.Place, _ context: String)
    async throws
  {
    switch answer {
    case .success: try await expect(answer, at: place, context)
    case .failure(let error):
      #expect(error.isTransient, "\(context): \(error)")
      let state = try await place.state()
      #expect(state == before, "\(context) did something")
    }
  }
}
