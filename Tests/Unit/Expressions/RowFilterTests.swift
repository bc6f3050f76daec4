import CaravanModel
import CaravanQuery
import CaravanWire
import Testing

/// Goal: a filter is sure of what it excludes, says null where its reader has null, and is read as it was written
/// (UNI-15). Method: tables.
@Suite struct RowFilterTests {
  private typealias Test = RowFilter.Test

  private static func excludes(_ test: RowFilter.Test, _ value: CaravanModel.Value?) throws -> Bool {
    let body = RecordFields([1: .text("before"), 5: value ?? .null, 9: .integer(1)]).body
    return BodyFilter(try RowFilter([.test(test)])).excludes(body)
  }

  private static let sure: [(RowFilter.Test, [CaravanModel.Value])] = [
    (
      Test(5, .integer, .less, .integer(0)),
      [CaravanModel.Value.integer(0), .integer(.max), .null, .text("-1"), .real(-1)]
    ),
    (Test(5, .integer, .equal, .integer(.min)), [.integer(.max), .integer(-1)]),
    (Test(5, .integer, .notEqual, .integer(3)), [.integer(3)]),
    (Test(5, .date, .greaterOrEqual, .integer(9)), [.integer(8)]),
    (Test(5, .text, .greater, .text("Z")), [.text("Z"), .text("A"), .text(""), .data([0xff]), .null]),
    (Test(5, .text, .lessOrEqual, .text("é")), [.text("éa"), .text("ü"), .text("😀")]),
    (Test(5, .data, .less, .data([1])), [.data([1]), .data([1, 0]), .data([2]), .text("")]),
    (Test(5, .real, .less, .real(0.5)), [.real(0.5), .integer(1), .real(.nan), .real(.infinity)]),
    (Test(5, .text, .equal, .null), [.text("")]), (Test(5, .text, .notEqual, .null), [.null, .integer(1)]),
    (Test(5, .object, .equal, .null), [.asset(AssetManifest(parts: []))]),
    (Test(5, .object, .notEqual, .null), [.null, .data([])]),
  ]

  @Test("UNI-15: what a comparison excludes", arguments: sure)
  private func excluded(test: RowFilter.Test, values: [CaravanModel.Value]) throws {
    for value in values { #expect(try Self.excludes(test, value), "\(value)") }
  }

  private static let possible: [(RowFilter.Test, [CaravanModel.Value])] = [
    (Test(5, .integer, .less, .integer(0)), [CaravanModel.Value.integer(-1), .integer(.min)]),
    (Test(5, .integer, .lessOrEqual, .integer(3)), [.integer(3), .integer(2)]),
    (Test(5, .date, .greaterOrEqual, .integer(9)), [.integer(9), .integer(10)]),
    (Test(5, .real, .equal, .real(0)), [.real(-0.0), .integer(0)]),
    (Test(5, .integer, .notEqual, .integer(3)), [.integer(4), .null, .text("3")]),
    (Test(5, .text, .greater, .text("Z")), [.text("a"), .text("Za"), .text("É")]),
    (Test(5, .data, .less, .data([1])), [.data([]), .data([0, 9])]),
    (Test(5, .real, .less, .real(0.5)), [.real(-0.0), .integer(0), .real(-.infinity)]),
    (Test(5, .text, .equal, .null), [.null, .integer(4)]), (Test(5, .real, .equal, .null), [.real(.nan)]),
    (Test(5, .object, .notEqual, .null), [.asset(AssetManifest(parts: []))]),
  ]

  @Test("UNI-15: what it does not", arguments: possible)
  private func kept(test: RowFilter.Test, values: [CaravanModel.Value]) throws {
    for value in values { #expect(try !Self.excludes(test, value), "\(value)") }
  }

  @Test("UNI-15: of what is no body, or a newer release's, nothing is sure; results are combined")
  func unsure() throws {
    let low = RowFilter.Term.test(Test(5, .integer, .less, .integer(0)))
    let filter = try RowFilter([low])
    #expect(BodyFilter(filter).excludes([]))
    let twice = RecordFields([5: .integer(1)]).body
    for body in [[1, 2, 3], [0x0a, 0x7f], twice + twice, [0x0a, 4, 0x08, 5, 0x78, 1]] as [[UInt8]] {
      #expect(!BodyFilter(filter).excludes(body))
    }
    let text = RowFilter.Term.test(Test(1, .text, .equal, .text("a")))
    let body = RecordFields([1: .text("a"), 5: .integer(7)]).body
    #expect(BodyFilter(try RowFilter([low, text, .all(2)])).excludes(body))
    #expect(!BodyFilter(try RowFilter([low, text, .any(2)])).excludes(body))
    #expect(BodyFilter(try RowFilter([low, low, .any(2), text, .all(2), .any(1)])).excludes(body))
  }

  @Test("UNI-15: terms that are no filter are refused, here and on the wire; others are read as they were written")
  func refused() throws {
    let good = RowFilter.Term.test(Test(5, .integer, .less, .integer(0)))
    let wrong: [[RowFilter.Term]] = [
      [], [good, good], [.all(1)], [good, .any(0)], [good, .all(2)], [.test(Test(0, .integer, .less, .integer(0)))],
      [.test(Test(5, .integer, .less, .real(0)))], [.test(Test(5, .text, .prefix, .text("a")))],
      [.test(Test(5, .text, .less, .null))], [.test(Test(5, .real, .equal, .real(.nan)))],
      [.test(Test(5, .location, .equal, .null))], [.test(Test(5, .reference, .equal, .text("a")))],
      Array(repeating: good, count: Limits.predicateTerms) + [.all(UInt32(Limits.predicateTerms))],
    ]
    for terms in wrong {
      #expect(throws: CaravanError.self) { _ = try RowFilter(terms) }
      guard !terms.isEmpty else { continue }
      #expect(throws: CaravanError.self) { _ = try RowFilter(terms.map { FilterTerm($0) }) }
    }
    #expect(try RowFilter([FilterTerm]()) == nil)
    for term in [FilterTerm(), FilterTerm(field: 1, all: 1), FilterTerm(field: 1, kind: .text)] {
      #expect(throws: CaravanError.self) { _ = try RowFilter([term]) }
    }
    let filter = try RowFilter([
      good, .test(Test(2, .text, .notEqual, .null)), .any(2), .test(Test(3, .data, .greater, .data([7]))), .all(2),
    ])
    #expect(try RowFilter(filter.terms.map { FilterTerm($0) }) == filter)
  }
}
