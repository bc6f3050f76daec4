internal import CaravanModel
internal import CaravanSQLite

/// Reads the rows of a B-tree around what is damaged. Pages that no sound page leads to any more are found by the
/// pointer map, which tells each page's parent: the store is made with `auto_vacuum`, so there is one.
final class TreeReader {
  struct Found {
    /// 0 in a table without row ids.
    var key: Int64
    var values: [SQLValue]
  }

  private enum Kind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
    var isTable: Bool { self == .tableInterior || self == .tableLeaf }
  }

  private static let longestRecord = 64 << 20

  private let file: PageFile
  /// By page, where the pointer map has one.
  private var parents: [Int: Int] = [:]
  private var children: [Int: [Int]] = [:]
  /// What could not be read of the trees that were visited.
  private(set) var lostPages = 0
  private(set) var lostRows = 0

  init(_ file: PageFile) throws(CaravanError) {
    self.file = file
    let entries = file.pageBytes / 5
    var map = 2
    while map <= file.pageCount {
      let page = try file.page(map)
      for entry in 0..<entries where page[entry * 5] == 5 {
        let (number, parent) = (map + 1 + entry, Int(page.bigEndian(entry * 5 + 1, 4)))
        guard number <= file.pageCount, (1...file.pageCount).contains(parent), parent != number else { continue }
        parents[number] = parent
        children[parent, default: []].append(number)
      }
      map += entries + 1
    }
  }

  /// Every row of the tree that can be read, in the order of its pages.
  func visit(root: Int, _ body: (Found) throws(CaravanError) -> Void) throws(CaravanError) {
    var waiting = [root]
    var seen: Set<Int> = [root]
    while let number = waiting.popLast() {
      let page = try file.page(number)
      let start = number == 1 ? 100 : 0
      var next = children[number] ?? []
      if let kind = Kind(rawValue: page[start]) {
        next += try visit(page, from: start, kind, body)
      } else {
        lostPages += 1
      }
      for child in next.reversed() where try belongs(child, to: number) && seen.insert(child).inserted {
        waiting.append(child)
      }
    }
  }

  /// Where a page and the map disagree about a child, either may be damaged.
  private func belongs(_ child: Int, to number: Int) throws(CaravanError) -> Bool {
    guard child > 1, child <= file.pageCount else { return false }
    guard let parent = parents[child], parent != number else { return true }
    let page = try file.page(parent)
    let start = parent == 1 ? 100 : 0
    guard let kind = Kind(rawValue: page[start]), !kind.isLeaf else { return true }
    return !below(page, from: start, kind).contains(child)
  }

  private func below(_ page: [UInt8], from start: Int, _ kind: Kind) -> [Int] {
    let count = Int(page.bigEndian(start + 3, 2))
    guard start + 12 + 2 * count <= page.count else { return [] }
    let places = (0..<count).map { Int(page.bigEndian(start + 12 + 2 * $0, 2)) } + [start + 8]
    return places.filter { $0 + 4 <= page.count }.map { Int(page.bigEndian($0, 4)) }
  }

  /// - Returns: the pages below.
  private func visit(
    _ page: [UInt8], from start: Int, _ kind: Kind, _ body: (Found) throws(CaravanError) -> Void
  ) throws(CaravanError) -> [Int] {
    let cells = start + (kind.isLeaf ? 8 : 12)
    let count = Int(page.bigEndian(start + 3, 2))
    guard cells + 2 * count <= page.count else {
      lostPages += 1
      return []
    }
    for index in 0..<count {
      var place = Int(page.bigEndian(cells + 2 * index, 2))
      guard place >= cells, place + 4 <= page.count else {
        if kind != .tableInterior { lostRows += 1 }
        continue
      }
      if kind == .tableInterior { continue }
      if !kind.isLeaf { place += 4 }
      guard let found = try row(page, at: place, kind) else {
        lostRows += 1
        continue
      }
      try body(found)
    }
    return kind.isLeaf ? [] : below(page, from: start, kind)
  }

  private func row(_ page: [UInt8], at start: Int, _ kind: Kind) throws(CaravanError) -> Found? {
    var place = start
    guard let size = page.varint(&place), size <= UInt64(Self.longestRecord) else { return nil }
    var key: UInt64? = 0
    if kind.isTable { key = page.varint(&place) }
    guard let key, let payload = try payload(Int(size), page, at: place, isTable: kind.isTable) else { return nil }
    guard let values = Self.values(payload) else { return nil }
    return Found(key: Int64(bitPattern: key), values: values)
  }

  /// What lies in the page, and what of it lies in pages of its own.
  private func payload(
    _ size: Int, _ page: [UInt8], at place: Int, isTable: Bool
  ) throws(CaravanError) -> [UInt8]? {
    let usable = page.count
    let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if size <= most { return place + size <= usable ? Array(page[place..<place + size]) : nil }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (size - least) % (usable - 4)
    let local = fitting <= most ? fitting : least
    guard place + local + 4 <= usable else { return nil }
    var bytes = Array(page[place..<place + local])
    var next = Int(page.bigEndian(place + local, 4))
    while bytes.count < size {
      guard next > 1, next <= file.pageCount else { return nil }
      let overflow = try file.page(next)
      bytes += overflow[4..<4 + min(usable - 4, size - bytes.count)]
      next = Int(overflow.bigEndian(0, 4))
    }
    return bytes
  }

  /// Nil: this is no record.
  private static func values(_ record: [UInt8]) -> [SQLValue]? {
    var place = 0
    guard let header = record.varint(&place), header <= UInt64(record.count), header > 0 else { return nil }
    var body = Int(header)
    var values: [SQLValue] = []
    while place < Int(header) {
      guard let type = record.varint(&place), let value = value(of: type, record, &body) else { return nil }
      values.append(value)
    }
    return place == Int(header) && body == record.count ? values : nil
  }

  private static func value(of type: UInt64, _ record: [UInt8], _ place: inout Int) -> SQLValue? {
    let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
    guard type < 10 || type >= 12 else { return nil }
    let size = type < 10 ? UInt64(sizes[Int(type)]) : (type - 12) / 2
    guard size <= UInt64(record.count - place) else { return nil }
    let bytes = Array(record[place..<place + Int(size)])
    place += Int(size)
    switch type {
    case 0: return .null
    case 1...6:
      let shift = 64 - 8 * bytes.count
      return .integer((Int64(bitPattern: bytes.bigEndian(0, bytes.count)) << shift) >> shift)
    case 7: return .real(Double(bitPattern: bytes.bigEndian(0, 8)))
    case 8: return .integer(0)
    case 9: return .integer(1)
    case let type where type % 2 == 0: return .blob(bytes)
    default: return .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}
