package import CaravanModel
package import CaravanStore

/// One message of the change stream: commits of one partition, contiguous, in order.
package struct ChangeEvent: Sendable, Hashable {
  package let partition: Partition
  /// Position before the first of `changes`: a consumer elsewhere sees a gap.
  package let previous: UInt64
  package private(set) var changes: [CommittedChange]
  /// Whether the entries ride along.
  package let carriesEntries: Bool
  private var bytes: Int

  private init(_ change: CommittedChange, bytes: Int) {
    precondition(change.log.position > 0, "the positions of a log begin with 1")
    partition = change.partition
    previous = change.log.position - 1
    changes = [change]
    carriesEntries = Self.rideAlong(change, bytes)
    self.bytes = bytes
  }

  /// More than a notification can carry would be carried for nobody.
  private static func rideAlong(_ change: CommittedChange, _ bytes: Int) -> Bool {
    change.hasEntries && bytes <= StorageLimits.announcedBytes
  }

  /// - Returns: false when the change does not fit here or does not follow.
  private mutating func append(_ change: CommittedChange, bytes more: Int) -> Bool {
    precondition(change.partition == partition, "a change event is about one partition")
    let follows = changes.last.map { $0.log.position + 1 == change.log.position } ?? false
    guard
      follows, changes.count < StorageLimits.commitsPerHint, carriesEntries == Self.rideAlong(change, more),
      !carriesEntries || bytes + more <= StorageLimits.hintBytes
    else { return false }
    changes.append(change)
    bytes += more
    checkInvariants()
    return true
  }

  private func checkInvariants() {
    precondition(changes.count <= StorageLimits.commitsPerHint, "a change event of \(changes.count) commits")
    precondition(
      !carriesEntries || bytes <= StorageLimits.hintBytes, "a change event carries \(bytes) bytes of entries")
    precondition(
      changes.last?.log.position == previous + UInt64(changes.count),
      "the commits of a change event have a gap between them")
  }

  /// As few change events as say it all; those of one partition stay in order.
  package static func plan(_ changes: some Sequence<CommittedChange>) -> [ChangeEvent] {
    var done: [ChangeEvent] = []
    var open: [Partition: ChangeEvent] = [:]
    var order: [Partition] = []
    var planned = 0
    for change in changes {
      planned += 1
      let bytes = change.entries.reduce(0) { $0 + $1.body.count + $1.name.utf8.count + entryOverhead }
      guard var hint = open[change.partition] else {
        open[change.partition] = ChangeEvent(change, bytes: bytes)
        order.append(change.partition)
        continue
      }
      // Out of the table while it grows, so that it grows in place.
      open[change.partition] = nil
      if !hint.append(change, bytes: bytes) {
        done.append(hint)
        hint = ChangeEvent(change, bytes: bytes)
      }
      open[change.partition] = hint
    }
    let hints = done + order.compactMap { open[$0] }
    precondition(hints.reduce(0) { $0 + $1.changes.count } == planned, "a commit is in no change event, or in two")
    return hints
  }

  /// Numbers, tags and writer of one entry, about.
  private static let entryOverhead = 64
}
