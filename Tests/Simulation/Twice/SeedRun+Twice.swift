internal import CaravanRuntime

extension SeedRun {
  /// What one of two clusters showed, for comparison with the other.
  struct Observations {
    var heard: [String: [Heard.Item]]
    /// The choices of the cluster, one a step.
    var path: [UInt64]
    /// What was noted, and at which step.
    var notes: [(step: UInt64, line: String)]
  }

  /// Two clusters of one seed that differ in what one user's apps write: whatever else both show, devices of others
  /// must get the same in the same order (TRU-01).
  ///
  /// What its user's own devices do otherwise may come of that, and is no leak: hashes of chunks say in which order
  /// they are sent and so how many go into one message, names say which page of a table a row is on. That must not
  /// look like one: time, the order of jobs and the fate of messages are shared by all in a cluster. So jobs run in the
  /// order in which they come, each way is of another length (of two that come at one moment the first asks the
  /// registry for both, and a frame that is not packed is read in fewer jobs than one that is), chances are drawn for
  /// each way and moment anew, the user's devices have links that bear any message (`FlakyLinks`, `ByteBudget`: what
  /// passes is counted packed) and objects of one chunk, and nobody listens any more when everybody begins to wait for
  /// the slowest (`Quiescence`).
  /// - Returns: what the first showed, and in what the second was another.
  public static func runTwice(_ seed: UInt64, _ options: Options) throws -> SeedReport {
    let scale = Scale(ofTwo: seed)
    let clusters = try [false, true].map { isOther in
      var secret = Secret(seed: seed, among: scale.users, isOther: isOther)
      secret.hasNumbers = scale.shares.isEmpty
      return try run(seed, options, scale, secret)
    }
    var report = clusters[0].report
    report.violations += clusters[1].report.violations.filter { !report.violations.contains($0) }
    report.steps += clusters[1].report.steps
    let differences = Difference.all(clusters[0].observations.heard, clusters[1].observations.heard)
    report.violations += differences.map { Violation(invariant: Difference.invariant, explanation: "\($0)") }
    if !differences.isEmpty { report.trace += Difference.parting(clusters[0].observations, clusters[1].observations) }
    return report
  }
}

/// Where a device was told one thing in one run, and another in the other.
struct Difference: Sendable, CustomStringConvertible {
  static let invariant = "TRU-01 what a user writes changes nothing for others"

  let device: String
  let index: Int
  /// Nil: nothing came any more.
  let items: (Heard.Item?, Heard.Item?)

  /// Of each device the first.
  static func all(_ first: [String: [Heard.Item]], _ second: [String: [Heard.Item]]) -> [Difference] {
    Set(first.keys).union(second.keys).sorted().compactMap { device in
      let (one, other) = (first[device] ?? [], second[device] ?? [])
      let common = zip(one, other).prefix { $0.isSame(as: $1) }.count
      guard common < max(one.count, other.count) else { return nil }
      let items = (one.dropFirst(common).first, other.dropFirst(common).first)
      return Difference(device: device, index: common, items: items)
    }
  }

  var description: String {
    var text = "message \(index) to \(device) is \(Self.text(items.0)), and in the other run \(Self.text(items.1))"
    if let (one, other) = items.0.flatMap({ one in items.1.map { (one, $0) } }), one.kind == other.kind {
      text += ": they part at byte \(zip(one.plain, other.plain).prefix { $0 == $1 }.count)"
    }
    return text
  }

  private static func text(_ item: Heard.Item?) -> String {
    item.map { "\($0.kind) of \($0.plain.count) bytes at \(Recorder.time($0.at))" } ?? "nothing"
  }

  private static let notesShown = 12

  /// The last that happened before the clusters took different courses, and what followed in each.
  static func parting(_ first: SeedRun.Observations, _ second: SeedRun.Observations) -> [String] {
    let step = zip(first.path, second.path).prefix { $0 == $1 }.count
    func around(_ observations: SeedRun.Observations) -> [String] {
      let index = observations.notes.firstIndex { $0.step >= step } ?? observations.notes.endIndex
      let shown = max(0, index - notesShown)..<min(observations.notes.endIndex, index + notesShown / 2)
      return observations.notes[shown].map { "  step \($0.step): \($0.line)" }
    }
    return ["the clusters part at step \(step); in the one:"] + around(first) + ["in the other:"] + around(second)
  }
}
