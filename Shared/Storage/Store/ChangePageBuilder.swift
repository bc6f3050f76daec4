public import CaravanModel
internal import CaravanQuery

/// One page of a zone's changes while it fills: what comes with its body, what is elided, and where the page ends. The
/// store brings the entries of the scan in its order, straight from where it reads them.
public struct ChangePageBuilder {
  private let scan: ChangeScan
  /// Of the reader's footprint; 0 without one. To be set before the first entry comes of which `asksForReach` is true.
  public var reach: Seq?
  private let filter: BodyFilter?
  /// A body that the filter looks at.
  private var looked: [UInt8] = []
  /// The reader knows of its own entries up to here.
  private let ownThrough: Seq
  private let maxRecords: Int
  private let maxBytes: Int
  private var writer = EntryPageWriter(capacity: 4 << 10)
  private var scanned = 0
  private var last: Seq
  private var isFull = false
  /// Left out because they are damaged, and how much room their names take.
  private var damaged: [DamagedVersion] = []
  private var damagedBytes = 0
  /// The newest place where a batch ends.
  private var boundary: (bytes: Int, count: Int, seq: Seq)?

  public init(_ scan: ChangeScan, _ query: ChangeQuery) {
    self.scan = scan
    ownThrough = query.reader?.ownThrough ?? 0
    filter = query.filter.map(BodyFilter.init)
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
    let isOutsideFilter = excludes(head, appendBody)
    if shows(head, isOutsideFilter) {
      let head = isOutsideFilter ? .outsideFilter(head.version) : head
      let (writerName, bodyBytes) = isOutsideFilter ? ([], 0) : (writerName, head.isOwn ? 0 : bodyBytes)
      let size = nameBytes + bodyBytes + writerName.count + head.fields.count + head.creator.count + Self.overhead
      guard writer.count + damaged.count < maxRecords,
        writer.count == 0 || writer.bytes.count + damagedBytes + size <= maxBytes
      else {
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

  /// An entry whose row is not as it was written: it is named, and passed.
  /// - Returns: whether there is room for more.
  public mutating func add(damaged entry: DamagedVersion) -> Bool {
    let size = entry.name.utf8.count + Self.overhead
    let taken = writer.bytes.count + damagedBytes
    guard writer.count + damaged.count < maxRecords, taken == 0 || taken + size <= maxBytes else {
      isFull = true
      return false
    }
    damaged.append(entry)
    damagedBytes += size
    last = entry.version
    scanned += 1
    isFull = scanned == StoreLimits.scannedPerPage
    return !isFull
  }

  private func shows(_ head: EntryPageWriter.Head, _ isOutsideFilter: Bool) -> Bool {
    if head.isOwn, head.version <= ownThrough { return false }
    return !head.isDeleted && !isOutsideFilter || scan.concerns(head, reach: reach ?? .max)
  }

  /// Tombstones ask, and what may be excluded.
  public func asksForReach(_ head: EntryPageWriter.Head) -> Bool { reach == nil && (head.isDeleted || filter != nil) }

  /// Of what the reader wrote itself it has the body.
  private mutating func excludes(_ head: EntryPageWriter.Head, _ appendBody: (inout [UInt8]) -> Void) -> Bool {
    guard let filter, !head.isOwn, !head.isDeleted else { return false }
    looked.removeAll(keepingCapacity: true)
    appendBody(&looked)
    return filter.excludes(looked)
  }

  /// There is more than what was brought.
  public mutating func stop() { isFull = true }

  /// Tags and numbers of one entry, at most.
  private static let overhead = 64

  /// A page that is not the last ends where a batch ends, if one does in it.
  public consuming func finish() -> ChangePage {
    if isFull, let boundary, boundary.count > 0 || writer.count == 0 && damaged.isEmpty {
      writer.cut(bytes: boundary.bytes, count: boundary.count)
      last = boundary.seq
      damaged.removeAll { $0.version > boundary.seq }
    }
    let next = isFull ? scan.cut(behind: last) : scan.end
    var page = ChangePage(
      page: writer.bytes, count: writer.count, next: next, more: next.isReverse || next.seq < scan.head,
      head: scan.head, isConsistent: scan.isConsistent(at: next))
    page.damaged = damaged
    page.wantsSnapshot = scan.wantsSnapshot(at: next)
    return page
  }
}

extension ChangeQuery {
  /// Entries a page may have.
  public var recordBound: Int { min(max(1, maxRecords), StoreLimits.recordsPerPage) }
  /// Bytes a page may have, unless a single entry is larger.
  public var byteBound: Int { min(max(1, maxBytes), Limits.pageBytes) }
  /// Bytes of bodies that are worth reading for it: of many the filter leaves nothing.
  public var readBound: Int { filter == nil ? byteBound : Limits.pageBytes }
}
