import CaravanModel
import CaravanStorageCore
import CaravanStore
import Testing

/// Goal: the decisions of storage, without a store. Method: values in, values out.
@Suite struct CoreTests {
  private func change(_ position: UInt64, _ bytes: Int, in number: UInt32 = 1) throws -> CommittedChange {
    let zone = try StorageBench.zone()
    let log = LoggedCommit(position: position, zone: zone, low: 0, high: 1, incarnation: 1, writer: "phone")
    let entry = Entry(name: "r", version: 1, created: 1, body: [UInt8](repeating: 0, count: bytes), writer: "phone")
    return CommittedChange(partition: try Partition(number), log: log, entries: [entry])
  }

  @Test("hints are few, of one partition each, in order, and say where a gap is")
  func plan() throws {
    let hints = ChangeEvent.plan(
      try [
        change(1, 10), change(7, 10, in: 2), change(2, 10), change(3, 8_000), change(4, 9_000), change(5, 70_000),
        change(6, 10), change(9, 10),
      ])
    let first = hints.filter { $0.partition.number == 1 }
    #expect(first.map { $0.changes.map(\.log.position) } == [[1, 2, 3], [4, 5], [6], [9]])
    #expect(first.map(\.previous) == [0, 3, 5, 8])
    #expect(first.map(\.carriesEntries) == [true, false, true, true])
    #expect(hints.filter { $0.partition.number == 2 }.map(\.previous) == [6])
    let many = try (1...1_200).map { try change($0, 1) }
    #expect(ChangeEvent.plan(many).map(\.changes.count) == [512, 512, 176])
    let full = try (1...12).map { try change($0, 8_000) }
    #expect(ChangeEvent.plan(full).map(\.changes.count) == [8, 4], "64 KiB of entries")
    // CK-100: of a commit in another store it is not said here what it wrote; nobody must think that it was nothing.
    var elsewhere = try change(2, 0)
    (elsewhere.entries, elsewhere.hasEntries) = ([], false)
    let mixed = ChangeEvent.plan([try change(1, 1), elsewhere, try change(3, 1)])
    #expect(mixed.map { $0.changes.map(\.log.position) } == [[1], [2], [3]])
    #expect(mixed.map(\.carriesEntries) == [true, false, true])
  }

  @Test("a ticket's allowance is used up over many requests; the ledger stays within its bound")
  func ledger() throws {
    var ledger = TicketLedger(capacity: 4)
    try ledger.use(60, of: [1], allowing: 100, expires: 10, now: 0)
    #expect(throws: CaravanError.self) { try ledger.use(41, of: [1], allowing: 100, expires: 10, now: 0) }
    try ledger.use(40, of: [1], allowing: 100, expires: 10, now: 0)
    try ledger.use(0, of: [1], allowing: 100, expires: 10, now: 0)
    for number in UInt8(2)...50 { try ledger.use(1, of: [number], allowing: 1, expires: 100 + Int64(number), now: 20) }
    #expect(ledger.count <= 4)
    #expect(throws: CaravanError.self) { try ledger.use(1, of: [50], allowing: 1, expires: 150, now: 20) }
  }

  @Test("a request may ask for as much as its limit says, and for no more")
  func limits() throws {
    let hash = try #require(ChunkHash([UInt8](repeating: 1, count: ChunkHash.byteCount)))
    func isTaken(_ check: () throws(CaravanError) -> Void) -> Bool { (try? check()) != nil }
    for (extra, taken) in [(0, true), (1, false)] {
      let names = (0..<(StoreLimits.fetchedNames + extra)).map { "r\($0)" }
      #expect(isTaken { () throws(CaravanError) in try RequestRules.check(names: names) } == taken)
      func hashes(_ count: Int) -> [ChunkHash] { Array(repeating: hash, count: count + extra) }
      let asked = hashes(StoreLimits.hashesPerRequest)
      #expect(isTaken { () throws(CaravanError) in try RequestRules.check(hashes: asked) } == taken)
      let parts = hashes(Limits.chunksPerFrame)
      #expect(isTaken { () throws(CaravanError) in try RequestRules.check(parts: parts) } == taken)
    }
  }

  @Test("0 asks for as much as allowed; more than allowed is cut")
  func bounded() {
    #expect([0, 5, 99].map { RequestRules.bounded($0, by: 50) } == [50, 5, 50])
  }
}
