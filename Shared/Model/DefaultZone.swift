/// The zone that every database has without making it (CK-09, CK-10). It holds records that stand alone: each is
/// linearizable by itself, there are no batches, references or change tokens, and so nothing that all of its writes
/// would have to meet at.
public enum DefaultZone {
  public static let name = "_defaultZone"

  /// - Throws: `invalidData` when `zone` is the default zone, which does not do what is asked.
  public static func refuse(_ zone: ZoneID, _ what: StaticString) throws(CaravanError) {
    guard zone.name == name else { return }
    throw CaravanError(.invalidData, "the default zone \(what): use a zone of your own")
  }
}
