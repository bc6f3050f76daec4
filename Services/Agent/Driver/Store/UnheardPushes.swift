internal import AgentCore
internal import Model

/// What lately was sent of rows that were edited since, and is not at the cloud as far as it knows. A cloud that was
/// restored may have had it, and get it back from others: the row is then based on it, and in no conflict with it.
struct UnheardPushes {
  private var contents: [TableID: [Int64: ChunkHash]] = [:]
  private var count = 0

  /// Beyond the limit all are forgotten: an app may then be asked about its own past.
  mutating func add(_ body: [UInt8], of key: Int64, in table: TableID) {
    // Echoes have none either.
    guard !body.isEmpty else { return }
    if count == StoreLimits.unheardPushes { (contents, count) = ([:], 0) }
    if contents[table, default: [:]].updateValue(ChunkHash(of: body), forKey: key) == nil { count += 1 }
  }

  func have(_ body: [UInt8], of key: Int64, in table: TableID) -> Bool {
    guard count > 0, let content = contents[table]?[key] else { return false }
    return content == ChunkHash(of: body)
  }
}
