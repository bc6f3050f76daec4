import CaravanModel

/// Which operations travel together: as many as the limits allow, in their order.
public enum FramePacking {
  /// What an operation takes of a frame's limits.
  public struct Load: Sendable, Hashable {
    /// Encoded.
    public var bytes: Int
    /// It asks for a page.
    public var isPull: Bool

    public init(bytes: Int, isPull: Bool = false) {
      self.bytes = bytes
      self.isPull = isPull
    }
  }

  /// Ranges of `loads`, one a frame. An operation beyond the limit of a frame travels alone.
  public static func frames(_ loads: [Load], bytes limit: Int = EngineLimits.frameBytes) -> [Range<Int>] {
    var frames: [Range<Int>] = []
    var start = 0
    var (bytes, pulls) = (0, 0)
    for (index, load) in loads.enumerated() {
      let isFull =
        bytes + load.bytes > limit || index - start == Limits.operationsPerFrame
        || load.isPull && pulls == EngineLimits.pullsPerFrame
      if isFull, index > start {
        frames.append(start..<index)
        (start, bytes, pulls) = (index, 0, 0)
      }
      bytes += load.bytes
      pulls += load.isPull ? 1 : 0
    }
    if start < loads.count { frames.append(start..<loads.count) }
    return frames
  }
}
