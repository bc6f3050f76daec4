import Model
import Runtime

/// Which databases of one partition the index is to have. An index costs every save of what is in it, and most
/// databases are never asked about: so each is indexed from the first question on, and a partition is followed from the
/// first question about any of its databases.
final class Demand: Sendable {
  private let databases: Mutex<Set<DatabaseID>>
  /// Somebody asks.
  private let first = Latch()
  /// Whether what is heard of is taken in by now; false: it never will be.
  private let followed = Promise<Bool>()

  init(_ databases: Set<DatabaseID>) {
    self.databases = Mutex(databases)
    if !databases.isEmpty { first.open() }
  }

  func includes(_ database: DatabaseID) -> Bool { databases.withLock { $0.contains(database) } }
  func include(_ database: DatabaseID) { databases.withLock { _ = $0.insert(database) } }

  /// Returns when the partition is to be followed, or the task is cancelled.
  func waitForFirst() async { await first.wait() }

  func isFollowed(_ isFollowed: Bool) { followed.fulfil(isFollowed) }

  /// Returns when the partition is followed.
  /// - Throws: `unavailable` when this instance does not serve it any more.
  func follow() async throws(CaravanError) {
    first.open()
    guard try await followed.wait() else {
      throw CaravanError(.unavailable, "the index of this partition is beginning anew: retry")
    }
  }
}
