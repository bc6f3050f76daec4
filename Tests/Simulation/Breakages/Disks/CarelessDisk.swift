internal import CaravanRuntime
internal import CaravanTestKit

/// A disk whose power fails whenever its process dies, and that may not have synced all it was told to.
final class CarelessDisk: DiskTap {
  /// What it leaves out.
  enum Forgotten: Sendable {
    /// The files of chunks.
    case chunks
    /// Everything else.
    case database
    /// Nothing: it keeps what was synced, and only that.
    case nothing

    fileprivate func has(_ path: String) -> Bool {
      if self == .nothing { return false }
      let isOfChunks = path.hasSuffix(".chunks") || path.hasSuffix("/chunks.dat")
      return isOfChunks == (self == .chunks)
    }
  }

  let survivor = FragileDisk()
  private let forgotten: Forgotten

  init(_ forgotten: Forgotten) { self.forgotten = forgotten }

  func allows(_ change: DiskChange, of path: String) -> Bool {
    if change == .sync, forgotten.has(path) { return true }
    return survivor.allows(change, of: path)
  }
}
