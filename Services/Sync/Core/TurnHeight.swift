package import CaravanModel

/// The height that a client of diff sync goes on from, once its diffs are written.
package struct TurnHeight: Sendable, Hashable {
  /// What the client was shown. Incarnation 0: it was shown nothing yet.
  private let shown: ChangePosition
  private let client: String

  /// - Parameter client: as what is merged names its writer.
  package init(shown: ChangePosition, client: String) {
    self.shown = shown
    self.client = client
  }

  /// The zone's height where it has only this client's writes above what the client has been shown; else what it has
  /// been shown, and the next SYNC_BEGIN brings what others wrote between, with the client's own.
  package func after(_ outcomes: [Outcome], zone: ChangePosition) -> Seq {
    let isSameLife = shown.incarnation == zone.incarnation || shown.incarnation == 0
    let own = outcomes.count { outcome in
      switch outcome {
      case .accepted(let version): version > shown.seq
      case .merged(let version, let server): version > shown.seq && server?.writer == client
      case .conflict, .aborted, .read, .refused: false
      }
    }
    return isSameLife && own == outcomes.count && zone.seq == shown.seq + UInt64(own) ? zone.seq : shown.seq
  }
}

extension Outcome {
  /// Nothing of the mutation was written, or shown.
  package var isFailure: Bool {
    switch self {
    case .conflict, .aborted, .refused: true
    case .accepted, .merged, .read: false
    }
  }
}
