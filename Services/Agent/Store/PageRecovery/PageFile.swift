internal import CaravanModel
internal import CaravanRuntime

/// Pages of a database file with what its write-ahead log has committed over them, in whatever state both are
/// (https://sqlite.org/fileformat2.html). Reads; believes no number it has not checked.
final class PageFile {
  let pageBytes: Int
  let pageCount: Int
  private let file: DiskFile
  private let log: DiskFile?
  /// Where the newest committed content of a page lies in the log.
  private var logged: [Int: Int] = [:]
  private var replaced: [Int: [UInt8]] = [:]

  init(_ path: String, pageBytes: Int) throws(CaravanError) {
    file = try DiskFile(path, isReadOnly: true)
    log = try? DiskFile("\(path)-wal", isReadOnly: true)
    let header = try file.read(at: 0, count: 100)
    let stated = header.count < 18 ? 0 : Int(header.bigEndian(16, 2))
    self.pageBytes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768].contains(stated) ? stated : pageBytes
    let size = try file.usage().size
    // What is cut off in the middle of a page may still have whole rows in its other half, but no header says so.
    var count = (size + self.pageBytes - 1) / self.pageBytes
    if let log {
      logged = try Self.committed(in: log, pageBytes: self.pageBytes)
      count = max(count, logged.keys.max() ?? 0)
    }
    pageCount = count
  }

  func close() {
    file.close()
    log?.close()
  }

  /// This is read in the page's place from now on.
  func put(_ page: [UInt8], for number: Int) { if page.count == pageBytes { replaced[number] = page } }

  /// Pages count from 1. Always as long as a page: what is not there is zero.
  func page(_ number: Int) throws(CaravanError) -> [UInt8] {
    if let page = replaced[number] { return page }
    var bytes: [UInt8]
    if let place = logged[number], let log {
      bytes = try log.read(at: place, count: pageBytes)
    } else {
      bytes = try file.read(at: (number - 1) * pageBytes, count: pageBytes)
    }
    bytes += Array(repeating: 0, count: pageBytes - bytes.count)
    return bytes
  }

  /// Frames up to the last commit before the first that is not as it was written.
  private static func committed(in log: DiskFile, pageBytes: Int) throws(CaravanError) -> [Int: Int] {
    let header = try log.read(at: 0, count: 32)
    guard header.count == 32, header.bigEndian(0, 4) & ~1 == 0x377f_0682, header.bigEndian(8, 4) == UInt64(pageBytes)
    else { return [:] }
    let isBigEndian = header.bigEndian(0, 4) & 1 == 1
    var sum = LogSum(isBigEndian: isBigEndian)
    sum.add(header[0..<24])
    guard sum.stands(in: header, at: 24) else { return [:] }
    var committed: [Int: Int] = [:]
    var pending: [Int: Int] = [:]
    var place = 32
    while true {
      let frame = try log.read(at: place, count: 24 + pageBytes)
      guard frame.count == 24 + pageBytes, frame[8..<16].elementsEqual(header[16..<24]) else { return committed }
      sum.add(frame[0..<8])
      sum.add(frame[24...])
      guard sum.stands(in: frame, at: 16) else { return committed }
      pending[Int(frame.bigEndian(0, 4))] = place + 24
      if frame.bigEndian(4, 4) > 0 {
        committed.merge(pending) { _, new in new }
        pending = [:]
      }
      place += frame.count
    }
  }
}

/// The log's running checksum.
private struct LogSum {
  let isBigEndian: Bool
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    for place in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
      first = first &+ word(bytes, place) &+ second
      second = second &+ word(bytes, place + 4) &+ first
    }
  }

  private func word(_ bytes: ArraySlice<UInt8>, _ place: Int) -> UInt32 {
    let word = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[place + $1]) }
    return isBigEndian ? word : word.byteSwapped
  }

  func stands(in bytes: [UInt8], at place: Int) -> Bool {
    bytes.bigEndian(place, 4) == UInt64(first) && bytes.bigEndian(place + 4, 4) == UInt64(second)
  }
}

extension [UInt8] {
  /// The number in so many bytes; whoever calls has made sure that they are there.
  func bigEndian(_ place: Int, _ count: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 << 8 | UInt64(self[place + $1]) }
  }

  /// One of SQLite's variable-length integers; nil: it ends beyond the bytes.
  func varint(_ place: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard place < count else { return nil }
      let byte = self[place]
      place += 1
      if index == 8 { return value << 8 | UInt64(byte) }
      value = value << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 { return value }
    }
    return nil
  }
}
