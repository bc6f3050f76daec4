public import CaravanModel

/// Chunks that the cloud's disk has lost and asks this device for, by app. Nothing of it need be remembered for long:
/// the cloud asks again with every hello.
public struct ChunkRequests: Sendable {
  private var asked: [ContainerID: [ChunkHash]] = [:]
  /// When each chunk that was asked for was sent; monotonic nanoseconds, within a heartbeat.
  private var sent: [ChunkHash: UInt64] = [:]

  public init() {}

  /// The apps that something is asked for of, in order.
  public var apps: [ContainerID] { asked.keys.sorted { $0.text < $1.text } }

  /// What the cloud asks for of an app takes the place of what it asked for before.
  public mutating func ask(for chunks: [ChunkHash], of app: ContainerID) { asked[app] = chunks }

  /// - Returns: what goes now. A cloud that loses again what it is sent gets it once in a heartbeat, or both would be
  ///   busy with it for ever.
  public mutating func take(_ app: ContainerID, at now: UInt64) -> [ChunkHash] {
    let oldest = now - min(now, EngineLimits.heartbeatMilliseconds * 1_000_000)
    sent = sent.filter { $0.value > oldest }
    return (asked.removeValue(forKey: app) ?? []).filter { sent[$0] == nil }
  }

  public mutating func noteSent(_ chunks: Set<ChunkHash>, at now: UInt64) {
    if sent.count + chunks.count > EngineLimits.chunksBrought { sent = [:] }
    for chunk in chunks { sent[chunk] = now }
    assert(sent.count <= max(EngineLimits.chunksBrought, chunks.count), "more chunks are remembered than may be")
  }
}
