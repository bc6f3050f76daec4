import CaravanModel
import CaravanQueryCore
import CaravanRuntime

/// Which databases of one partition the index is to have. An index costs every save of what is in it, and most
/// databases are never asked about: so each is indexed from the first question on until there was none for long
/// (`QueryLimits.unaskedMilliseconds`), and a partition is followed from the first question about any of its databases.
final class Demand: Sendable {
  /// What a question does to the index.
  enum Ask {
    /// The database is there.
    case known
    /// It is there; that it was asked about is to be written down.
    case renew
    /// All it has is to be read first.
    case include
  }

  /// When each was asked about last, to a day.
  private let asked: Mutex<[DatabaseID: WallTime]>
  private let clock: any Clock
  /// Somebody asks.
  private let first = Latch()
  /// Whether what is heard of is taken in by now; false: it never will be.
  private let followed = Promise<Bool>()

  init(_ asked: [DatabaseID: WallTime], clock: any Clock) {
    self.asked = Mutex(asked)
    self.clock = clock
    if !asked.isEmpty { first.open() }
  }

  var now: WallTime { clock.wallTime }

  /// In a fixed order.
  var databases: [DatabaseID] { asked.withLock { $0.keys.sorted { "\($0)" < "\($1)" } } }
  func includes(_ database: DatabaseID) -> Bool { asked.withLock { $0[database] != nil } }
  func include(_ database: DatabaseID) { asked.withLock { $0[database] = now } }

  func ask(_ database: DatabaseID) -> Ask {
    asked.withLock { asked in
      guard let last = asked[database] else { return .include }
      guard now.milliseconds - last.milliseconds >= QueryLimits.askedMilliseconds else { return .known }
      asked[database] = now
      return .renew
    }
  }

  /// Nobody has asked about it for long.
  func isUnasked(_ database: DatabaseID) -> Bool {
    asked.withLock { $0[database].map { Self.isUnasked(since: $0, at: now) } ?? false }
  }

  /// Takes a database out if nobody has asked about it for long; the next question includes it anew.
  func drop(_ database: DatabaseID) -> Bool {
    asked.withLock { asked in
      guard let last = asked[database], Self.isUnasked(since: last, at: now) else { return false }
      asked[database] = nil
      return true
    }
  }

  static func isUnasked(since last: WallTime, at now: WallTime) -> Bool {
    now.milliseconds - last.milliseconds >= QueryLimits.unaskedMilliseconds
  }

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
