public import Model

/// One page of a zone's changes while it fills: what comes with its body, what is elided, and where the page ends. The
/// store brings the entries of the scan in its order, straight from where it reads them.
public struct ChangePageBuilder {
  private let scan: ChangeScan
  /// Of the reader's footprint; 0 without one. To be set before the first tombstone comes: only those ask for it.
  public var reach: Seq?
  /// The reader knows of its own entries up to here.
  private let ownThrough: Seq
  private let maxRecords: Int
  private let maxBytes: Int
  private var writer = EntryPageWriter(capacity: 4 << 10)
  private var scanned = 0
  private var last: Seq
  private var isFull = false
  /// The newest place where a batch ends.
  private var boundary: (bytes: Int, count: Int, seq: Seq)?

  public init(_ scan: ChangeScan, _ query: ChangeQuery) {
    self.scan = scan
    ownThrough = query.reader?.ownThrough ?? 0
    maxRecords = query.recordBound
    maxBytes = query.byteBound
    last = scan.isReverse ? scan.start.below : scan.start.seq
  }

  /// - Parameters:
  ///   - endsBatch: whether it is the last of its batch: pages like to end there.
  ///   - bodyBytes: of the body as stored; the reader's own comes without.
  /// - Returns: whether there is room for more.
  public mutating func add(
    _ head: EntryPageWriter.Head, endsBatch: Bool, writer writerName: [UInt8], nameBytes: Int, bodyBytes: Int,
    appendName: (inout [UInt8]) -> Void, appendBody: (inout [UInt8]) -> Void
  ) -> Bool {
    if shows(head) {
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
    if endsBatch, !scan.isReverse { boundary = (writer.bytes.count, writer.count, head.version) }
    isFull = scanned == StoreLimits.scannedPerPage
    return !isFull
  }

  private func shows(_ head: EntryPageWriter.Head) -> Bool {
    if head.isOwn, head.version <= ownThrough { return false }
    return !head.isDeleted || scan.concerns(head, reach: reach ?? .max)
  }

  /// There is more than what was brought.
  public mutating func stop() { isFull = true }

  /// Tags and numbers of one entry, at most.
  private static let overhead = 48

  /// A page that is not the last ends where a batch ends, if one does in it.
  public consuming func finish() -> ChangePage {
    if isFull, let boundary, boundary.count > 0 || writer.count == 0 {
      writer.cut(bytes: boundary.bytes, count: boundary.count)
      last = boundary.seq
    }
    let next = isFull ? scan.cut(behind: last) : scan.end
    var page = ChangePage(
      page: writer.bytes, count: writer.count, next: next, more: next.isReverse || next.seq < scan.head,
      head: scan.head, isConsistent: scan.isConsistent(at: next))
    page.wantsSnapshot = scan.wantsSnapshot(at: next)
    return page
  }
}

extension ChangeQuery {
  /// Entries a page may have.
  public var recordBound: Int { min(max(1, maxRecords), StoreLimits.recordsPerPage) }
  /// Bytes a page may have, unless a single entry is larger.
  public var byteBound: Int { min(max(1, maxBytes), Limits.pageBytes) }
}
