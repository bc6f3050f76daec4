import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: no two changes of cloud records ever have one number, and one that may still be asked for again is known by it
/// (UNI-07). Method: stores that are crashed, put back, and left for hours.
@Suite struct ChangeNumberTests {
  private static func refusal(_ work: () async throws -> Void) async -> ErrorCode? {
    do { try await work() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  @Test("UNI-07: numbers follow each other, for each app by itself, and a crash takes none back")
  func grow() async throws {
    try await StoreFixture.with { f in
      let other = ContainerID(unchecked: "other")
      let first = try await f.store.reserveNumbers(3, for: StoreFixture.app)
      let second = try await f.store.reserveNumbers(1, for: StoreFixture.app)
      #expect(second.first >= first.first + 3 && second.epoch == first.epoch)
      #expect(try await f.store.reserveNumbers(400, for: other).first <= first.first)
      #expect(await Self.refusal { _ = try await f.store.reserveNumbers(0, for: other) } == .limitExceeded)
      #expect(await Self.refusal { _ = try await f.store.reserveNumbers(401, for: other) } == .limitExceeded)
      try await f.crash()
      #expect(try await f.store.reserveNumbers(1, for: StoreFixture.app).first > second.first)
      try await f.store.checkNumbers([first.first, second.first], epoch: first.epoch, of: StoreFixture.app)
    }
  }

  @Test("UNI-07: numbers that were never given, of another epoch, or of an hour ago are refused")
  func outdated() async throws {
    let clock = ManualClock(epoch: WallTime(milliseconds: 1_800_000_000_000))
    try await StoreFixture.with(clock: clock) { f in
      let numbers = try await f.store.reserveNumbers(2, for: StoreFixture.app)
      func check(_ list: [UInt64], epoch: UInt64? = nil) async -> ErrorCode? {
        await Self.refusal {
          try await f.store.checkNumbers(list, epoch: epoch ?? numbers.epoch, of: StoreFixture.app)
        }
      }
      #expect(await check([numbers.first, numbers.first + 1]) == nil)
      #expect(await check([numbers.first + 2]) == .noOperationId)
      #expect(await check([0]) == .noOperationId)
      #expect(await check([numbers.first], epoch: numbers.epoch + 1) == .noOperationId)
      let patience = Duration.milliseconds(Int64(EngineLimits.changesRemembered))
      clock.advance(by: patience - .seconds(1))
      #expect(await check([numbers.first]) == nil)
      clock.advance(by: .seconds(2))
      #expect(await check([numbers.first]) == .noOperationId)
      let fresh = try await f.store.reserveNumbers(1, for: StoreFixture.app)
      try await f.store.beginEpoch()
      #expect(await check([fresh.first], epoch: fresh.epoch) == .noOperationId)
    }
  }

  @Test("UNI-07: a store that was put back to an older state gives out no number a second time")
  func putBack() async throws {
    let clock = ManualClock(epoch: WallTime(milliseconds: 1_800_000_000_000))
    var last: UInt64 = 0
    for _ in 0..<2 {
      // Each time a store that knows nothing of the one before.
      try await StoreFixture.with(clock: clock) { f in
        let first = try await f.store.reserveNumbers(400, for: StoreFixture.app).first
        #expect(first > last)
        last = first + 399
      }
      clock.advance(by: .seconds(1))
    }
  }
}
