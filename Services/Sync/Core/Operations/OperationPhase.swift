/// How far an operation has come, as its device is told (REC-28): the upload of a group, its commit, and the move of
/// its objects to the object store, which goes on without the device (REC-10).
package enum OperationPhase: Sendable, Hashable {
  case notStarted
  case inProgress
  case failedBeforeTransfer
  case failedDuringTransfer
  case failedAfterTransfer
  case successfulCompletion

  /// What became of the group.
  package enum Group: Sendable, Hashable {
    case open
    case committed
    /// Nothing of it is visible, nor will be.
    case failed
  }

  /// Objects of the operation.
  package struct Objects: Sendable, Hashable {
    /// Not moved yet.
    package var waiting: Int
    /// Of these, tried in vain before.
    package var failing: Int
    /// Given up.
    package var refused: Int

    package init(waiting: Int = 0, failing: Int = 0, refused: Int = 0) {
      self.waiting = waiting
      self.failing = failing
      self.refused = refused
    }
  }

  package init(_ group: Group, _ objects: Objects) {
    switch group {
    case .open: self = .notStarted
    case .failed: self = .failedBeforeTransfer
    case .committed where objects.failing > 0: self = .failedDuringTransfer
    case .committed where objects.waiting > 0: self = .inProgress
    case .committed where objects.refused > 0: self = .failedAfterTransfer
    case .committed: self = .successfulCompletion
    }
  }
}
