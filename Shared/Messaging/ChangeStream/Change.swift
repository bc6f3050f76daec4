public import CaravanModel
public import CaravanWire

/// One commit of a partition's log.
public struct Change: Sendable {
  public let position: UInt64
  public let zone: ZoneID
  /// It wrote the versions above `low`, up to `high`.
  public let low: Seq
  public let high: Seq
  public let incarnation: Incarnation
  /// Device, or `@service`, that wrote.
  public let writer: String
  public let isZoneDeletion: Bool
  /// What it wrote, an encoded `EntryPage`, where that came along; nil: read it from the zone.
  public let page: [UInt8]?

  /// - Throws: `invalidData` when the entry names no zone.
  public init(_ entry: LogEntry, page: [UInt8]?) throws(CaravanError) {
    position = try required(entry.position, "position")
    zone = try required(entry.zone, "zone").model()
    low = entry.low
    high = entry.high
    incarnation = entry.incarnation
    writer = entry.writer
    isZoneDeletion = entry.zoneDeleted
    self.page = page
  }
}

/// Who follows a partition's log.
public protocol ChangeConsumer: Sendable {
  /// The next changes, in the order of the log. When it throws, the same ones (and more) come again later.
  func take(_ changes: [Change]) async throws(CaravanError)

  /// The log does not reach back to where the consumer was, or it is new: take in the zones as they are. Changes after
  /// `head` follow; what was read may contain some of them already.
  func rebuild(at head: UInt64) async throws(CaravanError)
}
