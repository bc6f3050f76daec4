import CCaravanZstd
public import CaravanModel

/// Makes zstd frames (RFC 8878) in one shot. Owns one zstd context, which is large: keep a compressor and reuse it.
///
/// Not copyable and not Sendable, so one caller uses the context at a time, as zstd demands.
public struct Compressor: ~Copyable {
  private let context: OpaquePointer

  /// Throws if there is no memory for a context.
  public init() throws(CaravanError) {
    guard let context = ZSTD_createCCtx() else { throw .outOfMemory }
    self.context = context
  }

  deinit { ZSTD_freeCCtx(context) }

  /// One frame that states its content's size.
  /// - Parameter level: 1 (fast) to 19 (small).
  public mutating func compress(_ bytes: [UInt8], level: Int32 = 3) throws(CaravanError) -> [UInt8] {
    precondition((1...19).contains(level), "zstd levels are 1 to 19")
    var result = 0
    let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      result = bytes.withUnsafeBytes {
        ZSTD_compressCCtx(context, buffer.baseAddress, buffer.count, $0.baseAddress, $0.count, level)
      }
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    guard ZSTD_isError(result) == 0 else {
      throw CaravanError(.internalError, "zstd cannot compress \(bytes.count) bytes: \(zstdMessage(result))")
    }
    return frame
  }

  /// Whether what was compressed is smaller, and would be opened (`Limits.inflation`). Otherwise it goes as it is.
  public static func pays(_ compressed: [UInt8], for plain: [UInt8]) -> Bool {
    compressed.count < plain.count && Decompressor.admits(plain.count, in: compressed.count)
  }

  /// A patch: one frame that states its content's size and can be opened with the same `base` only, of which it takes
  /// whatever occurs in both, wherever it stands (RFC 8878, section 5: a raw content dictionary).
  public mutating func patch(_ bytes: [UInt8], from base: [UInt8], level: Int32 = 3) throws(CaravanError) -> [UInt8] {
    precondition((1...19).contains(level), "zstd levels are 1 to 19")
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters)
    defer { ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
    // The last byte must reach back to the first of the base.
    let reach = Int.bitWidth - (bytes.count + base.count).leadingZeroBitCount
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, Int32(min(max(reach, 10), Int(Decompressor.maximumWindowLog))))
    var result = 0
    let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      result = base.withUnsafeBytes { base in
        bytes.withUnsafeBytes { bytes in
          ZSTD_CCtx_refPrefix(context, base.baseAddress, base.count)
          return ZSTD_compress2(context, buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
        }
      }
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    guard ZSTD_isError(result) == 0 else {
      throw CaravanError(.internalError, "zstd cannot compare \(bytes.count) bytes: \(zstdMessage(result))")
    }
    return frame
  }
}

func zstdMessage(_ code: Int) -> String { String(cString: ZSTD_getErrorName(code)) }

extension CaravanError {
  static var outOfMemory: CaravanError { CaravanError(.internalError, "no memory for a zstd context") }
}
