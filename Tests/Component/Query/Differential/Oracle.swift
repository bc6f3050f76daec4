import CaravanModel
import Foundation

/// A record as it was saved, with the words of its texts.
struct KnownRecord {
  let shard: UInt32
  let zone: String
  let name: String
  let fields: RecordFields
  /// By field.
  let words: [UInt32: [String]]
  let authorship: Authorship

  var place: [[UInt8]] { [Array(zone.utf8), Array(name.utf8)] }
}

/// Says what a question finds by looking at every record, with rules of its own: those of the language's page
/// (Shared/Values/Query/README.md), written down once more and as plainly as can be.
struct Oracle {
  /// How much of a text or of data an order looks at.
  private static let orderedBytes = 1_023

  let records: [KnownRecord]

  /// The records of the answer, in order.
  func answer(_ asked: Asked?, zone: String?, author: String?, sort: [SortKey], _ type: RecordType) -> [KnownRecord] {
    records.filter { record in
      guard zone == nil || zone == record.zone else { return false }
      if let author, self.author(record) != .text(author) { return false }
      return asked.map { holds($0, record) == true } ?? true
    }.sorted { precedes($0, $1, sort, type) }
  }

  // MARK: Three answers

  /// nil: nobody knows.
  private func holds(_ asked: Asked, _ record: KnownRecord) -> Bool? {
    switch asked {
    case .leaf(let leaf):
      let truth = holds(leaf, record)
      return leaf.isNegated ? truth.map { !$0 } : truth
    case .not(let part): return holds(part, record).map { !$0 }
    case .all(let parts): return all(parts.map { holds($0, record) })
    case .any(let parts): return any(parts.map { holds($0, record) })
    }
  }

  private func all(_ truths: [Bool?]) -> Bool? { truths.contains(false) ? false : truths.contains(nil) ? nil : true }
  private func any(_ truths: [Bool?]) -> Bool? { truths.contains(true) ? true : truths.contains(nil) ? nil : false }

  private func holds(_ leaf: AskedLeaf, _ record: KnownRecord) -> Bool? {
    let value = value(of: leaf.field, record)
    switch leaf.test {
    case .compare(let sign, let operand): return compare(value, sign, operand, isList: leaf.field.isList)
    case .among(let operands): return any(operands.map { compare(value, .equal, $0) })
    case .between(let low, let high):
      return all([compare(value, .greaterOrEqual, low), compare(value, .lessOrEqual, high)])
    case .begins(let prefix):
      return bytes(value).map { $0.starts(with: bytes(prefix) ?? []) }
    case .like(let pattern):
      guard case .text(let text) = pattern, let bytes = bytes(value) else { return nil }
      return isLike(String(decoding: bytes, as: UTF8.self), text)
    case .match(let isAny, let sought):
      guard value != .null else { return nil }
      let words = record.words[leaf.field.id] ?? []
      let found = sought.phrases.map { stands($0, in: words) }
      return isAny ? found.contains(true) : !found.contains(false)
    case .contains(let isAny, let operands):
      guard case .list(let items) = value else { return nil }
      let found = operands.map { operand in items.contains { order($0, operand) == 0 } }
      return isAny ? found.contains(true) : !found.contains(false)
    case .containsLike(let pattern):
      guard case .list(let items) = value else { return nil }
      return items.contains { if case .text(let text) = $0 { isLike(text, pattern) } else { false } }
    case .near(let circle):
      guard case .location(let place) = value else { return nil }
      return metres(place, (circle[0], circle[1])) <= circle[2]
    case .within(let box):
      guard case .location(let place) = value else { return nil }
      let isEast = place.longitude >= box[1]
      let isWest = place.longitude <= box[3]
      return place.latitude >= box[0] && place.latitude <= box[2]
        && (box[1] <= box[3] ? isEast && isWest : isEast || isWest)
    }
  }

  private func compare(_ value: Value, _ sign: AskedLeaf.Sign, _ operand: Value, isList: Bool = false) -> Bool? {
    switch sign {
    case .same, .distinct:
      let isSame = value == .null || operand == .null ? value == operand : order(value, operand) == 0
      return isSame == (sign == .same)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard value != .null, operand != .null, let order = order(value, operand) else { return nil }
      switch sign {
      case .equal: return order == 0
      case .notEqual: return order != 0
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    }
  }

  // MARK: Values

  /// What is of another kind than the field, and what is no number, is null.
  private func value(of field: FieldDefinition, _ record: KnownRecord) -> Value {
    switch field.name {
    case "___recordID": return .text(record.name)
    case "___createTime": return record.authorship.created > 0 ? .integer(record.authorship.created) : .null
    case "___modTime": return record.authorship.modified > 0 ? .integer(record.authorship.modified) : .null
    case "___createdBy": return author(record)
    default: break
    }
    let value = record.fields[field.id]
    if field.isList {
      guard case .list(let items) = value else { return .null }
      return .list(items.map { plain($0, field.kind) })
    }
    return plain(value, field.kind)
  }

  private func plain(_ value: Value, _ kind: FieldKind) -> Value {
    switch (kind, value) {
    case (.text, .text), (.data, .data), (.integer, .integer), (.date, .integer), (.reference, .reference),
      (.location, .location):
      value
    case (.real, .integer(let number)): .real(Double(number))
    case (.real, .real(let number)): number.isNaN ? .null : value
    default: .null
    }
  }

  /// Before the slash of who made it, for whom a service may have settled a conflict; a service is its own author.
  private func author(_ record: KnownRecord) -> Value {
    let creator = record.authorship.creator.replacing(/^@sync\//, with: "")
    if let slash = creator.firstIndex(of: "/") { return .text(String(creator[..<slash])) }
    return creator.hasPrefix("@") ? .text(creator) : .null
  }

  /// nil: they have no order.
  private func order(_ a: Value, _ b: Value) -> Int? {
    func sign<Number: Comparable>(_ a: Number, _ b: Number) -> Int { a < b ? -1 : a > b ? 1 : 0 }
    switch (a, b) {
    case (.integer(let x), .integer(let y)): return sign(x, y)
    case (.real(let x), .real(let y)): return sign(x, y)
    case (.real(let x), .integer(let y)): return sign(x, Double(y))
    case (.integer(let x), .real(let y)):
      if y >= 0x1p63 { return -1 }
      if y < -0x1p63 { return 1 }
      let whole = Int64(y.rounded(.down))
      return x == whole ? (Double(whole) == y ? 0 : -1) : sign(x, whole)
    case (_, _):
      guard let x = bytes(a), let y = bytes(b) else { return nil }
      return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    }
  }

  private func bytes(_ value: Value) -> [UInt8]? {
    switch value {
    case .text(let text): Array(text.utf8)
    case .data(let bytes): bytes
    case .reference(let reference): Array(reference.target.utf8)
    case .null, .integer, .real, .asset, .assetList, .location, .list: nil
    }
  }

  // MARK: Texts and places

  /// Which beginnings of the pattern the text so far is like, character by character.
  private func isLike(_ text: String, _ pattern: String) -> Bool {
    let pattern = Array(pattern.unicodeScalars)
    func withAny(_ places: Set<Int>) -> Set<Int> {
      var places = places
      for place in pattern.indices where places.contains(place) && pattern[place] == "%" { places.insert(place + 1) }
      return places
    }
    var places = withAny([0])
    for scalar in text.unicodeScalars {
      var next: Set<Int> = []
      for place in places where place < pattern.count {
        if pattern[place] == "%" { next.insert(place) }
        if pattern[place] == "_" || pattern[place] == scalar && scalar != "%" { next.insert(place + 1) }
      }
      places = withAny(next)
      if places.isEmpty { return false }
    }
    return places.contains(pattern.count)
  }

  private func stands(_ phrase: SoughtWords.Phrase, in words: [String]) -> Bool {
    let sought = phrase.words.map { Array($0.utf8) }
    guard words.count >= sought.count else { return false }
    return (0...(words.count - sought.count)).contains { start in
      sought.indices.allSatisfy { place in
        let word = Array(words[start + place].utf8)
        return phrase.isPrefix && place == sought.count - 1 ? word.starts(with: sought[place]) : word == sought[place]
      }
    }
  }

  /// The haversine formula over a sphere of the earth's mean radius.
  private func metres(_ a: CaravanModel.Location, _ b: (latitude: Double, longitude: Double)) -> Double {
    let (x, y) = (a.latitude * .pi / 180, b.latitude * .pi / 180)
    let (north, east) = (sin((y - x) / 2), sin((b.longitude - a.longitude) * .pi / 360))
    let h = north * north + cos(x) * cos(y) * east * east
    return 2 * 6_371_008.8 * asin(min(1, h.squareRoot()))
  }

  // MARK: Order

  private func precedes(_ a: KnownRecord, _ b: KnownRecord, _ sort: [SortKey], _ type: RecordType) -> Bool {
    for key in sort {
      let (x, y) = (sorted(a, by: key, type), sorted(b, by: key, type))
      guard x != y else { continue }
      // Null comes first.
      let order = x == .null ? -1 : y == .null ? 1 : order(x, y) ?? 0
      if order != 0 { return key.isDescending ? order > 0 : order < 0 }
    }
    let isDescending = sort.last?.isDescending ?? false
    for (x, y) in zip(a.place, b.place) where x != y { return x.lexicographicallyPrecedes(y) != isDescending }
    return false
  }

  private func sorted(_ record: KnownRecord, by key: SortKey, _ type: RecordType) -> Value {
    let field = type.field(named: key.field) ?? FieldDefinition(id: 0, name: key.field, kind: .text)
    let value = value(of: field, record)
    if let near = key.near {
      guard case .location(let place) = value else { return .null }
      return .real(metres(place, (near.latitude, near.longitude)))
    }
    guard let bytes = bytes(value) else { return value }
    return .data(Array(bytes.prefix(Self.orderedBytes)))
  }
}
