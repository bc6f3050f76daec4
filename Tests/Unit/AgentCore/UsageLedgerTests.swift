import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a link's budget of a day is never exceeded, whatever dies when; and every byte is somebody's. Method: the
/// value by hand, then random messages, crashes and midnights beside a count of their own.
@Suite struct UsageLedgerTests {
  private static let day = UsageLedger.dayMilliseconds
  private static let table = TableID(app: ContainerID(unchecked: "photos"), name: "album")
  private static let other = TableID(app: ContainerID(unchecked: "notes"), name: "notes")

  /// Reserves as the meter does, writing grants down.
  private func reserve(
    _ ledger: inout UsageLedger, _ bytes: UInt64, at wall: Int64 = 0, saved: inout [LinkClass: UInt64]
  ) -> UsageLedger.Reservation? {
    while true {
      switch ledger.reserve(bytes, on: .cellular, at: wall) {
      case .granted(let reservation): return reservation
      case .needsGrant(let link, let day, let bytes):
        saved[link] = bytes
        ledger.grant(bytes, on: link, day: day)
      case .occupied, .refused: return nil
      }
    }
  }

  @Test("MOB-47: what is reserved and not yet settled counts; what is refused is refused whole")
  func reservations() {
    var saved: [LinkClass: UInt64] = [:]
    var ledger = UsageLedger(budgets: [.cellular: 1_000])
    let first = reserve(&ledger, 600, saved: &saved)
    #expect(first != nil)
    #expect(ledger.left(of: .cellular) == 400)
    #expect(ledger.reserve(401, on: .cellular, at: 0) == .occupied, "the first may take less than it could")
    #expect(ledger.reserve(1_001, on: .cellular, at: 0) == .refused(left: 400))
    #expect(reserve(&ledger, 400, saved: &saved) != nil)
    if let first { ledger.settle(first, UsageLedger.Bytes(up: 100, down: 50)) }
    #expect(ledger.left(of: .cellular) == 450)
    #expect(ledger.left(of: .wifi) == nil)
    #expect(saved[.cellular] == 1_000)
  }

  @Test("UNI-21: a new day gives a new budget; a clock put back gives none")
  func days() {
    var saved: [LinkClass: UInt64] = [:]
    var ledger = UsageLedger(budgets: [.cellular: 1_000])
    let all = reserve(&ledger, 1_000, at: 10 * Self.day, saved: &saved)
    #expect(reserve(&ledger, 1, at: 10 * Self.day + 5, saved: &saved) == nil)
    if let all { ledger.settle(all, UsageLedger.Bytes(up: 1_000)) }
    #expect(ledger.untilTomorrow(from: 10 * Self.day + 5) == Self.day - 5)
    #expect(reserve(&ledger, 1, at: 9 * Self.day, saved: &saved) == nil)
    #expect(reserve(&ledger, 1_000, at: 11 * Self.day, saved: &saved) != nil)
    #expect(reserve(&ledger, 1, at: 10 * Self.day, saved: &saved) == nil)
  }

  @Test("MOB-47: what is on its way at midnight counts for the new day, and leaves room once it is there")
  func midnight() {
    var saved: [LinkClass: UInt64] = [:]
    var ledger = UsageLedger(budgets: [.cellular: 1_000])
    let late = reserve(&ledger, 600, at: 10 * Self.day, saved: &saved)
    #expect(reserve(&ledger, 401, at: 11 * Self.day, saved: &saved) == nil)
    if let late { ledger.settle(late, UsageLedger.Bytes(up: 100)) }
    #expect(ledger.left(of: .cellular) == 900)
  }

  @Test("UNI-21: a clock that was years ahead keeps nobody waiting for years, and gives no budget twice")
  func wrongClock() {
    var saved: [LinkClass: UInt64] = [:]
    var ledger = UsageLedger(budgets: [.cellular: 1_000])
    let early = reserve(&ledger, 1_000, at: 5_000 * Self.day, saved: &saved)
    if let early { ledger.settle(early, UsageLedger.Bytes(up: 1_000)) }
    #expect(reserve(&ledger, 1, at: 10 * Self.day, saved: &saved) == nil)
    #expect(ledger.untilTomorrow(from: 10 * Self.day) == Self.day)
    #expect(reserve(&ledger, 1_000, at: 11 * Self.day, saved: &saved) != nil)
  }

  @Test(
    "Accounts: a frame of many tables is shared by weight, what is nobody's is the device's, and nothing is left out")
  func accounts() {
    var ledger = UsageLedger()
    ledger.record(
      .init(up: 1_001, down: 500), on: .wifi,
      shares: .init(tables: [Self.table: .init(up: 300, down: 1), Self.other: .init(up: 100, down: 0)]))
    ledger.record(.init(down: 9), on: .wifi)
    #expect(ledger.accounts[.init(link: .wifi, table: Self.table)] == .init(up: 750, down: 500))
    #expect(ledger.accounts[.init(link: .wifi, table: Self.other)] == .init(up: 250, down: 0))
    #expect(ledger.accounts[.init(link: .wifi, table: nil)] == .init(up: 1, down: 9))
    #expect(ledger.spent[.wifi] == 1_510)
    let unsaved = ledger.takeUnsaved()
    #expect(unsaved.accounts == ledger.accounts)
    #expect(!ledger.hasUnsaved)
  }

  @Test("TRU-17: what a table has carried since it was made counts on over days and failed writes to the disk")
  func totals() {
    var ledger = UsageLedger(totals: [Self.table: .init(up: 5, down: 6)])
    let shares = UsageLedger.Shares(tables: [Self.table: .init(up: 3, down: 1)], device: .init(up: 1))
    ledger.record(.init(up: 400, down: 10), on: .wifi, shares: shares)
    ledger.look(at: 3 * Self.day)
    let taken = ledger.takeUnsaved()
    #expect(taken.totals == [Self.table: .init(up: 300, down: 10)] && taken.accounts.isEmpty)
    ledger.putBack(taken)
    ledger.record(.init(up: 7), on: .cellular, shares: .whole(Self.table))
    #expect(ledger.takeUnsaved().totals == [Self.table: .init(up: 307, down: 10)])
    #expect(ledger.totals == [Self.table: .init(up: 312, down: 16)])
    #expect(ledger.deviceTotal == .init(up: 100))
    ledger.forget(Self.table)
    #expect(ledger.totals.isEmpty && !ledger.hasUnsaved)
  }

  @Test("I13: no day's traffic exceeds its budget, through crashes and restarts")
  func neverExceeded() {
    for seed: UInt64 in 1...60 {
      let dice = SeededRandom(seed: seed)
      let budget = 1_000 + dice.below(3_000_000)
      var ledger = UsageLedger(budgets: [.cellular: budget])
      var grants: [LinkClass: UInt64] = [:]
      var flying: [(reservation: UsageLedger.Reservation, bytes: UInt64)] = []
      var onWire: UInt64 = 0
      for day: Int64 in 0..<4 {
        for step in 0..<200 {
          let wall = day * Self.day + Int64(step)
          switch dice.below(20) {
          case 0:
            // A crash: what was on its way may have been carried, and nobody counted it.
            onWire += flying.reduce(0) { $0 + $1.bytes }
            flying = []
            ledger = UsageLedger(budgets: [.cellular: budget], day: day, grants: grants)
          case 1...12:
            let bytes = 1 + dice.below(60_000)
            guard let reservation = reserve(&ledger, bytes, at: wall, saved: &grants) else { continue }
            flying.append((reservation, bytes))
          default:
            guard !flying.isEmpty else { continue }
            let (reservation, most) = flying.remove(at: Int(dice.below(UInt64(flying.count))))
            let bytes = dice.below(most + 1)
            onWire += bytes
            ledger.settle(reservation, .init(up: bytes))
          }
          #expect(onWire <= budget, "seed \(seed)")
        }
        // Midnight finds nothing on its way.
        for (reservation, bytes) in flying {
          onWire += bytes
          ledger.settle(reservation, .init(up: bytes))
        }
        #expect(onWire <= budget, "seed \(seed)")
        (flying, grants, onWire) = ([], [:], 0)
      }
    }
  }
}
