internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Records of every kind of index, of which each question finds about 500.
struct QuerySample: Sendable {
  enum Kind: String, CaseIterable {
    case number, range, text, prefix, date, reference, words, near, within, members
  }

  struct Row {
    let name: String
    let fields: RecordFields
  }

  let rows: Int
  private static let found = 500
  private var groups: Int { max(1, rows / Self.found) }
  private static let wordsPerRow = 10
  private static let millisecondsPerGroup: Int64 = 3_600_000
  /// Degrees of a square around a question's place, over one of 10 by 10.
  private var side: Double { 10 / Double(groups).squareRoot() }

  let type = CaravanModel.RecordType(
    id: 0, definition: 0, name: "samples",
    fields: [
      FieldDefinition(id: 1, name: "title", kind: .text), FieldDefinition(id: 2, name: "group", kind: .integer),
      FieldDefinition(id: 3, name: "size", kind: .real), FieldDefinition(id: 4, name: "place", kind: .location),
      FieldDefinition(id: 5, name: "tags", kind: .text, isList: true),
      FieldDefinition(id: 6, name: "kind", kind: .text),
      FieldDefinition(id: 7, name: "label", kind: .text), FieldDefinition(id: 8, name: "taken", kind: .date),
      FieldDefinition(id: 9, name: "album", kind: .reference),
    ])

  private static func padded(_ number: Int, to digits: Int = 9) -> String {
    String(repeating: "0", count: max(0, digits - "\(number)".count)) + "\(number)"
  }

  func name(_ number: Int) -> String { "row-" + Self.padded(number) }
  func kind(_ group: Int) -> String { "kind-\(group)" }
  func album(_ group: Int) -> String { "album-\(group)" }
  /// What the labels of a group begin with, and those of no other.
  func label(_ group: Int) -> String { "label-\(Self.padded(group, to: 6))-" }

  func row(_ number: Int, _ random: any RandomSource) -> Row {
    func pick(_ count: Int) -> Int { Int(random.below(UInt64(count))) }
    func degrees() -> Double { Double(pick(10_000_000)) / 1e6 }
    let words = (0..<Self.wordsPerRow).map { _ in "word\(pick(groups * Self.wordsPerRow))" }
    let place = (try? CaravanModel.Location(latitude: 50 + degrees(), longitude: 5 + degrees())).map {
      Value.location($0)
    }
    return Row(
      name: name(number),
      fields: RecordFields([
        1: .text(words.joined(separator: " ")), 2: .integer(Int64(pick(groups))),
        3: .real(Double(pick(1_000_000)) / 1e6), 4: place ?? .null,
        5: .list((0..<2).map { _ in .text("tag\(pick(groups * 2))") }), 6: .text(kind(pick(groups))),
        7: .text(label(pick(groups)) + Self.padded(pick(1_000_000))),
        8: .integer(Int64(pick(groups)) * Self.millisecondsPerGroup + Int64(pick(Int(Self.millisecondsPerGroup)))),
        9: .reference(Reference(to: album(pick(groups)))),
      ]))
  }

  func predicate(_ kind: Kind, at round: Int) throws -> Predicate {
    let group = group(round)
    func alone(_ field: String, _ comparison: CaravanModel.Comparison, _ value: Value) -> Predicate {
      Predicate([.compare(field: field, comparison, value)])
    }
    func between(_ field: String, _ low: Value, _ high: Value) -> Predicate {
      Predicate([.compare(field: field, .greaterOrEqual, low), .compare(field: field, .less, high), .all(2)])
    }
    switch kind {
    case .number: return alone("group", .equal, .integer(Int64(group)))
    case .range: return between("size", .real(range(round).low), .real(range(round).high))
    case .text: return alone("kind", .equal, .text(self.kind(group)))
    case .prefix: return alone("label", .prefix, .text(label(group)))
    case .date: return between("taken", .integer(dates(round).lowerBound), .integer(dates(round).upperBound))
    case .reference: return alone("album", .equal, .reference(Reference(to: album(group))))
    case .words: return alone("title", .matchAll, .text("word\(group)"))
    case .members: return alone("tags", .containsAll, .list([.text("tag\(group)")]))
    case .near: return alone("place", .near, .list(circle(round).map { .real($0) }))
    case .within: return alone("place", .within, .list(box(round).map { .real($0) }))
    }
  }

  func range(_ round: Int) -> (low: Double, high: Double) {
    let low = Double(group(round)) / Double(groups)
    return (low, low + 1 / Double(groups))
  }

  func dates(_ round: Int) -> Range<Int64> {
    let start = Int64(group(round)) * Self.millisecondsPerGroup
    return start..<start + Self.millisecondsPerGroup
  }

  /// South, west, north, east.
  func box(_ round: Int) -> [Double] {
    let (south, west) = (50 + Double(round * 7 % 89) / 10, 5 + Double(round * 13 % 89) / 10)
    return [south, west, south + side, west + side]
  }

  private static let metresPerDegree = 111_195.0

  /// Latitude, longitude and metres: about as much as the square has.
  func circle(_ round: Int) -> [Double] {
    let box = box(round)
    let (latitude, longitude) = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    return [latitude, longitude, side * 0.4 * Self.metresPerDegree]
  }

  func group(_ round: Int) -> Int { round % groups }
}
