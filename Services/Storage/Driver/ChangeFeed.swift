import Bus
import Model
import Runtime
import StorageCore
package import Store
import Wire

/// Announces commits on `changes.<partition>`. Hints, not truth: what is lost, consumers read from the log.
///
/// The store fills it from its writing threads, the service's task empties it; within a partition the order is kept
/// from end to end.
package final class ChangeFeed: CommitObserver {
  private let groups = BoundedQueue<[CommittedChange]>(capacity: StorageLimits.groupsWaiting)

  package init() {}

  /// Never waits: a group too many is left out, and the next one shows the gap.
  package func committed(_ group: [CommittedChange]) { groups.push(group) }

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
      for hint in Hint.plan(changes) { await publish(hint, bus, host, metrics) }
    }
  }

  private func publish(_ hint: Hint, _ bus: any MessageBus, _ host: Host, _ metrics: StorageMetrics) async {
    do {
      try await bus.publish(ChangeHint(hint), to: .changes(hint.partition))
      metrics.hints.add()
    } catch {
      metrics.lostHints.add()
      host.log.debug("a change hint could not be sent", [.partition: hint.partition, .error: error])
    }
  }
}
