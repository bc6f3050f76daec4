import CZstd
public import Model

/// Opens zstd frames that come from elsewhere, within a stated limit of memory. Keep one and reuse it; see
/// `Compressor`.
public struct Decompressor: ~Copyable {
  /// Frames that ask for a larger window (2^23 = 8 MiB, what level 19 uses) are refused when they do not state their
  /// size: zstd would allocate the window before a byte comes out.
  static let maximumWindowLog: Int32 = 23

  private let context: OpaquePointer

  /// Throws if there is no memory for a context.
  public init() throws(CaravanError) {
    guard let context = ZSTD_createDCtx() else { throw .outOfMemory }
    self.context = context
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maximumWindowLog)
  }

  deinit { ZSTD_freeDCtx(context) }

  /// What a patch of `base` (`Compressor.patch`) makes. Allocates no more than `limit` bytes for it. A patch of another
  /// base may give other bytes, so check the hash of what comes out.
  ///
  /// Throws `limitExceeded` if the content is larger, `invalidData` if the bytes are no patch.
  public mutating func apply(_ patch: [UInt8], to base: [UInt8], limit: Int) throws(CaravanError) -> [UInt8] {
    try Self.checkWhole(patch)
    guard let size = try Self.statedSize(of: patch, limit: limit) else {
      throw Self.damaged("a patch states the size of its content")
    }
    defer { ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }
    return try base.withUnsafeBufferPointer { (base) throws(CaravanError) in
      ZSTD_DCtx_refPrefix(context, base.baseAddress, base.count)
      return try decompressSized(patch, size)
    }
  }

  /// The content of one frame. Allocates no more than `limit` bytes for it, whatever the frame claims or contains.
  ///
  /// Throws `limitExceeded` if the content is larger, `invalidData` if the bytes are not exactly one whole frame.
  public mutating func decompress(_ frame: [UInt8], limit: Int) throws(CaravanError) -> [UInt8] {
    try Self.checkWhole(frame)
    if let size = try Self.statedSize(of: frame, limit: limit) { return try decompressSized(frame, size) }
    return try decompressUnsized(frame, limit)
  }

  /// What a frame says its content has; nil: it does not say.
  public static func statedSize(of frame: [UInt8], limit: Int) throws(CaravanError) -> Int? {
    precondition(limit >= 0)
    let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    switch size {
    case .max: return nil  // ZSTD_CONTENTSIZE_UNKNOWN
    case .max - 1: throw damaged("no frame header")  // ZSTD_CONTENTSIZE_ERROR
    default:
      guard size <= UInt64(limit) else { throw tooLarge("\(size) bytes", limit) }
      return Int(size)
    }
  }

  private static func checkWhole(_ frame: [UInt8]) throws(CaravanError) {
    let length = frame.withUnsafeBytes { ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    guard ZSTD_isError(length) == 0 else { throw damaged(zstdMessage(length)) }
    guard length == frame.count else {
      throw damaged("the frame ends after \(length) of \(frame.count) bytes")
    }
  }

  private mutating func decompressSized(_ frame: [UInt8], _ size: Int) throws(CaravanError) -> [UInt8] {
    var result = 0
    let content = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      result = frame.withUnsafeBytes {
        ZSTD_decompressDCtx(context, buffer.baseAddress, size, $0.baseAddress, $0.count)
      }
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    guard ZSTD_isError(result) == 0 else { throw Self.damaged(zstdMessage(result)) }
    guard content.count == size else { throw Self.damaged("\(content.count) bytes came out, \(size) were stated") }
    return content
  }

  /// A frame without a stated size is opened piece by piece, so that it stops at the limit.
  private mutating func decompressUnsized(_ frame: [UInt8], _ limit: Int) throws(CaravanError) -> [UInt8] {
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
    var content: [UInt8] = []
    var position = 0
    var piece = [UInt8](repeating: 0, count: ZSTD_DStreamOutSize())
    while true {
      let (code, produced) = step(frame, &position, &piece)
      guard ZSTD_isError(code) == 0 else { throw Self.damaged(zstdMessage(code)) }
      guard produced <= limit - content.count else { throw Self.tooLarge("more", limit) }
      content.append(contentsOf: piece[..<produced])
      if code == 0 { return content }
      guard produced > 0 || position < frame.count else { throw Self.damaged("the frame is cut short") }
    }
  }

  private func step(_ frame: [UInt8], _ position: inout Int, _ piece: inout [UInt8]) -> (code: Int, produced: Int) {
    frame.withUnsafeBytes { frame in
      piece.withUnsafeMutableBytes { piece in
        var input = ZSTD_inBuffer(src: frame.baseAddress, size: frame.count, pos: position)
        var output = ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
        let code = ZSTD_decompressStream(context, &output, &input)
        position = input.pos
        return (code, output.pos)
      }
    }
  }

  private static func damaged(_ reason: String) -> CaravanError {
    CaravanError(.invalidData, "not exactly one whole zstd frame: \(reason)")
  }

  private static func tooLarge(_ size: String, _ limit: Int) -> CaravanError {
    CaravanError(.limitExceeded, "the zstd frame holds \(size), the limit is \(limit) bytes; send it in smaller frames")
  }
}
