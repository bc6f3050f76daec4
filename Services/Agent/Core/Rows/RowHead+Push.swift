public import CaravanModel

extension RowHead {
  /// The row becomes part of a push plan (SIM-61): what was dirty, to be armed again should the push fail.
  public mutating func collect() -> RowChange {
    precondition(
      flags.isCollectable && !presence.isUnconfirmed,
      "a row was collected that is clean, in flight, in conflict, open or not confirmed")
    let armed = RowChange(cells: flags.tableDirty, objects: flags.objectDirty)
    flags.tableDirty = false
    flags.objectDirty = false
    flags.syncPending = true
    return armed
  }

  /// What became of the row in a push.
  public enum PushResult: Sendable, Hashable {
    /// The cloud took it. `asDelete`: what it took was the row's deletion.
    case accepted(Seq, asDelete: Bool)
    case conflict(ServerCopy)
    /// It was not applied and never will be (settled as aborted), or the plan was given up before it was sent.
    case notApplied
  }

  /// The cloud's copy in a conflict, as far as decisions need to know it.
  public struct ServerCopy: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
      case deleted
      /// Has exactly the row's present content.
      case same
      case different
    }

    /// 0: the cloud holds nothing under this id.
    public var version: Seq
    public var content: Content

    public init(version: Seq, content: Content) {
      self.version = version
      self.content = content
    }
  }

  public enum PushEffect: Sendable, Hashable {
    /// Nothing is left to send; the ancestor goes.
    case clean
    /// The row was edited while in flight: what was sent is the ancestor now (none, if a deletion was sent).
    case editedSince
    /// The row is gone on both sides: take it away.
    case remove
    /// Keep the cloud's copy aside and tell the app.
    case conflict
    /// Dirty again, to be sent with the next push.
    case rearmed
  }

  /// The result of the row's push arrived.
  public mutating func settle(_ result: PushResult, armed: RowChange) -> PushEffect {
    precondition(flags.syncPending, "a push result arrived for a row that is not in flight")
    flags.syncPending = false
    switch result {
    case .accepted(let version, let asDelete):
      presence = presence.found
      // A deletion leaves a tombstone: whatever comes next is a creation.
      self.version = asDelete ? 0 : version
      if flags.isDirty { return asDelete && presence == .deleted ? .remove : .editedSince }
      return asDelete ? .remove : .clean
    case .notApplied:
      rearm(armed)
      return .rearmed
    case .conflict(let copy):
      presence = presence.found
      rearm(armed)
      return meet(copy)
    }
  }

  /// Nobody knows of a push that the row is in, if it says it is in one: whatever became of it, the row goes again.
  public mutating func forgetPush() {
    guard flags.syncPending else { return }
    flags.syncPending = false
    rearm(RowChange(cells: true, objects: true))
  }

  private mutating func rearm(_ armed: RowChange) {
    flags.rearm(armed)
    if presence.isDeleted { flags.objectDirty = false }
  }

  /// A dirty row meets another copy. Deleted or changed alike on both sides is agreement, anything else a conflict.
  mutating func meet(_ copy: ServerCopy) -> PushEffect {
    switch (copy.content, presence) {
    case (.deleted, .deleted): return .remove
    case (.same, .live):
      self = RowHead(flags: .clean, version: copy.version)
      return .clean
    case (.deleted, _), (.same, _), (.different, _):
      flags.inConflict = true
      return .conflict
    }
  }
}
