public import Model

/// What is refused before a byte is decompressed or an operation looked at.
public enum FrameCheck {
  /// - Parameters:
  ///   - plainBytes: what the sender says the body has before compression.
  ///   - bodyBytes: what it has on the wire.
  /// - Throws: `limitExceeded` or `invalidData`.
  public static func envelope(plainBytes: Int, bodyBytes: Int, isCompressed: Bool) throws(CaravanError) {
    let largest = max(plainBytes, bodyBytes)
    guard largest <= Limits.frameBytes else {
      throw CaravanError(
        .limitExceeded, "a frame has \(largest) bytes: the limit is \(Limits.frameBytes), send fewer operations at once")
    }
    guard isCompressed || plainBytes == bodyBytes else { throw disagreement(plainBytes, bodyBytes) }
  }

  /// - Throws: `invalidData` when decompression gave another size than the frame says.
  public static func plain(_ bytes: Int, stated: Int) throws(CaravanError) {
    guard bytes == stated else { throw disagreement(stated, bytes) }
  }

  /// - Throws: `limitExceeded`.
  public static func operations(_ count: Int) throws(CaravanError) {
    guard count <= Limits.operationsPerFrame else {
      throw CaravanError(
        .limitExceeded, "a frame has \(count) operations: the limit is \(Limits.operationsPerFrame), send several frames")
    }
  }

  private static func disagreement(_ stated: Int, _ actual: Int) -> CaravanError {
    CaravanError(.invalidData, "a frame says \(stated) bytes and holds \(actual): send plain_bytes as they are")
  }
}
