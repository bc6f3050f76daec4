/// SIM-72, Table 3(c): what becomes of a row that has arrived, once the connection is gone or there again.
public enum DownstreamRecovery: Sendable, Hashable, CaseIterable {
  /// RU_O=1: objects of the row are still arriving. The entry is kept and its missing chunks are fetched; the token has
  /// moved on, for nothing has to be sent twice.
  case fetchObjects
  /// The row takes what arrived.
  case update
  /// The row has changed here too. Either dirty flag does it, for the row is the unit (E2).
  case conflict

  public static func of(_ flags: RowFlags, lacksObjects: Bool) -> DownstreamRecovery {
    if lacksObjects { return .fetchObjects }
    return flags.isDirty ? .conflict : .update
  }
}
