/// SIM-73, Table 4: what a row's flags say after a crash of app, agent or device, and what to do.
public enum CrashRecovery: String, Sendable, Hashable, CaseIterable {
  /// Rows 1 and 4: nothing was going on.
  case nothing
  /// Rows 2, 5, 8, 13, 16 and 19: tell the app about the conflict again.
  case conflictUpcall
  /// Rows 7, 12, 15 and 18: the dirty row waits for its next sync as before.
  case startUpstream
  /// Rows 3, 6, 9, 14, 17 and 20: a push was in flight; ask what became of it, and send the row again if nothing did.
  case restartUpstream
  /// Rows 10, 11, 21 and 22: an object was cut off in the middle of a write in place; the last closed version, or else
  /// the cloud's copy, has to come back (UNI-17, E8).
  case restoreTorn

  public struct Plan: Sendable, Hashable {
    /// As Table 4 numbers its rows, from 1.
    public let row: Int
    public let action: CrashRecovery
    public let flags: RowFlags
  }

  /// The action and the flags afterwards; nil for the 8 states that no history leads to (SP and CF together).
  /// - Parameter changedObjects: it is known that the push carried changed objects (∃DCT).
  public static func plan(for flags: RowFlags, changedObjects: Bool) -> Plan? {
    if flags.syncPending, flags.inConflict { return nil }
    var after = flags
    after.openObjects = 0
    let action: CrashRecovery
    if flags.isTorn {
      after = RowFlags(inConflict: flags.inConflict)
      action = .restoreTorn
    } else if flags.inConflict {
      action = .conflictUpcall
    } else if flags.syncPending {
      after = Disruption.u2.recovered(after, changedObjects: changedObjects)
      action = .restartUpstream
    } else {
      action = flags.isDirty ? .startUpstream : .nothing
    }
    return Plan(row: row(of: flags), action: action, flags: after)
  }

  /// UNI-17, E8: a torn row whose last closed version is here, or comes back chunk by chunk, keeps what that version
  /// had not told the cloud yet; Table 4 alone would forget it.
  /// - Parameter isUnsynced: that version is not the cloud's.
  public static func closed(_ flags: RowFlags, isUnsynced: Bool) -> RowFlags {
    RowFlags(
      tableDirty: isUnsynced && flags.tableDirty, objectDirty: isUnsynced && flags.objectDirty,
      inConflict: flags.inConflict)
  }

  /// Of the rows for one TD, OD and OO the first is for SP=0 and CF=0; torn rows do not tell CF apart.
  private static func row(of flags: RowFlags) -> Int {
    let firsts = [1, 4, 7, 10, 12, 15, 18, 21]
    let first =
      firsts[(flags.tableDirty ? 4 : 0) | (flags.objectDirty ? 2 : 0) | (flags.openObjects > 0 ? 1 : 0)]
    if flags.isTorn { return first + (flags.syncPending ? 1 : 0) }
    return first + (flags.syncPending ? 2 : flags.inConflict ? 1 : 0)
  }
}
