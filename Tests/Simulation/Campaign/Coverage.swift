internal import CaravanRuntime
internal import CaravanTestKit

/// Which states and transitions were seen, as bits of a map.
///
/// A state is a counter of a service or a device that has come to a power of two, with its labels; a transition is one
/// kind of event that was followed by another. Of two that share a bit one is overlooked: a map has thirty times as
/// many bits as are ever set.
public struct Coverage: Sendable, Equatable {
  static let bits = 1 << 17
  private static let wordBits = 64

  private var words: [UInt64] = Array(repeating: 0, count: bits / wordBits)
  /// Bits that are set.
  public private(set) var count = 0

  public init() {}

  public init(_ features: some Sequence<Int>) { _ = add(features) }

  public func contains(_ feature: Int) -> Bool {
    let bit = feature & (Self.bits - 1)
    return words[bit / Self.wordBits] >> UInt64(bit % Self.wordBits) & 1 == 1
  }

  /// - Returns: how many of them were new.
  public mutating func add(_ features: some Sequence<Int>) -> Int {
    let before = count
    for feature in features where !contains(feature) {
      let bit = feature & (Self.bits - 1)
      words[bit / Self.wordBits] |= 1 << UInt64(bit % Self.wordBits)
      count += 1
    }
    return count - before
  }

  public var features: [Int] { (0..<Self.bits).filter(contains) }

  public static func feature(_ text: String) -> Int {
    var digest = Digest()
    digest.add(text)
    return Int(digest.value % UInt64(bits))
  }
}

/// What one cluster shows for a `Coverage`.
final class Signature: Sendable {
  private struct State {
    var features: Set<Int> = []
    var last = "begin"
  }

  private let state = Mutex(State())

  var features: [Int] { state.withLock { $0.features.sorted() } }

  /// An event, of the recorder's.
  func note(_ event: String) {
    let kind = Self.kind(event)
    state.withLock { state in
      state.features.insert(Coverage.feature("\(state.last) > \(kind)"))
      state.last = kind
    }
  }

  /// What a part counted, over all its lives.
  func count(_ part: String, _ metrics: MetricsSnapshot) {
    let part = Self.kind(part)
    for family in metrics.families.values {
      for (labels, value) in family.series {
        guard case .counter(let count) = value, count > 0 else { continue }
        let names = labels.pairs.filter { !Self.isOfOne.contains($0.label) }.map { "\($0.label)=\($0.value)" }
        let magnitude = UInt64.bitWidth - count.leadingZeroBitCount
        let feature = Coverage.feature("\(part) \(family.name) \(names) \(magnitude)")
        state.withLock { _ = $0.features.insert(feature) }
      }
    }
  }

  /// What says which of many it was, and not what happened.
  private static let isOfOne: Set<MetricLabel> = [.instance, .partition, .file, .version, .table, .container, .zone]

  /// The event without who, which row and how many: its words that are letters, and have no digits.
  static func kind(_ event: String) -> String {
    event.split(separator: " ").map { $0.prefix { $0.isLetter } }.filter { !$0.isEmpty }.prefix(4)
      .joined(separator: " ")
  }
}
