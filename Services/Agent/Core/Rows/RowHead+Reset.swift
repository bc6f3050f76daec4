public import CaravanModel

// UNI-18: what was known of the cloud is void, until a resync has named all that it has.
extension RowHead {
  /// Conflicts are with copies that may be gone. A row that the cloud never accepted stays what it was, new; any other
  /// waits to be named. Its version is kept, for the cloud may yet say that it lost it: no version is given twice.
  /// - Parameters:
  ///   - lost: versions that a restore of the cloud took back: what has one of them is offered again.
  ///   - isWhole: everything that the row names is here.
  public mutating func reset(lost: [LostRange] = [], isWhole: Bool = true) {
    precondition(!flags.syncPending, "a row was reset whose push may still be answered")
    guard !presence.isLost else { return }
    if version > 0, lost.contains(where: { $0.contains(version) }), presence != .torn {
      return lose(isWhole: isWhole)
    }
    let wasNew = isNew
    flags.inConflict = false
    switch presence {
    case .live: presence = wasNew ? .live : .unconfirmed
    case .deleted: presence = .deletedUnconfirmed
    case .torn: version = 0
    case .unconfirmed, .deletedUnconfirmed, .lost, .changedLost, .deletedLost: break
    }
  }

  /// The cloud has never had it, as far as is known here.
  public var isNew: Bool {
    version == 0 && presence == .live && flags.isDirty && !flags.syncPending && !flags.inConflict
  }

  /// What it is based on the cloud has lost, and a copy in conflict may be lost as well.
  private mutating func lose(isWhole: Bool) {
    flags.inConflict = false
    if presence.isDeleted { return presence = .deletedLost }
    if flags.isDirty { return presence = .changedLost }
    // What is not whole cannot be offered: the cloud's copy has to do.
    guard isWhole else { return (version, presence) = (0, .torn) }
    (flags.tableDirty, presence) = (true, .lost)
  }

  /// What becomes of a row that the resync has not named: the cloud does not have it.
  public enum Absence: Sendable, Hashable {
    /// It is new, or in conflict already, or the cloud is to know of its deletion.
    case stay
    /// Gone on both sides, or there and not changed here.
    case remove
    /// Deleted there and changed here. It is never sent as new: that would bring back what was deleted (I9).
    case conflict
  }

  /// The resync is over.
  /// - Parameter wasSent: as in `delete`: who had it may give it back to the cloud, and its deletion goes there first.
  public mutating func endResync(wasSent: Bool = false) -> Absence {
    guard confirmed == 0, !flags.syncPending, !flags.inConflict else { return .stay }
    switch presence {
    // What was lost has a version.
    case .live, .lost, .changedLost, .deletedLost: return .stay
    case .deleted, .deletedUnconfirmed:
      guard wasSent else { return .remove }
      (version, presence) = (0, .deleted)
      return .stay
    case .torn, .unconfirmed:
      guard flags.isDirty else { return .remove }
      contest()
      return .conflict
    }
  }

  /// The cloud's copy is another one.
  public mutating func contest() {
    flags.inConflict = true
    (version, presence) = (confirmed, presence.found)
  }
}
