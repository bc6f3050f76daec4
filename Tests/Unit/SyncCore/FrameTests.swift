import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// What is decided of a frame as a whole.
@Suite struct FrameTests {
  private func code(_ body: () throws(CaravanError) -> Void) -> ErrorCode? {
    do throws(CaravanError) { try body() } catch { return error.code }
    return nil
  }

  @Test("A frame says its plain size, within the limit, before it is opened")
  func envelope() {
    let limit = Limits.frameBytes
    func check(_ plain: Int, _ body: Int, _ isCompressed: Bool) -> ErrorCode? {
      code { () throws(CaravanError) in
        try FrameCheck.envelope(plainBytes: plain, bodyBytes: body, isCompressed: isCompressed)
      }
    }
    #expect(check(limit, 100, true) == nil)
    #expect(check(limit + 1, 100, true) == .limitExceeded)
    #expect(check(100, limit + 1, true) == .limitExceeded)
    #expect(check(100, 100, false) == nil)
    #expect(check(100, 99, false) == .invalidData)
    #expect(code { () throws(CaravanError) in try FrameCheck.plain(99, stated: 100) } == .invalidData)
    #expect(code { () throws(CaravanError) in try FrameCheck.message(bytes: limit + 200) } == .limitExceeded)
  }

  @Test("512 operations are a frame, 513 are not, and neither are more parts than its bytes fill")
  func operations() {
    #expect(code { () throws(CaravanError) in try FrameCheck.parts(Limits.chunksPerFrame) } == nil)
    #expect(
      code { () throws(CaravanError) in try FrameCheck.parts(Limits.chunksPerFrame + 1) } == .limitExceeded)
    func decode(_ count: Int) throws(CaravanError) {
      _ = try Exchange.decode(Exchange(operations: Array(repeating: CaravanWire.Operation(), count: count)).encoded())
    }
    #expect(code { () throws(CaravanError) in try decode(Limits.operationsPerFrame) } == nil)
    #expect(code { () throws(CaravanError) in try decode(Limits.operationsPerFrame + 1) } == .limitExceeded)
  }

  @Test("SIM-94: operations of one zone stay in order, those of other zones and apps run beside them")
  func lanes() {
    let (a, b) = (OperationScope.zone(container: "x", zone: "z"), OperationScope.zone(container: "y", zone: "z"))
    #expect(Lanes.plan([a, b, .session, a, .types(container: "x"), b, .session]) == [[0, 3], [1, 5], [2, 6], [4]])
    #expect(Lanes.plan([]) == [])
  }

  @Test("An answer to a push is reckoned with what each outcome takes and with the bytes of its rows")
  func estimate() {
    #expect(ReplyBudget.estimate(mutations: 3, bytes: 1_000) == 3 * SyncLimits.outcomeBytes + 1_000)
  }

  /// What a reply budget says to a sequence of requests.
  private final class Account {
    private var budget: ReplyBudget
    init(operations: Int, pulls: Int, setAside: Int = 0) {
      budget = ReplyBudget(operations: operations, pulls: pulls, setAside: setAside)
    }
    func take(_ wanted: Int) -> Int? { budget.take(wanted) }
    func settle(_ taken: Int, _ needed: Int) -> Bool { settle(taken, needed, least: needed) != nil }
    func settle(_ taken: Int, _ needed: Int, least: Int) -> Int? {
      budget.settle(taken: taken, needed: needed, least: least)
    }
  }

  @Test("Pulls share what pushes leave, evenly; what one does not use goes to those after it")
  func budget() throws {
    let account = Account(operations: 4, pulls: 3, setAside: 1_000)
    let room = Limits.frameBytes - 4 * SyncLimits.replyBytesPerOperation - 1_000
    let first = try #require(account.take(Limits.frameBytes))
    #expect(first == room / 3)
    #expect(account.settle(first, 10))
    let second = try #require(account.take(Limits.frameBytes))
    #expect(second == (room - 10) / 2)
    #expect(account.take(500) == 500, "no more than was asked for")
    #expect(account.settle(second, second))
    #expect(account.settle(500, room - 10 - second))
    #expect(!account.settle(0, 1))
    #expect(account.settle(1_000, 5_000, least: 900) == 1_000, "a push has its own room in any case")
  }

  @Test("A page larger than its room is not sent when the frame is full, and nothing is lost from the account")
  func oversizedPage() {
    let account = Account(operations: 1, pulls: 1)
    #expect(account.take(8_192) == 8_192)
    #expect(!account.settle(8_192, Limits.frameBytes))
    #expect(account.settle(0, Limits.frameBytes - SyncLimits.replyBytesPerOperation))
  }

  @Test("A frame of nothing but pulls has room for each; one whose pushes need all of it tells its pulls to come again")
  func extremes() {
    let pulls = Account(operations: Limits.operationsPerFrame, pulls: Limits.operationsPerFrame)
    for _ in 0..<Limits.operationsPerFrame { #expect(pulls.take(Limits.pageBytes) != nil) }
    #expect(Account(operations: 2, pulls: 1, setAside: 2 * Limits.frameBytes).take(Limits.pageBytes) == nil)
  }

  @Test("Transient refusals say when to come back; the device's own mistakes pass unchanged")
  func refusals() {
    for code in ErrorCode.allCases where code != .storageFull && code != .internalError {
      let error = CaravanError(code, "x")
      let mapped = error.forDevice(retryAfter: 9)
      #expect((mapped.retryAfterMilliseconds != nil) == error.isTransient, "\(code)")
      #expect(mapped.code == code && mapped.message == "x")
    }
    let timed = CaravanError(.serverBusy, "x", retryAfterMilliseconds: 7)
    #expect(timed.forDevice(retryAfter: 9) == timed)
  }

  @Test("TRU-11: what the cloud lacks is not the device's to repair; the log has the reason, now and then")
  func ofTheCloud() {
    let log = MemoryLogSink()
    let clock = ManualClock()
    let live = Host.live(logLevel: .error)
    let host = Host(
      clock: clock, random: live.random, executors: live.executors, log: Log(level: .warning, clock: clock, sink: log),
      metrics: MetricsRegistry())
    let refusals = DeviceRefusals(host, retryAfter: 9)
    let reason = "cannot write '/srv/caravan/storage/store-0.db' (No space left on device): free some space"
    for _ in 0..<5 {
      let told = refusals.told(CaravanError(.storageFull, reason))
      #expect(told.code == .unavailable && told.isTransient && told.retryAfterMilliseconds ?? 0 >= 1_000)
      #expect(!told.message.contains("/") && told.message.contains("cloud"))
      #expect(refusals.told(CaravanError(.internalError, reason)).message.contains("/") == false)
    }
    #expect(log.records.count == 1 && log.records.contains { "\($0.fields.json)".contains("store-0.db") })
    clock.advance(by: .seconds(11))
    _ = refusals.told(CaravanError(.storageFull, reason))
    #expect(log.records.count == 2)
  }
}
