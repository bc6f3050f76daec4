import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageCore
package import CaravanStore
import CaravanWire

/// Announces commits on `changes.<partition>`. These are not the truth: what is lost, consumers read from the log.
///
/// The store fills it from its writing threads, the service's task empties it; within a partition the order is kept
/// from end to end.
package final class ChangeFeed: CommitObserver {
  private let groups = BoundedQueue<[CommittedChange]>(capacity: StorageLimits.groupsWaiting)
  /// There were commits.
  let moved = Signal()
  /// Change events may have been lost here: before this process began, for one.
  let lost = Signal()

  package init() { lost.raise() }

  /// Never waits: a group too many is left out.
  package func committed(_ group: [CommittedChange]) {
    moved.raise()
    if groups.push(group) == .full { lost.raise() }
  }

  package func missed() { lost.raise() }

  func finish() { groups.finish() }

  /// Until `finish`, or the task is cancelled.
  func run(_ bus: any MessageBus, _ host: Host, _ metrics: StorageMetrics) async {
    while let first = await groups.next() {
      var changes = first
      var count = 1
      while count < StorageLimits.groupsTogether, let group = groups.tryNext() {
        changes += group
        count += 1
      }
      for hint in ChangeEvent.plan(changes) { await publish(hint, bus, host, metrics) }
      // Where much comes at once more is on its way: a change event of many costs everybody less than many change
      // events.
      if changes.count >= StorageLimits.changesInStorm { try? await host.clock.sleep(for: StorageLimits.hintLinger) }
    }
  }

  /// Change events without entries.
  func announce(_ heads: [Partition: UInt64], _ bus: any MessageBus) async throws(CaravanError) {
    for (partition, head) in heads.sorted(by: { $0.key < $1.key }) {
      try await bus.publish(ChangeHint(previous: head), to: .changes(partition))
    }
  }

  private func publish(_ hint: ChangeEvent, _ bus: any MessageBus, _ host: Host, _ metrics: StorageMetrics) async {
    do {
      try await bus.publish(ChangeHint(hint), to: .changes(hint.partition))
      metrics.hints.add()
    } catch {
      metrics.lostEvents.add()
      lost.raise()
      host.log.debug("a change event could not be sent", [.partition: hint.partition, .error: error])
    }
  }
}
