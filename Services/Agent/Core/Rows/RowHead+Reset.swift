// UNI-18: what was known of the cloud is void, until a resync has named all that it has.
extension RowHead {
  /// Versions say nothing any more, and conflicts are with copies that may be gone. A row that the cloud never accepted
  /// stays what it was, new; any other waits to be named.
  public mutating func reset() {
    precondition(!flags.syncPending, "a row was reset whose push may still be answered")
    let isNew = version == 0 && flags.isDirty && !flags.inConflict
    version = 0
    flags.inConflict = false
    if presence == .live, !isNew { presence = .unconfirmed }
  }

  /// What becomes of a row that the resync has not named: the cloud does not have it.
  public enum Absence: Sendable, Hashable {
    /// It is new, or in conflict already.
    case stay
    /// Gone on both sides, or there and not changed here.
    case remove
    /// Deleted there and changed here. It is never sent as new: that would bring back what was deleted (I9).
    case conflict
  }

  /// The resync is over.
  public mutating func endResync() -> Absence {
    guard version == 0, !flags.syncPending, !flags.inConflict else { return .stay }
    switch presence {
    case .live: return .stay
    case .deleted: return .remove
    case .torn, .unconfirmed:
      guard flags.isDirty else { return .remove }
      contest()
      return .conflict
    }
  }

  /// The cloud's copy is another one.
  public mutating func contest() {
    flags.inConflict = true
    if presence == .unconfirmed { presence = .live }
  }
}
