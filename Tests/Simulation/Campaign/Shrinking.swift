/// Makes a failing cluster smaller, a step at a time, for as long as it fails in the same way: what happens in some
/// clusters only is taken away, then devices, then faults, then time.
///
/// A pure value: `next` is a cluster to play, and `took` hears whether that failed as well.
public struct Shrinking: Sendable {
  /// Every play takes about a second.
  public static let playsAtMost = 60
  /// In hundredths of the time that the cluster had.
  static let leastTime = 10

  private enum Stage: Int { case without, devices, faults, time, done }

  /// The smallest that fails so far.
  public private(set) var smallest: Play
  public private(set) var plays = 0
  private var stage: Stage = .without
  /// What may still be taken away.
  private var rare: [Variation.Rare]
  /// Faults: the most that does not fail, and the least that does; nil: nobody knows.
  private var faults: (passes: Int, fails: Int?) = (-1, nil)
  private var tried: Play?

  /// - Parameter rare: what happens in this cluster and not in all.
  public init(_ play: Play, rare: [Variation.Rare]) {
    smallest = play
    self.rare = rare.filter { !play.variation.without.contains($0) }
  }

  /// For a cluster that fails.
  public init(_ play: Play) {
    var scale = Scale(seed: play.seed)
    play.variation.shape(&scale)
    self.init(play, rare: Variation.Rare.allCases.filter { $0.isIn(scale) })
  }

  /// The cluster to play; nil: it gets no smaller.
  public mutating func next() -> Play? {
    guard plays < Self.playsAtMost else { return nil }
    while stage != .done {
      var play = smallest
      if change(&play.variation) {
        plays += 1
        tried = play
        return play
      }
      stage = Stage(rawValue: stage.rawValue + 1) ?? .done
    }
    return nil
  }

  /// - Returns: false: this stage has nothing more to try.
  private mutating func change(_ variation: inout Variation) -> Bool {
    switch stage {
    case .without:
      guard let last = rare.popLast() else { return false }
      variation.without.insert(last)
    case .devices:
      guard variation.devices > Variation.deviceChanges.lowerBound else { return false }
      variation.devices -= 1
    case .faults:
      guard let most = faults.fails else {
        // A cluster has about a dozen: with so many it is as it was.
        variation.faults = variation.faults ?? 64
        faults.fails = variation.faults
        return true
      }
      guard most - faults.passes > 1 else { return false }
      variation.faults = (most + faults.passes) / 2
    case .time:
      guard variation.time > Self.leastTime else { return false }
      variation.time = max(Self.leastTime, variation.time * 3 / 4)
    case .done: return false
    }
    return true
  }

  /// - Parameter hasFailed: the cluster that `next` gave fails, in the same way.
  public mutating func took(hasFailed: Bool) {
    guard let play = tried else { return }
    tried = nil
    if hasFailed { smallest = play }
    switch stage {
    case .faults:
      if hasFailed { faults.fails = play.variation.faults } else { faults.passes = play.variation.faults ?? 0 }
    case .devices, .time: if !hasFailed { stage = Stage(rawValue: stage.rawValue + 1) ?? .done }
    case .without, .done: break
    }
  }
}
