/// A row's persistent sync state (SIM-51), written in the same transaction as its cells.
public struct RowFlags: Sendable, Hashable {
  /// TD: cells changed since they were last collected for the cloud. A local delete counts as such a change.
  public var tableDirty: Bool
  /// OD: the bytes of an object changed since they were last collected.
  public var objectDirty: Bool
  /// OO: objects open for writing in place. Under copy-on-write nothing of an open write is in the row, and it stays 0.
  public var openObjects: UInt32
  /// Where it stands with the cloud.
  private var standing: Standing

  private enum Standing: UInt8 {
    case settled = 0
    case pending = 1
    case contested = 2
    /// Both: no history leads there, but the file may say so once it is damaged.
    case impossible = 3
  }

  /// SP: the row is part of a push whose result is not known (UNI-08: and of a persisted plan).
  public var syncPending: Bool {
    get { standing.rawValue & 1 != 0 }
    set { stand(syncPending: newValue, inConflict: inConflict) }
  }

  /// CF: the cloud holds something else than what the local change is based on.
  public var inConflict: Bool {
    get { standing.rawValue & 2 != 0 }
    set { stand(syncPending: syncPending, inConflict: newValue) }
  }

  private mutating func stand(syncPending: Bool, inConflict: Bool) {
    standing = Self.standing(syncPending, inConflict)
  }

  private static func standing(_ syncPending: Bool, _ inConflict: Bool) -> Standing {
    switch (syncPending, inConflict) {
    case (false, false): .settled
    case (true, false): .pending
    case (false, true): .contested
    case (true, true): .impossible
    }
  }

  public init(
    tableDirty: Bool = false, objectDirty: Bool = false, openObjects: UInt32 = 0, syncPending: Bool = false,
    inConflict: Bool = false
  ) {
    self.tableDirty = tableDirty
    self.objectDirty = objectDirty
    self.openObjects = openObjects
    standing = Self.standing(syncPending, inConflict)
  }

  public static let clean = RowFlags()

  public var isDirty: Bool { tableDirty || objectDirty }
  /// SIM-63, SIM-65, SIM-69: only closed rows, not in flight, not in conflict, go upstream.
  public var isCollectable: Bool { isDirty && !syncPending && !inConflict && openObjects == 0 }

  /// What the row holds is what the cloud has, whether or not objects of it are open.
  public var isUntouched: Bool { !isDirty && !syncPending && !inConflict }

  /// An object was open for writing in place, and written to: after a crash its bytes cannot be trusted.
  public var isTorn: Bool { objectDirty && openObjects > 0 }

  /// A push was cut off for good: Table 3(a), U2, and Table 3(b), whose four rows agree once E1 is mended: SP never
  /// falls without TD rising, and OD with it if the push carried changed objects (∃DCT); or else the next page would
  /// overwrite what the cloud does not have.
  mutating func rearm(_ sent: RowChange) {
    syncPending = false
    tableDirty = true
    objectDirty = objectDirty || sent.objects
  }

  // MARK: Stored form

  /// One integer: TD 1, OD 2, SP 4, CF 8, OO from bit 8 on. Collectable rows are exactly those of 1, 2 and 3.
  public var packed: Int64 {
    (tableDirty ? 1 : 0) | (objectDirty ? 2 : 0) | (syncPending ? 4 : 0) | (inConflict ? 8 : 0) | Int64(openObjects)
      << 8
  }

  public init(packed: Int64) {
    self.init(
      tableDirty: packed & 1 != 0, objectDirty: packed & 2 != 0,
      openObjects: UInt32(truncatingIfNeeded: packed >> 8), syncPending: packed & 4 != 0, inConflict: packed & 8 != 0)
  }
}

/// What a write changes of a row.
public struct RowChange: Sendable, Hashable {
  public var cells: Bool
  public var objects: Bool

  public init(cells: Bool, objects: Bool) {
    self.cells = cells
    self.objects = objects
  }
}
