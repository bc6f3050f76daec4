public import CaravanModel

/// A record as diff sync sees it, to tell what of it is new to a client. There is no log of diffs: they are derived
/// from what the zone holds (UNI-03), which is so the most recent sequence, properly merged (DIF-09).
public struct ServerObject: Sendable, Hashable {
  public struct Field: Sendable, Hashable {
    /// `.null`: it was emptied.
    public var value: Value
    /// The zone's seq at its last write.
    public var seq: Seq
    public var timestamp: HybridStamp

    public init(_ value: Value, seq: Seq, timestamp: HybridStamp) {
      self.value = value
      self.seq = seq
      self.timestamp = timestamp
    }
  }

  public var uuid: String
  /// Empty: a tombstone.
  public var objtype: String
  /// Seq of its last write.
  public var version: Seq
  /// Seq of its creation; of one that was made again after it had been deleted, of the last.
  public var created: Seq
  public var isDeleted: Bool
  public var fields: [String: Field]

  public init(
    uuid: String, objtype: String, version: Seq, created: Seq, isDeleted: Bool = false, fields: [String: Field] = [:]
  ) {
    self.uuid = uuid
    self.objtype = objtype
    self.version = version
    self.created = created
    self.isDeleted = isDeleted
    self.fields = fields
  }

  /// What a client that has everything up to `last` does not know: a delete, the whole object, or one update a field
  /// that was written since.
  public func diffs(after last: Seq) -> [Diff] {
    guard !isDeleted else {
      return [Diff(height: version, timestamp: HybridStamp(rawValue: 0), objtype: objtype, uuid: uuid, .delete)]
    }
    guard created <= last else { return [create] }
    let written = fields.filter { $0.value.seq > last }
    return written.sorted { ($0.value.seq, $0.key) < ($1.value.seq, $1.key) }.map { name, field in
      Diff(
        height: field.seq, timestamp: field.timestamp, objtype: objtype, uuid: uuid,
        .update(field: name, field.value))
    }
  }

  private var create: Diff {
    let first = fields.values.min { ($0.seq, $0.timestamp) < ($1.seq, $1.timestamp) }
    return Diff(
      height: created, timestamp: first?.timestamp ?? HybridStamp(rawValue: 0), objtype: objtype, uuid: uuid,
      .create(fields.mapValues { Stamped($0.value, at: $0.timestamp) }))
  }
}
