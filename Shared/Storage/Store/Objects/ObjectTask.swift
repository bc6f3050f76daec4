public import CaravanModel

/// A record whose objects are to be at the object store as they are here (UNI-06). There is one a record, whatever
/// happened to it: what was there before it was dealt with is of no interest any more.
public struct ObjectTask: Sendable, Hashable {
  public var zone: ZoneID
  /// The life of the zone that the record belongs, or belonged, to.
  public var incarnation: Incarnation
  public var name: String
  /// At which it was noted. A write that comes later notes it again.
  public var version: Seq
  /// In vain.
  public var attempts: Int
  /// Where objects of the record lie in the object store.
  public var paths: [String]
  /// What the record is now; nil: it is gone with its zone.
  public var entry: Entry?

  public init(
    zone: ZoneID, incarnation: Incarnation, name: String, version: Seq, attempts: Int, paths: [String], entry: Entry?
  ) {
    self.zone = zone
    self.incarnation = incarnation
    self.name = name
    self.version = version
    self.attempts = attempts
    self.paths = paths
    self.entry = entry
  }
}

/// What became of a task.
public enum ObjectOutcome: Sendable, Hashable {
  case done
  /// Try again after so long.
  case failed(String, retryAfter: Duration)
  /// The object store will never take it as it is.
  case refused(String)
}

/// How tasks stand.
public struct ObjectCounts: Sendable, Hashable {
  public var waiting: Int
  /// Of these, tried in vain before.
  public var failing: Int
  public var refused: Int
  /// Of one that is failing or refused; empty: of none.
  public var problem: String

  public init(waiting: Int = 0, failing: Int = 0, refused: Int = 0, problem: String = "") {
    self.waiting = waiting
    self.failing = failing
    self.refused = refused
    self.problem = problem
  }

  public static func + (a: Self, b: Self) -> Self {
    ObjectCounts(
      waiting: a.waiting + b.waiting, failing: a.failing + b.failing, refused: a.refused + b.refused,
      problem: a.problem.isEmpty ? b.problem : a.problem)
  }
}

/// How a task stands; they lie in a store's files, so their values never change.
package enum ObjectStage {
  package static let waiting: Int64 = 0
  package static let done: Int64 = 1
  package static let refused: Int64 = 2
  /// A restore brought the record, and nobody knows what of it the object store has: it waits from when a store with an
  /// object store is opened.
  package static let restored: Int64 = 3
}

extension [ZoneCommit.Write] {
  /// Those of records that have objects, or had.
  package var ofObjects: [ZoneCommit.Write] {
    filter { $0.flags.holdsObjects || $0.replaced?.flags.holdsObjects ?? false }
  }
}
