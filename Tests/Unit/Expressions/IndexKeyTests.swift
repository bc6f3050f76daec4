import CaravanModel
import CaravanTestKit
import Testing

@testable import CaravanQuery

/// Goal: what engines compare in place of values has the order of the values, and what they look through for a region
/// has every place in it. Method: tables, and random places beside the evaluator.
@Suite struct IndexKeyTests {
  private static func cells(_ kind: FieldKind) -> [Cell] {
    switch kind {
    case .integer, .date: [Int64.min, -2, -1, 0, 1, 255, 256, .max].map { .integer($0) }
    case .real:
      [-Double.infinity, -1e300, -1.5, -0.5, 0, .leastNonzeroMagnitude, 0.5, 1, 1e300, .infinity].map { .real($0) }
    case .text, .reference:
      ["", "\u{0}", "A", "a", "aa", "b", "é", "\u{ffff}", "\u{10ffff}"].map { .bytes(Array($0.utf8)[...]) }
    case .data: [[], [0], [0, 0], [1], [1, 0xff], [2], [0xff], [0xff, 0xff]].map { .bytes($0[...]) }
    case .object, .location: []
    }
  }

  @Test("CK-80: keys have the order of the values, and null comes before all of them", arguments: FieldKind.allCases)
  func order(kind: FieldKind) throws {
    let keys = try ([.null] + Self.cells(kind)).map { try #require(IndexKey($0)).bytes }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b), "\(a) \(b)") }
  }

  @Test("CK-80: zero has one key, and what has no order has none")
  func special() {
    #expect(IndexKey(.real(-0.0)) == IndexKey(.real(0)))
    #expect(IndexKey(.list([.integer(1)])) == nil && IndexKey(.present) == nil)
  }

  private static func place(_ chance: inout SplitMix64) -> CaravanModel.Location? {
    let edges: [Double] = [-90, -45, 0, 45, 90, 89.999_999]
    let latitude =
      Bool.random(using: &chance)
      ? Double.random(in: -90...90, using: &chance) : edges.randomElement(using: &chance) ?? 0
    let longitude =
      Bool.random(using: &chance)
      ? Double.random(in: -180...180, using: &chance)
      : [-180, -179.999_999, -90, 0, 90, 179.999_999, 180].randomElement(using: &chance) ?? 0
    return try? CaravanModel.Location(latitude: latitude, longitude: longitude)
  }

  private static func numbers(_ region: Region, _ chance: inout SplitMix64) -> [Double] {
    guard let a = place(&chance), let b = place(&chance) else { return [] }
    switch region {
    case .circle:
      let metres: [Double] = [0, 1, 1_000, 500_000, 5_000_000, 10_010_000, 15_000_000, 20_015_000, 30_000_000]
      return [a.latitude, a.longitude, metres.randomElement(using: &chance) ?? 0]
    case .rectangle:
      return [min(a.latitude, b.latitude), a.longitude, max(a.latitude, b.latitude), b.longitude]
    }
  }

  @Test("CK-80: the keys of a region are few ranges, in order, and no place in it is outside them", arguments: 1...4)
  func regions(seed: UInt64) throws {
    var chance = SplitMix64(seed: seed)
    var (inside, found) = (0, 0)
    for _ in 0..<400 {
      for region in Region.allCases {
        let numbers = Self.numbers(region, &chance)
        guard region.problem(numbers) == nil else { continue }
        let ranges = region.keys(numbers)
        #expect((1...40).contains(ranges.count))
        for (a, b) in zip(ranges, ranges.dropFirst()) { #expect(a.upperBound < b.lowerBound) }
        for _ in 0..<40 {
          guard let place = Self.place(&chance) else { continue }
          let isFound = ranges.contains { $0.contains(PlaceCell(place).code) }
          found += isFound ? 1 : 0
          guard region.contains(place, numbers.map { .real($0) }) else { continue }
          inside += 1
          #expect(isFound, "\(place) of \(region) \(numbers)")
        }
      }
    }
    // Not just everything.
    #expect(inside > 1_000 && found < 4 * inside, "\(inside) of \(found)")
  }
}
