public import CaravanModel

/// Writes an `EntryPage` (Protos/caravan/v1/model.proto) entry by entry, straight from where the store reads them, so
/// that a pull copies each body once. A test holds it against the generated encoder.
public struct EntryPageWriter: Sendable {
  /// The page so far.
  public private(set) var bytes: [UInt8] = []
  public private(set) var count = 0

  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// An entry without its name and body, which come as bytes.
  public struct Head: Sendable {
    public var version: Seq
    public var created: Seq
    public var isDeleted: Bool
    public var type: UInt32
    public var isOwn: Bool
    /// Unix milliseconds; 0: never.
    public var expires: Int64
    /// Encoded `FieldVersions`, or empty.
    public var fields: [UInt8]
    /// As the store's flag says; it does not travel.
    public var isRegained: Bool
    /// What it has become is nothing to the reader.
    public var isOutsideFilter = false
    /// When it was written and when its record was made, as `Authorship` says.
    public var modified: Int64 = 0
    public var made: Int64 = 0
    /// Who made the record; empty: whoever wrote the entry, or nobody knows.
    public var creator: [UInt8] = []
    /// How long ago the record had been made, one up; 0: nobody knows.
    var age: UInt64 { made > 0 ? UInt64(max(0, modified - made)) + 1 : 0 }

    static func outsideFilter(_ version: Seq) -> Head {
      var head = Head(version: version, created: 0, isDeleted: false, type: 0, isOwn: false)
      head.isOutsideFilter = true
      return head
    }

    public init(
      version: Seq, created: Seq, isDeleted: Bool, type: UInt32, isOwn: Bool, expires: Int64 = 0, fields: [UInt8] = [],
      isRegained: Bool = false
    ) {
      self.version = version
      self.created = created
      self.isDeleted = isDeleted
      self.type = type
      self.isOwn = isOwn
      self.expires = expires
      self.fields = fields
      self.isRegained = isRegained
    }
  }

  /// Appends one entry. `appendName` and `appendBody` append exactly as many bytes as announced.
  public mutating func append(
    _ head: Head, writer: [UInt8], nameBytes: Int, bodyBytes: Int, appendName: (inout [UInt8]) -> Void,
    appendBody: (inout [UInt8]) -> Void
  ) {
    // The fields' tags: number << 3 | wire type (https://protobuf.dev/programming-guides/encoding/).
    bytes.append(0x0a)
    bytes.append(varint: UInt64(size(head, nameBytes: nameBytes, bodyBytes: bodyBytes, writerBytes: writer.count)))
    let start = bytes.count
    if nameBytes > 0 { bytes.append(0x0a, varint: UInt64(nameBytes), then: appendName) }
    if head.version > 0 { bytes.append(0x10, varint: head.version) }
    if head.created > 0 { bytes.append(0x18, varint: head.created) }
    if head.isDeleted { bytes.append(0x20, varint: 1) }
    if head.type > 0 { bytes.append(0x28, varint: UInt64(head.type)) }
    if bodyBytes > 0 { bytes.append(0x32, varint: UInt64(bodyBytes), then: appendBody) }
    if head.isOwn { bytes.append(0x38, varint: 1) }
    if !writer.isEmpty { bytes.append(0x42, varint: UInt64(writer.count)) { $0.append(contentsOf: writer) } }
    if head.expires > 0 { bytes.append(0x48, varint: UInt64(head.expires)) }
    if !head.fields.isEmpty {
      bytes.append(0x52, varint: UInt64(head.fields.count)) { $0.append(contentsOf: head.fields) }
    }
    if head.isOutsideFilter { bytes.append(0x58, varint: 1) }
    if head.modified > 0 { bytes.append(0x60, varint: UInt64(head.modified)) }
    if head.age > 0 { bytes.append(0x68, varint: head.age) }
    if !head.creator.isEmpty {
      bytes.append(0x72, varint: UInt64(head.creator.count)) { $0.append(contentsOf: head.creator) }
    }
    precondition(
      bytes.count - start == size(head, nameBytes: nameBytes, bodyBytes: bodyBytes, writerBytes: writer.count),
      "an entry has another size than it announced")
    count += 1
  }

  public mutating func append(_ entry: Entry, isOwn: Bool = false) {
    var head = Head(
      version: entry.version, created: entry.created, isDeleted: entry.isDeleted, type: entry.type, isOwn: isOwn,
      expires: entry.expires, fields: entry.fields)
    let authorship = entry.authorship
    (head.modified, head.made) = (authorship.modified, authorship.created)
    if authorship.creator != entry.writer { head.creator = Array(authorship.creator.utf8) }
    append(
      head, writer: Array(entry.writer.utf8), nameBytes: entry.name.utf8.count, bodyBytes: isOwn ? 0 : entry.body.count
    ) {
      $0.append(contentsOf: entry.name.utf8)
    } appendBody: {
      $0.append(contentsOf: entry.body)
    }
  }

  /// Takes back everything after a place where `bytes` and `count` were these.
  public mutating func cut(bytes size: Int, count: Int) {
    precondition(size <= bytes.count && count <= self.count, "a page cannot be cut longer than it is")
    bytes.removeSubrange(size...)
    self.count = count
  }

  private func size(_ head: Head, nameBytes: Int, bodyBytes: Int, writerBytes: Int) -> Int {
    func field(_ length: Int) -> Int { length > 0 ? 1 + UInt64(length).varintBytes + length : 0 }
    func number(_ value: UInt64) -> Int { value > 0 ? 1 + value.varintBytes : 0 }
    return field(nameBytes) + number(head.version) + number(head.created) + (head.isDeleted ? 2 : 0)
      + number(UInt64(head.type)) + field(bodyBytes) + (head.isOwn ? 2 : 0) + field(writerBytes)
      + number(UInt64(head.expires)) + field(head.fields.count) + (head.isOutsideFilter ? 2 : 0)
      + number(UInt64(head.modified)) + number(head.age) + field(head.creator.count)
  }
}

extension UInt64 {
  /// Bytes of its LEB128 form: one for every 7 bits.
  var varintBytes: Int { (UInt64.bitWidth - (self | 1).leadingZeroBitCount + 6) / 7 }
}

extension [UInt8] {
  mutating func append(varint value: UInt64) {
    var value = value
    while value >= 0x80 {
      append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    append(UInt8(value))
  }

  fileprivate mutating func append(_ tag: UInt8, varint value: UInt64) {
    append(tag)
    append(varint: value)
  }

  fileprivate mutating func append(_ tag: UInt8, varint length: UInt64, then body: (inout [UInt8]) -> Void) {
    append(tag, varint: length)
    body(&self)
  }
}
