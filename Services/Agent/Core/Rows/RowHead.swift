public import Model

/// What decisions about a row are made from: its flags, the version its content is based on, and whether apps see it.
public struct RowHead: Sendable, Hashable {
  public enum Presence: Int64, Sendable, Hashable, CaseIterable {
    /// Apps see it. → deleted, torn, unconfirmed
    case live = 0
    /// Deleted by the app; kept until the cloud knows (SIM-16). → live (written again under its primary key)
    case deleted = 1
    /// Its last write was cut in half in place; hidden until the cloud has sent a whole copy (SIM-79). → live
    case torn = 2
    /// The cloud had it before its state was reset, and the resync has not named it yet (UNI-18). Apps see it; until
    /// then it is not sent. → live, deleted
    case unconfirmed = 3
    /// The cloud had it at this version, and lost that in a restore: it is offered again when the resync has shown what
    /// the cloud has of it. Until then it is not sent. → live, deleted
    case lost = 4

    public var isVisible: Bool {
      switch self {
      case .live, .unconfirmed, .lost: true
      case .deleted, .torn: false
      }
    }
  }

  public var flags: RowFlags
  /// Version of the copy at the cloud that the content is, or is based on; 0: the cloud is believed to have none.
  public var version: Seq
  public var presence: Presence

  public init(flags: RowFlags = .clean, version: Seq = 0, presence: Presence = .live) {
    self.flags = flags
    self.version = version
    self.presence = presence
  }

  /// What a push of this row is based on.
  public var base: Base { version == 0 ? .absent : .version(version) }
}

// MARK: Local changes

extension RowHead {
  /// What a local change asks of the store besides the change itself.
  public enum LocalEffect: Sendable, Hashable {
    case none
    /// The content as it was is the last one the cloud knows: keep it aside as the ancestor of this change.
    case keepAncestor
    /// The cloud never heard of the row: take it away with everything it holds.
    case purge
  }

  /// An app's write to the row was closed. Also brings a deleted row back.
  public mutating func write(_ change: RowChange) -> LocalEffect {
    precondition(presence != .torn, "a torn row was offered for writing")
    precondition(change.cells || change.objects || presence == .deleted, "a write that changes nothing")
    let effect = firstChange
    flags.tableDirty = flags.tableDirty || change.cells || presence == .deleted
    flags.objectDirty = flags.objectDirty || change.objects
    if presence == .deleted { presence = .live }
    return effect
  }

  /// So many objects of the row were opened for writing in place.
  public mutating func open(_ objects: Int) { flags.openObjects += UInt32(clamping: objects) }

  /// Bytes of an object that is open are about to be overwritten: from here on a crash leaves a torn row.
  /// - Parameter objects: that are open at least.
  public mutating func overwrite(_ objects: Int) -> LocalEffect {
    let effect = firstChange
    // Should the write be cut off, the cloud's copy has to do.
    if presence == .lost { (version, presence) = (0, .unconfirmed) }
    flags.objectDirty = true
    flags.openObjects = max(flags.openObjects, UInt32(clamping: objects))
    return effect
  }

  /// They are open no more.
  public mutating func close(_ objects: Int) {
    flags.openObjects -= min(flags.openObjects, UInt32(clamping: objects))
  }

  /// An app deleted the row.
  public mutating func delete() -> LocalEffect {
    precondition(presence.isVisible, "a row that apps do not see was offered for deletion")
    if version == 0, !flags.syncPending, !flags.inConflict, presence == .live { return .purge }
    let effect = firstChange
    flags.tableDirty = true
    flags.objectDirty = false
    if presence == .lost { version = 0 }
    presence = .deleted
    return effect
  }

  private var firstChange: LocalEffect {
    let wasAtCloud = version > 0 || presence == .unconfirmed
    return !flags.isDirty && !flags.syncPending && !flags.inConflict && wasAtCloud ? .keepAncestor : .none
  }
}
