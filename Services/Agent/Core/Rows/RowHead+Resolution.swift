public import CaravanModel

/// What an app decides about a row in conflict (SIM-27).
public enum Resolution: Sendable, Hashable, CaseIterable {
  /// Keep the local content, based on the cloud's version from now on.
  case mine
  /// Take the cloud's content and drop the local change.
  case theirs
  /// Write a value made of both.
  case new
}

extension RowHead {
  public enum ResolutionEffect: Sendable, Hashable {
    /// Content stays or is replaced by the app's; it is dirty, and the cloud's copy becomes its ancestor.
    case keepLocal
    /// Content becomes the cloud's copy; ancestor and copy go.
    case takeServer
    /// The row goes, the cloud has deleted it.
    case remove
  }

  /// Ends the conflict. `server` is the version of the cloud's copy, 0 if it holds nothing.
  public mutating func resolve(_ choice: Resolution, server: Seq, serverDeleted: Bool) -> ResolutionEffect {
    precondition(flags.inConflict && !flags.syncPending, "a row that is not in conflict was resolved")
    flags.inConflict = false
    switch choice {
    case .theirs:
      guard !serverDeleted else { return .remove }
      self = RowHead(flags: .clean, version: server)
      return .takeServer
    case .mine, .new:
      if choice == .new { presence = .live }
      if serverDeleted, presence == .deleted { return .remove }
      // A deleted record is created again, not changed.
      version = serverDeleted ? 0 : server
      flags.tableDirty = true
      flags.objectDirty = presence != .deleted
      return .keepLocal
    }
  }
}
