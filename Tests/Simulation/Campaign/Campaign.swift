internal import CaravanTestKit

/// A cluster that a campaign plays.
public struct Play: Sendable, Hashable, Codable {
  public var seed: UInt64
  public var variation: Variation

  public init(_ seed: UInt64, _ variation: Variation = Variation()) {
    self.seed = seed
    self.variation = variation
  }

  /// How people play it.
  public var command: String {
    let text = variation.text
    return ".build/release/caravan-simulation --seed \(seed)\(text.isEmpty ? "" : " --vary \(text)")"
  }
}

/// Looks for failures for as long as it is left, and knows what it has seen: half of the clusters that it plays are new
/// seeds, half are variations of clusters that showed what none before had.
public struct Campaign: Sendable, Equatable {
  /// A cluster that showed something new.
  public struct Kept: Sendable, Hashable, Codable {
    public var play: Play
    /// How much of it was new.
    public var novelty: Int
    /// How often it was varied.
    public var varied = 0

    public init(play: Play, novelty: Int) {
      self.play = play
      self.novelty = novelty
    }

    /// What shows much goes first, and makes room once it has had its turns.
    var weight: Int { max(1, 1_000 * novelty / (1 + varied)) }
  }

  public struct Failure: Sendable, Hashable, Codable {
    public var play: Play
    public var what: String

    public init(_ play: Play, _ what: String) {
      self.play = play
      self.what = what
    }

    /// The invariant, or what else there is before the explanation.
    public var kind: String { what.split(separator: ":").first.map(String.init) ?? what }
  }

  /// Of clusters that showed something new: those that showed least make room.
  static let keptAtMost = 2_000
  static let failuresAtMost = 1_000

  public var seconds: Double = 0
  public internal(set) var played = 0
  /// Seeds that nobody has played.
  public internal(set) var nextSeed: UInt64
  public internal(set) var coverage = Coverage()
  public internal(set) var kept: [Kept] = []
  public internal(set) var failures: [Failure] = []
  /// How often `next` was asked: what it answers comes of this and of what is kept.
  var asked: UInt64 = 0

  public init(from seed: UInt64 = 1) { nextSeed = seed }

  /// The cluster to play next.
  public mutating func next() -> Play {
    asked += 1
    var dice = Dice(seed: asked, "campaign")
    guard !kept.isEmpty, dice.happens(500) else {
      defer { nextSeed += 1 }
      return Play(nextSeed)
    }
    let index = dice.pick(weighted: kept.indices.map { (kept[$0].weight, $0) })
    kept[index].varied += 1
    return Play(kept[index].play.seed, Self.varied(kept[index].play.variation, &dice))
  }

  private static func varied(_ variation: Variation, _ dice: inout Dice) -> Variation {
    var varied = variation
    switch dice.below(4) {
    case 0: varied.time = min(max(varied.time * dice.pick([50, 150, 200, 300]) / 100, 25), 600)
    case 1:
      let changed = varied.devices + dice.pick([-1, 1, 2])
      varied.devices = min(max(changed, Variation.deviceChanges.lowerBound), Variation.deviceChanges.upperBound)
    default: varied.faultSeed = UInt64(1 + dice.below(1_000_000_000))
    }
    return varied
  }

  /// What came of a cluster.
  /// - Returns: how much of what it showed was new.
  @discardableResult
  public mutating func take(_ play: Play, features: [Int], failures found: [String]) -> Int {
    played += 1
    let novelty = coverage.add(features)
    if novelty > 0 {
      kept.append(Kept(play: play, novelty: novelty))
      if kept.count > Self.keptAtMost, let least = kept.indices.min(by: { kept[$0].weight < kept[$1].weight }) {
        kept.remove(at: least)
      }
    }
    if let first = found.first, failures.count < Self.failuresAtMost { failures.append(Failure(play, first)) }
    return novelty
  }

  /// A line for people.
  public var line: String {
    let tenths = Int(seconds / 360)
    return "\(tenths / 10).\(tenths % 10) hours, \(played) seeds, \(coverage.count) states and transitions, "
      + "\(kept.count) clusters kept, \(failures.count) failures"
  }
}
