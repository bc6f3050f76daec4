import CaravanModel
import CaravanStore
import Testing

/// Goal: what waits for a writer, and what goes into one transaction, is bounded. Method: writes that are their sizes.
@Suite struct WriteQueueTests {
  private func queue(holding sizes: Int...) throws -> WriteQueue<Int> {
    let limits = WriteQueueLimits(waitingWrites: 4, waitingBytes: 100, groupWrites: 3, groupBytes: 50)
    var queue = WriteQueue<Int>(for: "the test", limits) { $0 }
    for size in sizes { try queue.append(size) }
    return queue
  }

  @Test("too many and too large are busy, but what is larger than all waits alone")
  func bounds() throws {
    var many = try queue(holding: 1, 2, 3, 4)
    let busy = #expect(throws: CaravanError.self) { try many.append(5) }
    #expect(busy?.code == .serverBusy && busy?.message == "too many writes wait for the test: retry")
    var large = try queue(holding: 60)
    #expect(throws: CaravanError.self) { try large.append(41) }
    try large.append(40)
    var giant = try queue(holding: 1_000)
    #expect(throws: CaravanError.self) { try giant.append(1) }
    #expect(giant.takeGroup() == [1_000])
    try giant.append(1)
  }

  @Test("a group is the oldest that fit together")
  func groups() throws {
    var few = try queue(holding: 1, 2, 3, 4)
    #expect(few.takeGroup() == [1, 2, 3] && few.takeGroup() == [4] && few.takeGroup() == [])
    var large = try queue(holding: 30, 20, 1, 49)
    #expect(large.takeGroup() == [30, 20] && large.takeGroup() == [1, 49])
  }

  @Test("what is put back comes first, and counts again; what is withdrawn does not")
  func returning() throws {
    var queue = try queue(holding: 30, 20, 40)
    let group = queue.takeGroup()
    try queue.append(10)
    queue.putBack(group)
    #expect(throws: CaravanError.self) { try queue.append(1) }
    #expect(queue.withdraw { $0 == 40 } && !queue.withdraw { $0 == 40 })
    try queue.append(40)
    #expect(queue.takeGroup() == group && queue.takeGroup() == [10, 40])
  }
}
