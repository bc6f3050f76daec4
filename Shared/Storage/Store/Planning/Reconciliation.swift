public import CaravanModel

/// What a zone's past says of the versions that restores took back.
public struct ZonePast: Sendable, Hashable {
  public var lost: [LostRange]
  /// No tombstone above this version has been purged.
  public var purged: Seq

  public init(lost: [LostRange], purged: Seq) {
    self.lost = lost
    self.purged = purged
  }

  /// When the restore was that took a version back, in Unix milliseconds, as far as its number tells; nil: none did.
  func restored(_ version: Seq) -> Int64? {
    lost.first { $0.contains(version) }.map { ArchiveLimits.time(ofReach: $0.through) }
  }
}

/// One life of a zone that is over.
public struct PastIncarnation: Sendable, Hashable {
  /// With which it ended.
  public var seq: Seq
  /// It was in the backup, and goes on in its successor: no later version than this was given between the two, and
  /// those that were are lost. 0: it was deleted.
  public var lostThrough: Seq

  public init(seq: Seq, lostThrough: Seq = 0) {
    self.seq = seq
    self.lostThrough = lostThrough
  }

  public var isRestored: Bool { lostThrough > 0 }

  /// Where the next life begins, at least.
  public var end: Seq { max(seq, lostThrough) }

  /// Where a life that follows a restored one begins: behind all that may have been given, so that whatever ends later
  /// than a lost range had a life after it.
  public var beginning: Seq { isRestored ? lostThrough + 1 : seq }
}

extension LostRange {
  /// What of a zone was lost, and is taken back when it is offered. What was lost before the zone was deleted is not:
  /// it went with the zone.
  /// - Parameter lives: all that are over, in their order.
  public static func ranges(after lives: [PastIncarnation]) -> [LostRange] {
    var ranges: [LostRange] = []
    for life in lives {
      if life.isRestored {
        ranges.append(LostRange(after: life.seq, through: life.end))
      } else if life.seq > ranges.last?.through ?? 0 {
        ranges = []
      }
    }
    return ranges
  }
}

/// A zone whose name the store has never heard. Where the store was restored, there may have been one after the
/// backup: its versions are lost.
public enum UnknownZone {
  /// The life that it is taken to have had.
  /// - Parameter reach: `StoreContent.reach`.
  public static func lives(reach: Seq) -> [PastIncarnation] {
    reach > 0 ? [PastIncarnation(seq: 0, lostThrough: reach)] : []
  }

  /// With what seq it begins.
  /// - Parameter lives: that it may have had.
  public static func beginning(after lives: [PastIncarnation]) -> Seq { lives.map(\.beginning).max() ?? 0 }
}

/// A write that is based on a version that a restore took back.
enum Reconciliation {
  enum Standing {
    /// What the store holds was made from that version, or from a later one: there is nothing to regain.
    case known
    /// What the store holds is what that version was made from, or nothing that anybody knows better: it gives way.
    case newer
    /// It was changed, or deleted, by somebody who may not have known that version.
    case contested
  }

  /// - Returns: nil: no restore took it back.
  static func standing(
    of version: Seq, isOffer: Bool, _ head: RecordHead?, _ past: ZonePast
  ) -> Standing? {
    guard let range = past.lost.first(where: { $0.contains(version) }) else { return nil }
    // It may have been deleted since; if nobody remembers, its owner must say.
    guard let head else { return past.purged > range.through ? .contested : .newer }
    if head.version <= range.after { return .newer }
    guard let known = head.regained, range.contains(known) else { return .contested }
    // Two lives may have begun from this backup: then neither was made from the other.
    guard !LostRange.mayBeOfTwoIncarnations(known, version) else { return .contested }
    if isOffer, known >= version { return .known }
    return known <= version && head.flags.contains(.unchanged) ? .newer : .contested
  }
}

extension RecordHead {
  /// The lost version that it was made from, as far as anybody has told.
  fileprivate var regained: Seq? { flags.contains(.regained) ? created : nil }
}

extension Mutation {
  /// Whether it says all that there was at its base: a patch does not, nor does a read.
  var mayRegain: Bool {
    switch change {
    case .save: terms?.scope != .changed
    case .delete: true
    case .read: false
    }
  }
}
