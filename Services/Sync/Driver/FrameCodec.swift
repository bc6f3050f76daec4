import CaravanCompression
import CaravanModel
import CaravanSyncCore
import CaravanWire

/// Opens and closes compressed frames. One pair of zstd contexts for the process, which are large; small and
/// incompressible frames do not come here.
actor FrameCodec {
  private var compressor: Compressor
  private var decompressor: Decompressor

  init() throws(CaravanError) {
    compressor = try Compressor()
    decompressor = try Decompressor()
  }

  private func compressed(_ plain: [UInt8]) throws(CaravanError) -> [UInt8] {
    try compressor.compress(plain, level: plain.count < SyncLimits.largeReply ? 3 : 1)
  }

  private func decompressed(_ body: [UInt8], limit: Int) throws(CaravanError) -> [UInt8] {
    try decompressor.decompress(body, limit: limit)
  }

  /// Of a frame whose envelope has been checked.
  /// - Throws: `limitExceeded` before anything of that size is made; `invalidData`.
  nonisolated func open(_ frame: Frame) async throws(CaravanError) -> Exchange {
    let stated = Int(frame.plainBytes)
    let plain =
      switch frame.compression {
      case .none: frame.body
      case .zstd: try await decompressed(frame.body, limit: stated)
      }
    try FrameCheck.plain(plain.count, stated: stated)
    return try Exchange.decode(plain)
  }

  /// - Parameter isPlain: whoever asked wants it as it is.
  nonisolated func close(_ reply: ExchangeReply, isPlain: Bool) async throws(CaravanError) -> [UInt8] {
    let plain = reply.encoded()
    var frame = Frame(plainBytes: UInt32(plain.count), body: plain)
    if !isPlain, plain.count >= SyncLimits.smallestCompressed, worthCompressing(plain) {
      let body = try await compressed(plain)
      if Compressor.pays(body, for: plain) { (frame.compression, frame.body) = (.zstd, body) }
    }
    return frame.encoded()
  }
}
