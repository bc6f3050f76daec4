package import CaravanModel

internal import struct Synchronization.Atomic

/// Whether a store still works; one a store, seen by all its writers and readers.
package final class Liveness: Sendable {
  private let isOver = Atomic<Bool>(false)

  package init() {}

  package func end() { isOver.store(true, ordering: .sequentiallyConsistent) }

  /// - Throws: `unavailable` when it has ended.
  package func check() throws(CaravanError) {
    if isOver.load(ordering: .sequentiallyConsistent) { throw CaravanError(.unavailable, "the store is closed") }
  }
}
