/// One version of one record: whoever may see it may read its objects.
public struct RecordVersion: Sendable, Hashable {
  /// Where the record lies.
  public var zone: ZoneID
  /// Which life of the zone: versions of another one are others.
  public var incarnation: Incarnation
  /// The record's name.
  public var name: String
  /// That the record has, and must still have when its objects are read.
  public var version: Seq

  /// - Parameters:
  ///   - zone: where the record lies.
  ///   - incarnation: which life of the zone.
  ///   - name: the record's name.
  ///   - version: that the record has.
  public init(zone: ZoneID, incarnation: Incarnation, name: String, version: Seq) {
    self.zone = zone
    self.incarnation = incarnation
    self.name = name
    self.version = version
  }
}
