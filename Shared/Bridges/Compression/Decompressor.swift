import CCaravanZstd
public import CaravanModel

/// Opens zstd frames that come from elsewhere, within stated limits of memory. Keep one and reuse it; see `Compressor`.
///
/// A frame states how large its content is, and is refused before anything of that size is made when it says more than
/// the caller's limit, or more than so few bytes may hold (`Limits.inflation`). One that does not state it is refused:
/// zstd would make a window first, of a size that the frame chooses.
public struct Decompressor: ~Copyable {
  /// The largest window that `Compressor.patch` makes, of 8 MiB.
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
    let size = try Self.statedSize(of: patch, limit: limit)
    try Self.checkWhole(patch)
    defer { ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }
    return try base.withUnsafeBufferPointer { (base) throws(CaravanError) in
      ZSTD_DCtx_refPrefix(context, base.baseAddress, base.count)
      return try decompressSized(patch, size)
    }
  }

  /// The content of one frame. Allocates no more than `limit` bytes for it, whatever the frame claims or contains.
  ///
  /// Throws `limitExceeded` if the content is larger, or larger than so few bytes may hold; `invalidData` if the bytes
  /// are not exactly one whole frame that states its size.
  public mutating func decompress(_ frame: [UInt8], limit: Int) throws(CaravanError) -> [UInt8] {
    let size = try Self.statedSize(of: frame, limit: limit)
    try Self.checkWhole(frame)
    return try decompressSized(frame, size)
  }

  /// Whether so many bytes may hold so much.
  public static func admits(_ plain: Int, in compressed: Int) -> Bool {
    plain <= max(Limits.inflatedBytes, compressed * Limits.inflation)
  }

  /// What a frame says its content has.
  ///
  /// Throws as `decompress`.
  public static func statedSize(of frame: [UInt8], limit: Int) throws(CaravanError) -> Int {
    precondition(limit >= 0)
    let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    switch size {
    case .max: throw damaged("it does not state the size of its content")  // ZSTD_CONTENTSIZE_UNKNOWN
    case .max - 1: throw damaged("no frame header")  // ZSTD_CONTENTSIZE_ERROR
    default:
      guard size <= UInt64(limit) else { throw tooLarge("\(size) bytes", limit) }
      guard admits(Int(size), in: frame.count) else {
        throw CaravanError(
          .limitExceeded,
          "a zstd frame of \(frame.count) bytes holds \(size), more than \(Limits.inflation) for each: send it as it is"
        )
      }
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

  private static func damaged(_ reason: String) -> CaravanError {
    CaravanError(.invalidData, "not exactly one whole zstd frame: \(reason)")
  }

  private static func tooLarge(_ size: String, _ limit: Int) -> CaravanError {
    CaravanError(.limitExceeded, "the zstd frame holds \(size), the limit is \(limit) bytes; send it in smaller frames")
  }
}
