public import CaravanModel

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
    /// then it is not sent. → live, deletedUnconfirmed, lost, changedLost
    case unconfirmed = 3
    /// The cloud had it at this version, and lost that in a restore: it is offered again as it is, and counts as
    /// changed. Only the answer to that says how it stands to what the cloud has; pages do not. → live, changedLost,
    /// deletedLost
    case lost = 4
    /// The same; and an app has changed it since that version. → live, deletedLost
    case changedLost = 5
    /// The same; and an app has deleted it. → deleted, changedLost
    case deletedLost = 6
    /// As unconfirmed; and an app has deleted it. → deleted, unconfirmed, deletedLost
    case deletedUnconfirmed = 7

    public var isVisible: Bool {
      switch self {
      case .live, .unconfirmed, .lost, .changedLost: true
      case .deleted, .torn, .deletedLost, .deletedUnconfirmed: false
      }
    }

    public var isDeleted: Bool { found == .deleted }

    /// Whether it is based on a version that the cloud has lost.
    public var isLost: Bool { self == .lost || self == .changedLost || self == .deletedLost }

    /// Whether the resync has yet to name it.
    public var isUnconfirmed: Bool { self == .unconfirmed || self == .deletedUnconfirmed }

    /// What it is once the cloud has answered.
    var found: Presence {
      switch self {
      case .live, .lost, .changedLost, .unconfirmed: .live
      case .deleted, .deletedLost, .deletedUnconfirmed: .deleted
      case .torn: .torn
      }
    }
  }

  public var flags: RowFlags
  /// Version of the copy at the cloud that the content is, or is based on; 0: the cloud is believed to have none. Of an
  /// unconfirmed row the one that it had: should it turn out that a restore took that back, the row is offered again.
  public var version: Seq
  public var presence: Presence

  public init(flags: RowFlags = .clean, version: Seq = 0, presence: Presence = .live) {
    self.flags = flags
    self.version = version
    self.presence = presence
  }

  /// The version, as far as it says anything about what the cloud has now.
  public var confirmed: Seq { presence.isUnconfirmed ? 0 : version }

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
    precondition(change.cells || change.objects || presence.isDeleted, "a write that changes nothing")
    let effect = firstChange
    flags.tableDirty = flags.tableDirty || change.cells || presence.isDeleted
    flags.objectDirty = flags.objectDirty || change.objects
    switch presence {
    case .deleted: presence = .live
    case .deletedUnconfirmed: presence = .unconfirmed
    case .lost, .deletedLost: presence = .changedLost
    case .live, .unconfirmed, .changedLost, .torn: break
    }
    return effect
  }

  /// So many objects of the row were opened for writing in place.
  public mutating func open(_ objects: Int) { flags.openObjects += UInt32(clamping: objects) }

  /// Bytes of an object that is open are about to be overwritten: from here on a crash leaves a torn row.
  /// - Parameter objects: that are open at least.
  public mutating func overwrite(_ objects: Int) -> LocalEffect {
    let effect = firstChange
    if presence == .lost { presence = .changedLost }
    flags.objectDirty = true
    flags.openObjects = max(flags.openObjects, UInt32(clamping: objects))
    return effect
  }

  /// They are open no more.
  public mutating func close(_ objects: Int) {
    flags.openObjects -= min(flags.openObjects, UInt32(clamping: objects))
  }

  /// An app deleted the row.
  /// - Parameter wasSent: a push of it came to nothing, as far as is known here. Others may have had it from there.
  public mutating func delete(wasSent: Bool = false) -> LocalEffect {
    precondition(presence.isVisible, "a row that apps do not see was offered for deletion")
    if version == 0, !flags.syncPending, !flags.inConflict, presence == .live, !wasSent { return .purge }
    let effect = firstChange
    flags.tableDirty = true
    flags.objectDirty = false
    presence = presence.isLost ? .deletedLost : presence.isUnconfirmed ? .deletedUnconfirmed : .deleted
    return effect
  }

  /// Its content, or part of it, is here no more.
  public mutating func tear() { (version, presence) = (confirmed, .torn) }

  private var firstChange: LocalEffect {
    // It counts as changed already.
    if presence == .lost { return .keepAncestor }
    let wasAtCloud = version > 0 || presence == .unconfirmed
    return !flags.isDirty && !flags.syncPending && !flags.inConflict && wasAtCloud ? .keepAncestor : .none
  }
}
