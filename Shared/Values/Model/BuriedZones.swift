/// Zones that were deleted so long ago that nothing of them is kept by name (TRU-03). What remains of all those of
/// a database is one dead zone that no device can make. Its seq is where the versions of the last of them ended, so
/// that a zone of such a name, should it be made anew, gives no version twice; its latest change is that of the last of
/// them, so that whoever asks which zones changed since before then hears that it has to list all.
public enum BuriedZones {
  /// Begins with a dot, so that it is none of a table.
  public static let name = ".buried"

  /// The one zone of a database that stands for all its buried ones.
  public static func zone(of database: DatabaseID) -> ZoneID {
    guard let zone = try? ZoneID(database, name) else { preconditionFailure("a zone may be called '\(name)'") }
    return zone
  }
}
