public import Model

/// One page of a zone's changes while it fills: what comes with its body, what is elided, and where the page ends. The
/// store brings the entries in the order of their seq, straight from where it reads them.
public struct ChangePageBuilder {
  public let after: Seq
  private let allTombstones: Bool
  private let maxRecords: Int
  private let maxBytes: Int
  private var writer = EntryPageWriter(capacity: 4 << 10)
  private var scanned = 0
  private var last: Seq
  private var isFull = false
  /// The newest place where a batch ends.
  private var boundary: (bytes: Int, count: Int, seq: Seq)?

  /// - Parameter after: the position the page begins behind; not the query's where that belongs to another life.
  public init(_ query: ChangeQuery, after: Seq) {
    self.after = after
    allTombstones = query.allTombstones
    maxRecords = query.recordBound
    maxBytes = query.byteBound
    last = after
  }

  /// - Parameters:
  ///   - endsBatch: whether it is the last of its batch: pages like to end there.
  ///   - bodyBytes: of the body as stored; the reader's own comes without.
  /// - Returns: whether there is room for more.
  public mutating func add(
    _ head: EntryPageWriter.Head, endsBatch: Bool, writer writerName: [UInt8], nameBytes: Int, bodyBytes: Int,
    appendName: (inout [UInt8]) -> Void, appendBody: (inout [UInt8]) -> Void
  ) -> Bool {
    // CK-43: who only reads, and has nothing before `created`, never saw the record that is gone.
    if !(head.isDeleted && head.created > after && !allTombstones) {
      let bodyBytes = head.isOwn ? 0 : bodyBytes
      let size = nameBytes + bodyBytes + writerName.count + head.fields.count + Self.overhead
      guard writer.count < maxRecords, writer.count == 0 || writer.bytes.count + size <= maxBytes else {
        isFull = true
        return false
      }
      writer.append(
        head, writer: writerName, nameBytes: nameBytes, bodyBytes: bodyBytes, appendName: appendName,
        appendBody: appendBody)
    }
    last = head.version
    scanned += 1
    if endsBatch { boundary = (writer.bytes.count, writer.count, head.version) }
    isFull = scanned == StoreLimits.scannedPerPage
    return !isFull
  }

  /// There is more than what was brought.
  public mutating func stop() { isFull = true }

  /// Tags and numbers of one entry, at most.
  private static let overhead = 48

  /// A page that is not the last ends where a batch ends, if one does in it.
  public consuming func finish(head: Seq, incarnation: Incarnation) -> ChangePage {
    if isFull, let boundary, boundary.count > 0 || writer.count == 0 {
      writer.cut(bytes: boundary.bytes, count: boundary.count)
      last = boundary.seq
    }
    return ChangePage(
      page: writer.bytes, count: writer.count, last: isFull ? last : head, more: isFull && last < head, head: head,
      incarnation: incarnation)
  }
}

extension ChangeQuery {
  /// Entries a page may have.
  public var recordBound: Int { min(max(1, maxRecords), StoreLimits.recordsPerPage) }
  /// Bytes a page may have, unless a single entry is larger.
  public var byteBound: Int { min(max(1, maxBytes), Limits.pageBytes) }

  /// Where to read in a zone that stands at `seq` in this life; nil: the position is of another history.
  public func start(in incarnation: Incarnation, at seq: Seq) -> Seq? {
    guard self.incarnation != 0 else { return 0 }
    return self.incarnation == incarnation && after <= seq ? after : nil
  }
}
