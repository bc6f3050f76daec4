package import CaravanModel

/// How much may wait for a writer, and how much of it goes into one transaction.
package struct WriteQueueLimits: Sendable, Hashable {
  /// More writes are answered `serverBusy`.
  package var waitingWrites: Int
  package var waitingBytes: Int
  /// Of one transaction, so that nobody waits behind more than this.
  package var groupWrites: Int
  package var groupBytes: Int

  package init(waitingWrites: Int, waitingBytes: Int, groupWrites: Int, groupBytes: Int) {
    self.waitingWrites = waitingWrites
    self.waitingBytes = waitingBytes
    self.groupWrites = groupWrites
    self.groupBytes = groupBytes
  }
}

/// Writes that wait for one writer, oldest first, within bounds.
package struct WriteQueue<Write: Sendable>: Sendable {
  private struct Waiting {
    let write: Write
    let bytes: Int
  }

  private let limits: WriteQueueLimits
  /// What the writes wait for.
  private let writer: String
  private let byteCount: @Sendable (Write) -> Int
  private var waiting: [Waiting] = []
  private var bytes = 0

  package init(for writer: String, _ limits: WriteQueueLimits, byteCount: @escaping @Sendable (Write) -> Int) {
    self.writer = writer
    self.limits = limits
    self.byteCount = byteCount
  }

  /// - Throws: `serverBusy` when too much waits already.
  package mutating func append(_ write: Write) throws(CaravanError) {
    let added = Waiting(write: write, bytes: byteCount(write))
    let fits =
      waiting.count < limits.waitingWrites && (waiting.isEmpty || bytes + added.bytes <= limits.waitingBytes)
    guard fits else {
      throw CaravanError(.serverBusy, "too many writes wait for \(writer): retry", retryAfterMilliseconds: 50)
    }
    waiting.append(added)
    bytes += added.bytes
  }

  /// The next group: at least one if any waits.
  package mutating func takeGroup() -> [Write] {
    var count = 0
    var taken = 0
    for next in waiting.prefix(limits.groupWrites) {
      if count > 0, taken + next.bytes > limits.groupBytes { break }
      count += 1
      taken += next.bytes
    }
    let group = waiting.prefix(count).map { $0.write }
    waiting.removeFirst(count)
    bytes -= taken
    return group
  }

  /// Writes that were taken and must wait again, before all others.
  package mutating func putBack(_ group: [Write]) {
    let returned = group.map { Waiting(write: $0, bytes: byteCount($0)) }
    waiting.insert(contentsOf: returned, at: 0)
    bytes += returned.reduce(0) { $0 + $1.bytes }
  }

  /// - Returns: false when no such write waits here: somebody works on it, or it is done.
  package mutating func withdraw(where isIt: (Write) -> Bool) -> Bool {
    guard let index = waiting.firstIndex(where: { isIt($0.write) }) else { return false }
    bytes -= waiting.remove(at: index).bytes
    return true
  }
}
