internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Records of every kind of index, of which each question finds about 500.
struct QuerySample: Sendable {
  enum Kind: String, CaseIterable {
    case equal, range, words, place, members
  }

  struct Row {
    let name: String
    let fields: RecordFields
  }

  let rows: Int
  private var groups: Int { max(1, rows / 500) }
  private static let wordsPerRow = 10
  /// Degrees of a square around a question's place, over one of 10 by 10.
  private var side: Double { 10 / Double(groups).squareRoot() }

  let type = CaravanModel.RecordType(
    id: 0, definition: 0, name: "samples",
    fields: [
      FieldDefinition(id: 1, name: "title", kind: .text), FieldDefinition(id: 2, name: "group", kind: .integer),
      FieldDefinition(id: 3, name: "size", kind: .real), FieldDefinition(id: 4, name: "place", kind: .location),
      FieldDefinition(id: 5, name: "tags", kind: .text, isList: true),
    ])

  func name(_ number: Int) -> String { "row-" + String(repeating: "0", count: 9 - "\(number)".count) + "\(number)" }

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
        5: .list((0..<2).map { _ in .text("tag\(pick(groups * 2))") }),
      ]))
  }

  func predicate(_ kind: Kind, at round: Int) throws -> Predicate {
    let group = round % groups
    switch kind {
    case .equal: return Predicate([.compare(field: "group", .equal, .integer(Int64(group)))])
    case .range:
      let (low, high) = range(round)
      return Predicate([
        .compare(field: "size", .greaterOrEqual, .real(low)), .compare(field: "size", .less, .real(high)), .all(2),
      ])
    case .words: return Predicate([.compare(field: "title", .matchAll, .text("word\(group)"))])
    case .members: return Predicate([.compare(field: "tags", .containsAll, .list([.text("tag\(group)")]))])
    case .place:
      return Predicate([.compare(field: "place", .within, .list(box(round).map { .real($0) }))])
    }
  }

  func range(_ round: Int) -> (low: Double, high: Double) {
    let low = Double(round % groups) / Double(groups)
    return (low, low + 1 / Double(groups))
  }

  /// South, west, north, east.
  func box(_ round: Int) -> [Double] {
    let (south, west) = (50 + Double(round * 7 % 89) / 10, 5 + Double(round * 13 % 89) / 10)
    return [south, west, south + side, west + side]
  }

  func group(_ round: Int) -> Int { round % groups }
}
