package import CaravanModel

/// What is refused before a byte is decompressed or an operation looked at.
package enum FrameCheck {
  /// - Throws: `limitExceeded` for what no frame within the limits needs, envelope included.
  package static func message(bytes: Int) throws(CaravanError) {
    try size(bytes - SyncLimits.envelopeBytes)
  }

  /// - Parameters:
  ///   - plainBytes: what the sender says the body has before compression.
  ///   - bodyBytes: what it has on the wire.
  /// - Throws: `limitExceeded` or `invalidData`.
  package static func envelope(plainBytes: Int, bodyBytes: Int, isCompressed: Bool) throws(CaravanError) {
    try size(max(plainBytes, bodyBytes))
    guard isCompressed || plainBytes == bodyBytes else { throw disagreement(plainBytes, bodyBytes) }
  }

  /// - Throws: `invalidData` when decompression gave another size than the frame says.
  package static func plain(_ bytes: Int, stated: Int) throws(CaravanError) {
    guard bytes == stated else { throw disagreement(stated, bytes) }
  }

  /// - Throws: `limitExceeded` for more parts than a frame can have.
  package static func parts(_ count: Int) throws(CaravanError) {
    guard count <= Limits.chunksPerFrame else {
      throw CaravanError(
        .limitExceeded, "a frame comes in \(count) parts: the limit is \(Limits.chunksPerFrame), send less at once")
    }
  }

  private static func size(_ bytes: Int) throws(CaravanError) {
    guard bytes <= Limits.frameBytes else {
      throw CaravanError(
        .limitExceeded, "a frame has \(bytes) bytes: the limit is \(Limits.frameBytes), send fewer operations at once")
    }
  }

  private static func disagreement(_ stated: Int, _ actual: Int) -> CaravanError {
    CaravanError(.invalidData, "a frame says \(stated) bytes and holds \(actual): send plain_bytes as they are")
  }
}
