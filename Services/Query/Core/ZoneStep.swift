package import CaravanModel

/// How far the index has followed one zone.
package struct ZoneProgress: Sendable, Equatable {
  package var incarnation: Incarnation
  package var seq: Seq

  package init(incarnation: Incarnation, seq: Seq) {
    self.incarnation = incarnation
    self.seq = seq
  }
}

/// What one commit of the change stream asks of the index of its zone. The zone's own seq decides, never the order of
/// arrival: whatever is doubtful is read again from storage, whose present state is always right.
package enum ZoneStep: Sendable, Equatable {
  /// The index has it already.
  case skip
  /// The commit continues exactly where the index is: its entries suffice.
  case apply
  /// Read from storage what there is beyond what the index has, if that life of the zone is not over.
  case read

  /// - Parameters:
  ///   - hasPage: the commit's entries came along.
  package init(
    _ progress: ZoneProgress?, incarnation: Incarnation, low: Seq, high: Seq, isDeletion: Bool, hasPage: Bool
  ) {
    // Of an older life of the zone, and of a newer one, storage knows more than the commit says.
    guard !isDeletion, progress.map({ $0.incarnation == incarnation }) ?? true else {
      self = .read
      return
    }
    if let progress, high <= progress.seq {
      self = .skip
    } else {
      self = low == progress?.seq ?? 0 && hasPage ? .apply : .read
    }
  }
}
