internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Frames as they travel: one stream for everything in them, compressed when a look at it says that this pays (MOB-35,
/// MOB-36). Holds zstd's contexts, which are large, from the first use on.
struct FrameCodec: ~Copyable {
  private var compressor: Compressor?
  private var decompressor: Decompressor?
  private let compressed: Counter
  private let plain: Counter

  init(metrics: MetricsRegistry) {
    compressor = nil
    decompressor = nil
    compressed = metrics.counter(.framesSent, [.outcome: "compressed"])
    plain = metrics.counter(.framesSent, [.outcome: "plain"])
  }

  /// - Parameters:
  ///   - form: how the answer is to come; nil: whole.
  ///   - clock: Unix milliseconds; 0: nothing in it needs it.
  mutating func encode(
    _ exchange: Exchange, _ form: FragmentTransport.Form?, clock: UInt64
  ) throws(CaravanError) -> [UInt8] {
    let body = exchange.encoded()
    guard body.count <= Limits.frameBytes else {
      throw CaravanError(
        .limitExceeded, "a frame of \(body.count) bytes: the limit is \(Limits.frameBytes), make its rows smaller")
    }
    let parcel = form.map { Parcel(container: $0.container) }
    let most = UInt32(clamping: form?.most ?? 0)
    if worthCompressing(body) {
      let packed = try compress(body)
      if Compressor.pays(packed, for: body) {
        compressed.add()
        return Frame(
          compression: .zstd, plainBytes: UInt32(body.count), body: packed, parcel: parcel, most: most,
          clockMilliseconds: clock
        ).encoded()
      }
    }
    plain.add()
    return Frame(
      compression: .none, plainBytes: UInt32(body.count), body: body, parcel: parcel, most: most,
      clockMilliseconds: clock
    ).encoded()
  }

  /// - Throws: `invalidData` or `limitExceeded` when there is no answer in the frame.
  mutating func decode(_ frame: Frame) throws(CaravanError) -> ExchangeReply {
    switch frame.compression {
    case .none: return try ExchangeReply.decode(frame.body)
    case .zstd: return try ExchangeReply.decode(decompress(frame.body))
    }
  }

  private mutating func compress(_ body: [UInt8]) throws(CaravanError) -> [UInt8] {
    var tool = if let kept = compressor.take() { kept } else { try Compressor() }
    let packed = try tool.compress(body, level: 1)
    compressor = consume tool
    return packed
  }

  private mutating func decompress(_ body: [UInt8]) throws(CaravanError) -> [UInt8] {
    var tool = if let kept = decompressor.take() { kept } else { try Decompressor() }
    let plain = try tool.decompress(body, limit: Limits.frameBytes)
    decompressor = consume tool
    return plain
  }
}
