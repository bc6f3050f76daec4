internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What it saves that rows of many apps travel as one stream (BEN-11, MOB-36, SIM-92): the same minute of traffic in
/// one frame and in a frame for each app, as agents make them. And what the look at a frame costs that decides whether
/// it is compressed, beside the compression it spares (MOB-35).
struct FramesBench: Sendable {
  let report: BenchReport
  let host: Host
  let traffic: [FrameTraffic]

  /// Bytes of the same traffic, in three ways.
  struct Sizes: Sendable, Hashable {
    var plain = 0
    var apart = 0
    var together = 0
  }

  private static let window = 60.0
  private static let rounds = 20

  func run() throws(CaravanError) {
    for traffic in traffic {
      let minutes = traffic.frames(every: Self.window)
      let sizes = try Self.sizes(minutes)
      report.line(
        traffic.name,
        [
          "frames": Double(minutes.count), "apps": Double(traffic.apps.count),
          "plain_bytes": Double(sizes.plain) / Double(minutes.count),
          "apart_bytes": Double(sizes.apart) / Double(minutes.count),
          "together_bytes": Double(sizes.together) / Double(minutes.count),
          "together_to_apart": Double(sizes.together) / Double(sizes.apart),
        ])
    }
    try entropyTest()
  }

  /// - Parameter frames: pushes that are due together.
  static func sizes(_ frames: [[Push]]) throws(CaravanError) -> Sizes {
    var packer = FramePacker()
    var sizes = Sizes()
    for pushes in frames {
      sizes.plain += FramePacker.encoded(pushes).count
      sizes.together += try packer.frame(pushes).count
      for push in pushes { sizes.apart += try packer.frame([push]).count }
    }
    return sizes
  }

  /// The look and the compression, over the same frames.
  private func entropyTest() throws(CaravanError) {
    let frames = traffic.flatMap { $0.frames(every: Self.window).map(FramePacker.encoded) }
    var compressor = try Compressor()
    var (vain, missed) = (0, 0)
    for frame in frames {
      let saved = 1 - Double(try compressor.compress(frame, level: 1).count) / Double(frame.count)
      if worthCompressing(frame) { vain += saved < 0.02 ? 1 : 0 } else { missed += saved > 0.1 ? 1 : 0 }
    }
    let clock = host.clock
    let start = clock.now
    var positive = 0
    for _ in 0..<Self.rounds { for frame in frames where worthCompressing(frame) { positive += 1 } }
    let between = clock.now
    for _ in 0..<Self.rounds { for frame in frames { _ = try compressor.compress(frame, level: 1) } }
    let count = Double(Self.rounds * frames.count)
    let (look, work) = (
      Double((between - start).wholeNanoseconds) / count / 1e3,
      Double((clock.now - between).wholeNanoseconds) / count / 1e3
    )
    report.line(
      "entropy_test",
      [
        "frames": Double(frames.count), "said_yes": Double(positive / Self.rounds), "look_us": look, "zstd_us": work,
        "look_to_zstd": look / work, "vain": Double(vain), "missed": Double(missed),
      ])
  }
}

/// Frames as the agent makes them.
struct FramePacker: ~Copyable {
  private var compressor: Compressor?

  init() { compressor = nil }

  static func encoded(_ pushes: [Push]) -> [UInt8] {
    Exchange(epoch: 1, operations: pushes.map { Operation(kind: .push($0)) }).encoded()
  }

  mutating func frame(_ pushes: [Push]) throws(CaravanError) -> [UInt8] {
    let body = Self.encoded(pushes)
    let plain = Frame(compression: .none, plainBytes: UInt32(body.count), body: body).encoded()
    guard worthCompressing(body) else { return plain }
    var tool = if let kept = compressor.take() { kept } else { try Compressor() }
    let packed = try tool.compress(body, level: 1)
    compressor = consume tool
    let small = Frame(compression: .zstd, plainBytes: UInt32(body.count), body: packed).encoded()
    return small.count < plain.count ? small : plain
  }
}
