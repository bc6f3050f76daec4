import CaravanModel
package import CaravanQuery

/// By what a standing query is found among many when a record is written (CK-84): a record that its expression is true
/// of has one of the query's anchors.
package enum Anchor: Sendable, Hashable {
  /// What a record has exactly: the key of a field, a member of its list, a word of its text.
  case token(IndexNeed, [UInt8])
  /// A part of a field's values; a place has two coordinates.
  case span(IndexNeed, Span)

  package struct Span: Sendable, Hashable {
    package let first: ClosedRange<Double>
    package let second: ClosedRange<Double>
  }

  package var need: IndexNeed {
    switch self {
    case .token(let need, _), .span(let need, _): need
    }
  }
}

/// Where a field's value lies among spans: what has an order has one coordinate, a place its latitude and longitude.
package struct SpanPoint: Sendable, Hashable {
  package let first: Double
  package let second: Double

  /// - Returns: nil: it lies nowhere.
  package init?(_ cell: Cell) {
    switch cell {
    case .integer(let number): (first, second) = (Double(number), 0)
    case .real(let number): (first, second) = (min(max(number, -Self.most), Self.most), 0)
    case .bytes(let run): (first, second) = (Self.beginning(run), 0)
    case .place(let place): (first, second) = (place.latitude, place.longitude)
    case .null, .list, .present: return nil
    }
  }

  /// What has the first bytes in common has one place.
  private static func beginning(_ run: ArraySlice<UInt8>) -> Double {
    let bytes = Array(run.prefix(6))
    return (bytes + Array(repeating: 0, count: 6 - bytes.count)).reduce(0) { $0 * 256 + Double($1) }
  }

  /// An R*Tree keeps numbers of single precision, rounded outwards.
  fileprivate static let most = 3e38
}

extension Anchor {
  /// Few enough to be kept of one query.
  package static let most = 100

  /// - Returns: nil: no index finds the query; each record of its type is to be looked at.
  package static func anchors(_ expression: Expression<Condition>) -> [Anchor]? {
    let found = best(expression.withoutNot)
    return found.flatMap { $0.count <= most ? $0 : nil }
  }

  private static func best(_ expression: Expression<Condition>) -> [Anchor]? {
    switch expression {
    case .leaf(let condition): return anchors(condition)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      // One of the parts is enough: tokens find fewer queries than spans, and few anchors cost less than many.
      return (between(parts) + parts.compactMap(best)).min { weight($0) < weight($1) }
    case .any(let parts):
      var all: [Anchor] = []
      for part in parts {
        guard let anchors = best(part), all.count + anchors.count <= most else { return nil }
        all += anchors
      }
      return all
    }
  }

  /// Of several bounds of one field, what lies between them: each bound by itself would find half of all queries.
  private static func between(_ parts: [Expression<Condition>]) -> [[Anchor]] {
    var spans: [(need: IndexNeed, low: Double, high: Double, count: Int)] = []
    for part in parts {
      guard case .leaf(let condition) = part, !condition.isList, let span = span(condition)?.first else { continue }
      let need = IndexNeed(condition.field, condition.kind, .key)
      if let place = spans.firstIndex(where: { $0.need == need }) {
        spans[place].low = max(spans[place].low, span.lowerBound)
        spans[place].high = min(spans[place].high, span.upperBound)
        spans[place].count += 1
      } else {
        spans.append((need, span.lowerBound, span.upperBound, 1))
      }
    }
    assert(Set(spans.map(\.need)).count == spans.count, "a field has two ranges")
    return spans.filter { $0.count > 1 }.map { span in
      // Values keep their order as points: where no point is left, no value is.
      span.low <= span.high ? [.span(span.need, Span(first: span.low...span.high, second: 0...0))] : []
    }
  }

  private static func weight(_ anchors: [Anchor]) -> Int {
    anchors.reduce(0) { if case .token = $1 { $0 + 1 } else { $0 + 10 } }
  }

  private static func anchors(_ condition: Condition) -> [Anchor]? {
    let field = condition.field
    func token(_ value: Value, _ use: IndexNeed.Use = .key) -> Anchor? {
      guard let key = IndexKey(Cell(value, as: condition.kind)) else { return nil }
      return .token(IndexNeed(field, condition.kind, use), key.bytes)
    }
    func all(_ values: [Value], _ use: IndexNeed.Use = .key) -> [Anchor]? {
      let tokens = values.compactMap { token($0, use) }
      return tokens.count == values.count ? tokens : nil
    }
    switch condition.test {
    case .contains(.all, let values, isNegated: false):
      return values.first.flatMap { token($0, .members) }.map { [$0] }
    case .contains(.any, let values, isNegated: false): return all(values, .members)
    case .match(let quantity, _, isNegated: false):
      guard let asked = condition.words else { return nil }
      let words = asked.phrases.map { phrase in
        (phrase.isPrefix ? phrase.words.dropLast() : phrase.words[...]).max { $0.utf8.count < $1.utf8.count }
      }
      let tokens = words.compactMap { $0 }.map { Anchor.token(IndexNeed(field, .text, .words), Array($0.utf8)) }
      switch quantity {
      case .all: return tokens.first.map { [$0] }
      case .any: return tokens.count == words.count ? tokens : nil
      }
    case _ where condition.isList: return nil
    case .compare(.equal, let value), .compare(.same, let value): return token(value).map { [$0] }
    case .among(let values, isNegated: false): return all(values.filter { $0 != .null })
    case .inside(let region, let numbers, isNegated: false):
      return region.boxes(numbers.compactMap { if case .real(let number) = $0 { number } else { nil } }).map {
        .span(IndexNeed(field, .location, .key), Span(first: $0.latitudes, second: $0.longitudes))
      }
    case .compare, .prefix, .like: return span(condition).map { [.span(IndexNeed(field, condition.kind, .key), $0)] }
    case .among, .contains, .containsLike, .match, .inside: return nil
    }
  }

  private static func span(_ condition: Condition) -> Span? {
    func point(_ value: Value) -> Double? { SpanPoint(Cell(value, as: condition.kind))?.first }
    let (least, most) = (-SpanPoint.most, SpanPoint.most)
    let range: ClosedRange<Double>? =
      switch condition.test {
      case .compare(.less, let value), .compare(.lessOrEqual, let value): point(value).map { least...max($0, least) }
      case .compare(.greater, let value), .compare(.greaterOrEqual, let value):
        point(value).map { min($0, most)...most }
      case .prefix(let value, isNegated: false): prefix(value.bytes)
      case .like(_, isNegated: false): prefix(condition.head.map { Array($0.utf8) })
      default: nil
      }
    return range.map { Span(first: $0, second: 0...0) }
  }

  private static func prefix(_ bytes: [UInt8]?) -> ClosedRange<Double>? {
    guard let bytes, !bytes.isEmpty, let low = SpanPoint(.bytes(bytes[...])),
      let high = SpanPoint(.bytes((bytes + Array(repeating: 0xff, count: 6))[...]))
    else { return nil }
    return low.first...high.first
  }
}

extension Value {
  fileprivate var bytes: [UInt8]? {
    switch self {
    case .text(let text): Array(text.utf8)
    case .data(let bytes): bytes
    case .reference(let reference): Array(reference.target.utf8)
    case .null, .integer, .real, .asset, .assetList, .location, .list: nil
    }
  }
}
