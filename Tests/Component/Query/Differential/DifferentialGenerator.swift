import CaravanModel
import CaravanQuery
import CaravanTestKit

/// Records of all kinds of fields, and questions about them. Most values come from small sets, so that they meet; the
/// others lie anywhere.
struct DifferentialGenerator {
  let chance: Chance

  /// More fields that can be compared than have keys.
  static let type = RecordType(
    id: 4, definition: 2, name: "photos",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "title", kind: .text),
      FieldDefinition(id: 3, name: "count", kind: .integer), FieldDefinition(id: 4, name: "size", kind: .real),
      FieldDefinition(id: 5, name: "taken", kind: .date), FieldDefinition(id: 6, name: "hash", kind: .data),
      FieldDefinition(id: 7, name: "album", kind: .reference), FieldDefinition(id: 8, name: "place", kind: .location),
      FieldDefinition(id: 9, name: "spot", kind: .location),
      FieldDefinition(id: 10, name: "tags", kind: .text, isList: true),
      FieldDefinition(id: 11, name: "numbers", kind: .integer, isList: true),
      FieldDefinition(id: 12, name: "ratios", kind: .real, isList: true),
      FieldDefinition(id: 13, name: "days", kind: .date, isList: true),
      FieldDefinition(id: 14, name: "blobs", kind: .data, isList: true),
      FieldDefinition(id: 15, name: "links", kind: .reference, isList: true),
    ] + (16...21).map { FieldDefinition(id: $0, name: "more\($0)", kind: .integer) })

  static let systemFields = SystemField.allCases.map(\.definition)
  private static var comparable: [FieldDefinition] {
    (type.fields + systemFields).filter { !$0.isList && $0.kind != .location }
  }

  private static let integers: [Int64] = [
    .min, .min + 1, -1, 0, 1, 2, 3, 7, 9_007_199_254_740_992, 9_007_199_254_740_993, .max,
  ]
  private static let reals: [Double] = [
    -.infinity, -1e300, -1.5, -0.0, 0, .leastNonzeroMagnitude, 0.5, 1, 1.5, 2, 9_007_199_254_740_992, 1e300, .infinity,
  ]
  /// What an integer is compared with as well.
  private static let fractions: [Double] = [-0x1p63, 0x1p63, -1.5, 0.5, 1.5, 6.5, 2, -1e300, 1e300]
  private static let dates: [Int64] = [0, -86_400_000, 1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000]
  private static let data: [[UInt8]] = [
    [], [0], [1], [1, 0xff], [0xff], [0xff, 0xff], [0xff, 0xff, 1], Array(repeating: 0xff, count: 1_022),
    Array(repeating: 0xff, count: 1_023), Array(repeating: 0xff, count: 1_024),
  ]
  private static let targets = ["", "a", "ab", "b", "é", "e\u{301}", "row1"]
  private static let latitudes = [-90, -60, -10, -0.001, 0, 10, 10.001, 59.913_9, 62.472_3, 90]
  private static let longitudes = [-180, -179.999, -78.5, 0, 6.154_9, 20, 103.85, 179.999, 180]
  private static let metres = [0, 50, 112, 21_000, 200_000, 5e6, 10_007_557.2, 1.2e7, 2.002e7, 3e7, 1e12]
  private static let patterns = [
    "%", "a%", "%b", "_", "__", "a_c", "%é%", "it's%-", "%now%", "S%", "kk%a", "k%", "%%", "", "a", "\u{e9}%", "z_",
    "%\u{301}", "A%", "%o_",
  ]
  private static let makers = ["alice/phone", "alice/laptop", "bob/tablet", "@import", "@sync/carol/x", "x", ""]

  // MARK: Values

  private func degrees(_ list: [Double], _ most: Double) -> Double {
    chance.below(4) == 0 ? chance.number(-most...most) : chance.pick(list)
  }

  func place() -> CaravanModel.Location {
    let (latitude, longitude) = (degrees(Self.latitudes, 90), degrees(Self.longitudes, 180))
    guard let place = try? CaravanModel.Location(latitude: latitude, longitude: longitude) else {
      preconditionFailure("\(latitude), \(longitude) is no place")
    }
    return place
  }

  private func text() -> KnownText { chance.below(3) == 0 ? KnownText(chance) : chance.pick(KnownText.edges) }

  func value(_ kind: FieldKind) -> Value {
    switch kind {
    case .text: .text(text().text)
    case .integer: .integer(chance.below(3) == 0 ? Int64(chance.below(60)) : chance.pick(Self.integers))
    case .date: .integer(chance.below(3) == 0 ? Int64(chance.below(60)) * 1_000 : chance.pick(Self.dates))
    case .real:
      switch chance.below(4) {
      case 0: .integer(chance.pick([0, 1, 2, .max]))
      case 1: .real(chance.number(-2...2))
      default: .real(chance.pick(Self.reals))
      }
    case .reference: .reference(Reference(to: chance.pick(Self.targets), chance.pick([.plain, .owning])))
    case .location: .location(place())
    case .data, .object: .data(chance.pick(Self.data))
    }
  }

  /// Of one kind: a list of reals has whole numbers or others.
  private func list(_ kind: FieldKind, atMost most: Int, atLeast least: Int = 0) -> [Value] {
    let values = (0..<least + chance.below(most - least + 1)).map { _ in value(kind) }
    guard kind == .real, case .integer = values.first else { return values.filter { kind != .real || !$0.isWhole } }
    return values.filter(\.isWhole)
  }

  // MARK: Records

  /// - Parameters:
  ///   - fullness: of ten fields, how many have a value.
  ///   - isHuge: it has more words and members than an index takes.
  func record(_ shard: UInt32, _ zone: String, _ name: String, fullness: Int, isHuge: Bool) -> KnownRecord {
    var (fields, words) = (RecordFields(), [UInt32: [String]]())
    for field in Self.type.fields where chance.below(10) < fullness {
      if field.isList {
        fields[field.id] = .list(list(field.kind, atMost: 3))
      } else if chance.below(40) == 0 {
        // Of another kind than the field, or no number: null.
        fields[field.id] = field.kind == .real ? .real(.nan) : field.kind == .text ? .integer(1) : .text("5")
      } else if field.kind == .text {
        let text = text()
        (fields[field.id], words[field.id]) = (.text(text.text), text.words)
      } else {
        fields[field.id] = value(field.kind)
      }
    }
    if isHuge {
      let text = KnownText.long(chance, words: 10_001)
      (fields[2], words[2]) = (.text(text.text), text.words)
      fields[11] = .list((0..<1_010).map { .integer(Int64($0)) })
    }
    let known = chance.below(5) > 0
    let made = known ? 1_000 + Int64(chance.below(20)) : 0
    return KnownRecord(
      shard: shard, zone: zone, name: name, fields: fields, words: words,
      authorship: Authorship(
        modified: chance.below(6) > 0 ? 2_000 + Int64(chance.below(20)) : 0, created: made,
        creator: known ? chance.pick(Self.makers) : ""))
  }

  // MARK: Questions

  /// - Parameter isText: it is written as a text; else it is to be said in terms.
  func asked(isText: Bool) -> Asked? {
    guard chance.below(20) > 0 else { return nil }
    // Limits of the language are tested elsewhere.
    while true {
      let asked = asked(depth: chance.below(4), isText)
      if asked.weight <= 50 { return asked }
    }
  }

  private func asked(depth: Int, _ isText: Bool) -> Asked {
    guard depth > 0 else { return leaf(isText) }
    switch chance.below(6) {
    case 0: return .not(asked(depth: depth - 1, isText))
    case 1, 2: return .any((0...chance.below(3)).map { _ in asked(depth: depth - 1, isText) })
    default: return .all((0...chance.below(3)).map { _ in asked(depth: depth - 1, isText) })
    }
  }

  private func leaf(_ isText: Bool) -> Asked {
    let field =
      chance.below(6) == 0
      ? chance.pick(Self.systemFields) : chance.pick(Self.type.fields.filter { $0.id < 16 || chance.below(4) == 0 })
    var isNegated = chance.below(4) == 0
    let test: AskedLeaf.Test
    if chance.below(10) == 0 {
      test = .compare(chance.pick([.same, .distinct]), .null)
      isNegated = false
    } else if field.isList {
      test = ofList(field)
    } else if field.kind == .location {
      test = ofPlace()
    } else {
      test = ofValue(field, isText)
      if case .compare = test { isNegated = false }
    }
    return .leaf(AskedLeaf(field: field, test: test, isNegated: isNegated))
  }

  private func ofList(_ field: FieldDefinition) -> AskedLeaf.Test {
    if field.kind == .text, chance.below(4) == 0 { return .containsLike(chance.pick(Self.patterns)) }
    return .contains(isAny: chance.below(2) == 0, list(field.kind, atMost: 3, atLeast: 1))
  }

  private func ofPlace() -> AskedLeaf.Test {
    let place = place()
    if chance.below(2) == 0 { return .near([place.latitude, place.longitude, chance.pick(Self.metres)]) }
    let other = self.place()
    return .within([
      min(place.latitude, other.latitude), place.longitude, max(place.latitude, other.latitude), other.longitude,
    ])
  }

  private func ofValue(_ field: FieldDefinition, _ isText: Bool) -> AskedLeaf.Test {
    let isWorded = field.kind == .text && SystemField(id: field.id) == nil
    switch chance.below(8) {
    case 0...1 where isWorded:
      return .match(isAny: chance.below(3) == 0, Vocabulary.sought(chance))
    case 2 where field.kind == .text || field.kind == .reference: return .like(.text(chance.pick(Self.patterns)))
    case 3 where !isText && [.text, .data, .reference].contains(field.kind): return .begins(operand(field))
    case 3 where isText && field.kind == .text: return .like(.text(chance.pick(["a", "k", "Sn", "it'", "é"]) + "%"))
    case 4 where isText: return .among((0...chance.below(4)).map { _ in chance.below(9) == 0 ? .null : operand(field) })
    case 5 where isText: return .between(operand(field), operand(field))
    default:
      let signs: [AskedLeaf.Sign] = [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .distinct]
      let sign = chance.pick(isText ? AskedLeaf.Sign.allCases : signs)
      if field.kind == .integer, chance.below(4) == 0 { return .compare(sign, .real(chance.pick(Self.fractions))) }
      return .compare(sign, isText && chance.below(30) == 0 ? .null : operand(field))
    }
  }

  private func operand(_ field: FieldDefinition) -> Value {
    switch SystemField(id: field.id) {
    case .created: .integer(1_000 + Int64(chance.below(20)))
    case .modified: .integer(2_000 + Int64(chance.below(20)))
    case .createdBy: .text(chance.pick(["alice", "bob", "@import", "carol", "al"]))
    case .recordID: .text(chance.pick(["row7", "row70", "rów", "zz", "row"]))
    case nil: value(field.kind)
    }
  }

  func sort() -> [SortKey] {
    var keys: [SortKey] = []
    for _ in 0..<chance.pick([0, 1, 1, 1, 2, 3]) {
      if chance.below(5) == 0 {
        keys.append(SortKey(chance.pick(["place", "spot"]), isDescending: chance.below(2) == 0, near: place()))
      } else {
        keys.append(SortKey(chance.pick(Self.comparable).name, isDescending: chance.below(2) == 0))
      }
    }
    return keys.reduce(into: []) { list, key in if !list.contains(where: { $0.field == key.field }) { list.append(key) }
    }
  }
}

extension Value {
  fileprivate var isWhole: Bool { if case .integer = self { true } else { false } }
}
