public import CaravanModel
public import CaravanRuntime
public import CaravanStore
internal import CaravanWire

/// A backup: one file, the same for every engine (Protos/caravan/v1/archive.proto).
public enum BackupFile {
  static let format: UInt32 = 3
  /// What the release before wrote: devices are named without their users, and records have no times.
  static let oldestFormat: UInt32 = 2
  static let bufferBytes = 1 << 20
  /// A record and its chunks' hashes, or a chunk, with room around; a manifest names every zone.
  static let itemBytes = 1 << 30

  /// Writes what the source holds. The file is there under its name when all of it is on the disk.
  /// - Throws: `objectExists` when there is such a file; what the source or the disk say.
  @discardableResult
  public static func write(
    _ source: any ArchiveSource, to path: String, at time: WallTime
  ) throws(CaravanError) -> ArchiveSummary {
    let writer = try BackupWriter(path, at: time)
    do throws(CaravanError) {
      try source.export { item throws(CaravanError) in try writer.add(item) }
      return try writer.finish()
    } catch {
      writer.abandon()
      throw error
    }
  }

  /// Reads all of it, and says what it holds.
  /// - Parameter take: is given every item. Only after the end is certain that they were good.
  /// - Throws: `invalidData` for a backup that is not what was written, with the place where it is not.
  @discardableResult
  public static func read(
    _ path: String, _ take: (StoreContent) throws(CaravanError) -> Void = { _ in }
  ) throws(CaravanError) -> ArchiveSummary {
    var reader = try BackupReader(path)
    return try reader.readAll(take)
  }

  /// Fills a store from a backup that has been found good before anything is written.
  /// - Parameters:
  ///   - now: versions behind a restore ascend with its time (`ArchiveLimits.reach`).
  ///   - sink: makes the place that is filled.
  ///   - filled: opens it once it is, so that it can be compared.
  /// - Throws: `invalidData` for a bad backup, or one that was made after `now`; what the place says.
  public static func restore(
    _ path: String, at now: WallTime, into sink: () throws(CaravanError) -> any ArchiveSink,
    checking filled: () throws(CaravanError) -> any ArchiveSource
  ) throws(CaravanError) -> ArchiveSummary {
    var reader = try BackupReader(path)
    var renaming = ArchiveRenaming()
    let found = try reader.readAll { item throws(CaravanError) in renaming.learn(item) }
    let isOld = reader.format < format
    guard reader.made <= now else {
      let ahead = (reader.made.milliseconds - now.milliseconds + 999) / 1_000
      throw CaravanError(
        .invalidData, "the backup was made \(ahead) s from now, says the clock of this machine: set the clock")
    }
    let target = try sink()
    target.begin(madeAt: reader.made.milliseconds)
    var renamed = ArchiveDigester()
    try read(path) { item throws(CaravanError) in
      guard isOld else { return try target.take(item) }
      for item in renaming.renamed(item) {
        try renamed.add(item)
        try target.take(item)
      }
    }
    try target.finish()
    let expected = isOld ? renamed.summary : found
    var digester = ArchiveDigester()
    try filled().export { item throws(CaravanError) in try digester.add(item) }
    if let difference = expected.difference(to: digester.summary) {
      throw CaravanError(.internalError, "what was restored differs in \(difference): do not use it")
    }
    return expected
  }
}

private final class BackupWriter {
  private let path: String
  private let file: DiskFile
  private var offset = 0
  private var buffer: [UInt8] = []
  private var chain = Chain.start
  private var items: UInt64 = 0
  private var digester = ArchiveDigester()

  init(_ path: String, at time: WallTime) throws(CaravanError) {
    guard !DiskFile.exists(path) else {
      throw CaravanError(.objectExists, "'\(path)' is there already: give the backup another name")
    }
    self.path = path
    file = try DiskFile("\(path).part")
    try file.resize(to: 0)
    try append(
      CaravanWire.ArchiveItem(
        kind: .header(ArchiveHeader(format: BackupFile.format, madeMilliseconds: UInt64(max(0, time.milliseconds))))))
  }

  func add(_ item: StoreContent) throws(CaravanError) {
    try digester.add(item)
    try append(CaravanWire.ArchiveItem(item))
  }

  private func append(_ item: CaravanWire.ArchiveItem) throws(CaravanError) {
    let bytes = item.encoded()
    let framed = BackupFile.framed(bytes)
    Chain.add(framed, to: &chain)
    buffer += framed
    items += 1
    if buffer.count >= BackupFile.bufferBytes { try flush() }
  }

  private func flush() throws(CaravanError) {
    try file.write(buffer, at: offset)
    offset += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  func finish() throws(CaravanError) -> ArchiveSummary {
    let manifest = ArchiveManifest(digester.summary, items: items, digest: chain)
    try append(CaravanWire.ArchiveItem(kind: .manifest(manifest)))
    try flush()
    try file.sync()
    file.close()
    try DiskFile.rename("\(path).part", to: path)
    return digester.summary
  }

  func abandon() {
    file.close()
    DiskFile.remove("\(path).part")
  }
}

extension BackupFile {
  /// With its length before it.
  fileprivate static func framed(_ bytes: [UInt8]) -> [UInt8] {
    let length = UInt32(bytes.count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + bytes
  }
}

private struct BackupReader {
  private let file: DiskFile
  private let size: Int
  private var offset = 0
  private var buffer: ArraySlice<UInt8> = []
  private var chain = Chain.start
  private var items: UInt64 = 0
  /// Where the newest item begins.
  private var start = 0
  private var digester = ArchiveDigester()
  /// When the backup was made; known once all is read.
  private(set) var made = WallTime(milliseconds: 0)
  /// Known once all is read.
  private(set) var format = BackupFile.format

  init(_ path: String) throws(CaravanError) {
    guard DiskFile.exists(path) else { throw CaravanError(.invalidData, "there is no backup '\(path)'") }
    file = try DiskFile(path, isReadOnly: true)
    size = try file.usage().size
  }

  mutating func readAll(
    _ take: (StoreContent) throws(CaravanError) -> Void
  ) throws(CaravanError) -> ArchiveSummary {
    guard case .header(let header)? = try next()?.kind else { throw damaged("it does not begin as a backup") }
    guard (BackupFile.oldestFormat...BackupFile.format).contains(header.format) else {
      throw CaravanError(
        .invalidData,
        "the backup has format \(header.format): this release reads \(BackupFile.oldestFormat) and \(BackupFile.format)"
          + (header.format > BackupFile.format ? "; restore it with a newer one" : ""))
    }
    format = header.format
    made = WallTime(milliseconds: Int64(clamping: header.madeMilliseconds))
    while true {
      let (before, count) = (chain, items)
      guard let item = try next() else { throw damaged("it has no end") }
      if case .manifest(let manifest) = item.kind {
        try check(manifest, ArchiveManifest(digester.summary, items: count, digest: before))
        guard try next() == nil else { throw damaged("something comes after its end") }
        return digester.summary
      }
      try take(checked(item))
    }
  }

  private mutating func checked(_ item: CaravanWire.ArchiveItem) throws(CaravanError) -> StoreContent {
    do throws(CaravanError) {
      guard let content = try item.model(in: digester.database) else {
        throw CaravanError(.invalidData, "it begins again")
      }
      try digester.add(content)
      return content
    } catch { throw damaged(error.message) }
  }

  private func damaged(_ what: String) -> CaravanError {
    CaravanError(
      .invalidData, "the backup is damaged at byte \(start) of \(size), \(digester.place): \(what); use another one")
  }

  /// What was read against what was written, the smallest part first.
  private func check(_ written: ArchiveManifest, _ read: ArchiveManifest) throws(CaravanError) {
    guard written != read else { return }
    let summary = digester.summary
    var part = "what comes before its end"
    if let number = zip(written.zones, read.zones).map({ $0 == $1 }).firstIndex(of: false) {
      part = "zone \(summary.zones[number].id)"
    } else if let number = zip(written.databases, read.databases).map({ $0 == $1 }).firstIndex(of: false) {
      part = "database \(summary.databases[number].id)"
    } else if written.zones.count != read.zones.count {
      part = "the list of zones"
    }
    throw CaravanError(
      .invalidData, "the backup is damaged: \(part) is not what its manifest says; use another one")
  }

  private mutating func next() throws(CaravanError) -> CaravanWire.ArchiveItem? {
    start = offset - buffer.count
    guard let head = try bytes(4) else { return nil }
    let length = head.reduce(0) { $0 << 8 | Int($1) }
    guard length <= min(BackupFile.itemBytes, size), let body = try bytes(length) else {
      throw damaged("an item is cut off")
    }
    Chain.add(head + body, to: &chain)
    items += 1
    do { return try CaravanWire.ArchiveItem(decoding: body) } catch { throw damaged("an item is malformed") }
  }

  /// nil: the file ends exactly here.
  private mutating func bytes(_ count: Int) throws(CaravanError) -> [UInt8]? {
    while buffer.count < count {
      let more = try file.read(at: offset, count: max(BackupFile.bufferBytes, count - buffer.count))
      guard !more.isEmpty else {
        guard buffer.isEmpty else { throw damaged("it ends in the middle of an item") }
        return nil
      }
      offset += more.count
      buffer += more
    }
    defer { buffer = buffer.dropFirst(count) }
    return Array(buffer.prefix(count))
  }
}
