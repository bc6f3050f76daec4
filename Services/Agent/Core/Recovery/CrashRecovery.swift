/// SIM-73, Table 4: what becomes of a row that a crash of app, agent or device has left with these flags. Whether it is
/// sent then, or its app is told of a conflict, follows from the flags as it always does.
public enum CrashRecovery: Sendable, Hashable {
  /// The row goes on with these flags: nothing of it is open, and what was in a push goes again.
  case goOn(RowFlags)
  /// Rows 10, 11, 21 and 22: an object was cut off in the middle of a write in place; the last closed version, or else
  /// the cloud's copy, has to come back (UNI-17, E8).
  case restoreTorn

  /// - Returns: nil for the 8 states that no history leads to (SP and CF together).
  public static func of(_ flags: RowFlags) -> CrashRecovery? {
    if flags.syncPending, flags.inConflict { return nil }
    if flags.isTorn { return .restoreTorn }
    var after = flags
    after.openObjects = 0
    // Whether the push carried objects (∃DCT) nobody knows any more: then it may have.
    if flags.syncPending { after.rearm(RowChange(cells: true, objects: true)) }
    assert(!after.syncPending && after.openObjects == 0, "a row that was left goes on with something open")
    assert(
      (after.tableDirty, after.objectDirty) == (true, true) || !flags.syncPending,
      "what was in a push that was cut off would not go again")
    assert(after.inConflict == flags.inConflict, "a crash settles no conflict")
    return .goOn(after)
  }

  /// UNI-17, E8: a torn row whose last closed version is here, or comes back chunk by chunk, keeps what that version
  /// had not told the cloud yet; Table 4 alone would forget it.
  /// - Parameter isUnsynced: that version is not the cloud's.
  public static func closed(_ flags: RowFlags, isUnsynced: Bool) -> RowFlags {
    RowFlags(
      tableDirty: isUnsynced && flags.tableDirty, objectDirty: isUnsynced && flags.objectDirty,
      inConflict: flags.inConflict)
  }
}
