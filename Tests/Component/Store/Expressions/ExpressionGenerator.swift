import CaravanModel
import CaravanQuery
import CaravanTestKit

/// Texts of all that the language has, and rows for them. Values come from small sets, so that they meet.
struct ExpressionGenerator {
  struct Sample: CustomStringConvertible {
    let text: String
    let arguments: [CaravanModel.Value]
    let expression: CaravanQuery.Expression<Condition>
    /// Whether SQLite means the same by the text itself: LIKE is another there.
    let isPlain: Bool

    var description: String { "\(text) of \(arguments): \(expression)" }
  }

  private var random: SplitMix64
  private var arguments: [CaravanModel.Value] = []
  private var isPlain = true

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

  private static let texts = [
    "", "a", "A", "ab", "abc", "b", "Z", "10", "ä", "é", "éa", "e\u{301}", "😀", "a😀b", "it's", "%", "_", "a%b", "a_b",
    "*", "a?[", "\\", "a\\b", "\u{ffff}", "\u{10ffff}", "a\u{10ffff}", "\u{0}", "a\u{0}b",
  ]
  private static let patterns = [
    "%", "a%", "%b", "a%b", "_", "__", "a_", "_b", "a_b", "%a%", "%_b", "A%", "é%", "_a", "%\u{301}", "\\%", "%\\_",
    "*",
    "a?%[", "%%", "", "a", "%\u{10ffff}", "%_%_%", "it's%",
  ]
  private static let integers: [Int64] = [
    .min, .min + 1, -9_007_199_254_740_993, -1, 0, 1, 2, 3, 10, 9_007_199_254_740_992, 9_007_199_254_740_993, .max,
  ]
  private static let reals: [Double] = [
    -1e300, -9_223_372_036_854_775_808, -2, -1.5, -0.0, 0.5, 1, 1.5, 2.5, 3, 9_007_199_254_740_992,
    9_223_372_036_854_775_808, 1e300,
  ]
  private static let data: [[UInt8]] = [[], [0], [0, 1], [1], [65], [254], [255], [255, 255], [255, 255, 1]]

  private mutating func value(_ kind: FieldKind) -> CaravanModel.Value {
    switch kind {
    case .text: .text(pick(Self.texts))
    case .reference: .reference(Reference(to: pick(["", "a", "ab", "b", "é"])))
    case .integer, .date: .integer(pick(Self.integers))
    case .real: .real(pick(Self.reals + [.infinity, -.infinity]))
    case .data, .object, .location: .data(pick(Self.data))
    }
  }

  mutating func row() -> RecordFields {
    var row = RecordFields()
    for field in ExpressionSemanticsTests.type.fields where below(5) > 0 { row[field.id] = value(field.kind) }
    return row
  }

  // MARK: Texts

  mutating func sample() throws -> Sample {
    (arguments, isPlain) = ([], true)
    let text = expression(below(5))
    let given = arguments
    var bound = try ExpressionText(text).bound(to: ExpressionSemanticsTests.type) { number, _ in given[number] }
    // No text says that data begin with something.
    if below(8) == 0 {
      isPlain = false
      let field = ExpressionSemanticsTests.type.fields[3]
      let prefix = try Condition(field, .prefix(value(.data), isNegated: below(2) == 0))
      bound = pick([.all([bound, .leaf(prefix)]), .any([bound, .not(.leaf(prefix))]), .not(.all([bound])), .any([])])
    }
    return Sample(text: text, arguments: given, expression: bound, isPlain: isPlain)
  }

  private mutating func expression(_ depth: Int) -> String {
    guard depth > 0, below(8) > 0 else { return test() }
    switch below(8) {
    case 0...2: return "\(expression(depth - 1)) \(pick(["AND", "and"])) \(expression(depth - 1))"
    case 3, 4: return "\(expression(depth - 1)) \(pick(["OR", "Or"])) \(expression(depth - 1))"
    case 5, 6: return "(\(expression(depth - 1)))"
    default: return "NOT \(expression(depth - 1))"
    }
  }

  private mutating func test() -> String {
    let field = pick(ExpressionSemanticsTests.type.fields)
    let name = pick([field.name, field.name.uppercased(), "\"\(field.name)\""])
    let not = pick(["", "", "NOT "])
    switch below(12) {
    case 0: return "\(name) \(pick(["IS NULL", "ISNULL", "NOT NULL", "is not null", "NOTNULL"]))"
    case 1: return "\(operand(field.kind)) \(pick(Self.signs)) \(name)"
    case 2: return "\(name) \(not)BETWEEN \(operand(field.kind)) AND \(operand(field.kind))"
    case 3, 4:
      let list = (0...below(4)).map { _ in operand(field.kind, isListed: true) }.joined(separator: ", ")
      return "\(name) \(not)IN (\(list))"
    case 5: return "\(name) \(pick(["IS", "IS NOT", "is"])) \(operand(field.kind))"
    case 6, 7:
      isPlain = false
      return "\(pick(["t", "t", "a"])) \(not)\(pick(["LIKE", "like"])) \(below(20) == 0 ? "NULL" : pattern())"
    default: return "\(name)\(pick(["", " "]))\(pick(Self.signs)) \(operand(field.kind))"
    }
  }

  private static let signs = ["=", "==", "<>", "!=", "<", "<=", ">", ">="]

  private mutating func pattern() -> String {
    let pattern = below(4) == 0 ? pick(Self.patterns) + pick(Self.patterns) : pick(Self.patterns)
    guard below(2) == 0 else { return quoted(pattern) }
    arguments.append(.text(pattern))
    return "?"
  }

  private func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  /// - Parameter isListed: in a list for integers there are no reals.
  private mutating func operand(_ kind: FieldKind, isListed: Bool = false) -> String {
    if below(16) == 0 { return "NULL" }
    let isOther = kind == .integer && !isListed && below(4) == 0
    let value = below(24) == 0 ? .null : value(isOther ? .real : kind)
    switch value {
    case .integer(let number) where below(2) == 0: return "\(number)"
    case .real(let number) where number.isFinite && below(2) == 0: return "\(number)"
    case .text(let text) where below(2) == 0 && !text.utf8.contains(0): return quoted(text)
    case .reference(let reference) where below(2) == 0: return quoted(reference.target)
    case .data(let bytes) where below(2) == 0:
      return "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    default:
      arguments.append(value)
      return "?"
    }
  }
}
