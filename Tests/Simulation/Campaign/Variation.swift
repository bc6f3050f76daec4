/// How a cluster differs from the one that its seed alone makes: `faults=12,time=200`, or nothing.
///
/// Dice are thrown by the seed and the name of what they are for, so a cluster that is shorter, or has fewer faults,
/// goes the same course as far as it can: this is what makes failures shorter.
public struct Variation: Sendable, Hashable, Codable {
  /// Faults happen as another seed says; nil: as the cluster's own.
  public var faultSeed: UInt64?
  /// Of the time in which everything may go wrong, in hundredths.
  public var time = 100
  /// More devices of the first user, or fewer of all.
  public var devices = 0
  /// No more faults of the scheduler than so many.
  public var faults: Int?
  /// What this cluster lacks of what happens in some clusters only.
  public var without: Set<Rare> = []

  /// What happens in some of the clusters only, and can be taken from them.
  public enum Rare: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    case restore, quota, groups, samples, lateReader, slowReader, moves, flakyLinks, budgets, references, rot, pairs
    case guest, hostileApps, diffClients, shares, powerCuts, query, subscribers, pushes

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  /// Of `time`.
  static let times = 1...1_000
  /// Of `devices`: a cluster has two or three of its own, and a second pays for no more than twice as many.
  static let deviceChanges = -2...3

  public init() {}

  /// - Returns: nil if the text is none.
  public init?(_ text: String) {
    for part in text.split(separator: ",") {
      let words = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard words.count == 2 else { return nil }
      switch words[0] {
      case "fault-seed":
        guard let seed = UInt64(words[1]) else { return nil }
        faultSeed = seed
      case "time":
        guard let percent = Int(words[1]), Self.times.contains(percent) else { return nil }
        time = percent
      case "devices":
        guard let count = Int(words[1]), Self.deviceChanges.contains(count) else { return nil }
        devices = count
      case "faults":
        guard let count = Int(words[1]), count >= 0 else { return nil }
        faults = count
      case "without":
        let names = words[1].split(separator: "+").map { Rare(rawValue: String($0)) }
        guard names.allSatisfy({ $0 != nil }) else { return nil }
        without = Set(names.compactMap(\.self))
      default: return nil
      }
    }
  }

  /// As it is given to `--vary`; empty: the seed's own cluster.
  public var text: String {
    var parts: [String] = []
    if let faultSeed { parts.append("fault-seed=\(faultSeed)") }
    if time != 100 { parts.append("time=\(time)") }
    if devices != 0 { parts.append("devices=\(devices)") }
    if let faults { parts.append("faults=\(faults)") }
    if !without.isEmpty { parts.append("without=\(without.sorted().map(\.rawValue).joined(separator: "+"))") }
    return parts.joined(separator: ",")
  }

  func shape(_ scale: inout Scale) {
    scale.faultSeed = faultSeed
    scale.faults = faults
    scale.faultTime = scale.faultTime * Int64(time) / 100
    if devices > 0, let user = scale.users.first {
      for _ in 0..<devices {
        scale.devices.append((name: "d\(scale.devices.count + 1)", user: user))
        if !scale.shares.isEmpty { scale.shares.append(scale.tables.map { _ in .all }) }
      }
    }
    for _ in 0..<max(0, -devices) {
      // Checkers compare devices, and each user is to have one.
      guard scale.devices.count > 2, let last = scale.devices.last,
        scale.devices.dropLast().contains(where: { $0.user == last.user })
      else { break }
      scale.devices.removeLast()
      scale.shares = Array(scale.shares.prefix(scale.devices.count))
    }
    for rare in without { rare.leave(&scale) }
  }
}

extension Variation.Rare {
  /// Nil: it is more than a flag.
  private var flag: WritableKeyPath<Scale, Bool>? {
    switch self {
    case .restore: \.hasRestore
    case .quota: \.hasQuota
    case .groups: \.hasGroups
    case .samples: \.hasSamples
    case .lateReader: \.hasLateReader
    case .slowReader: \.hasSlowReader
    case .moves: \.hasMoves
    case .flakyLinks: \.hasFlakyLinks
    case .budgets: \.hasBudgets
    case .references: \.hasReferences
    case .rot: \.hasRot
    case .pairs: \.hasPairs
    case .subscribers: \.hasSubscribers
    case .pushes: \.hasPushes
    case .guest: \.hasGuest
    case .hostileApps: \.hasHostileApps
    case .powerCuts: \.hasPowerCuts
    case .query: \.isQueried
    case .diffClients, .shares: nil
    }
  }

  func leave(_ scale: inout Scale) {
    if let flag { scale[keyPath: flag] = false }
    switch self {
    case .flakyLinks: scale.hasLargeChunks = false
    case .diffClients: scale.diffClients = []
    case .shares: scale.shares = []
    default: break
    }
  }

  func isIn(_ scale: Scale) -> Bool {
    if let flag { return scale[keyPath: flag] }
    return self == .shares ? !scale.shares.isEmpty : !scale.diffClients.isEmpty
  }
}
