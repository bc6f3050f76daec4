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
  /// Read the zone's changes after this seq.
  case read(after: Seq)
  /// The zone has (or had) another life: forget its rows and read it from the beginning.
  case reload

  /// - Parameters:
  ///   - hasPage: the commit's entries came along.
  package init(
    _ progress: ZoneProgress?, incarnation: Incarnation, low: Seq, high: Seq, isDeletion: Bool, hasPage: Bool
  ) {
    guard let progress else {
      self = isDeletion ? .reload : low == 0 && hasPage ? .apply : .reload
      return
    }
    if isDeletion || progress.incarnation != incarnation {
      self = .reload
    } else if high <= progress.seq {
      self = .skip
    } else {
      self = low == progress.seq && hasPage ? .apply : .read(after: progress.seq)
    }
  }
}
