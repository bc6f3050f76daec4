internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// A chunk of an open write: its bytes are where they will stay, and the database knows nothing of it. A crash leaves
/// nothing of it but space that the next start takes back.
struct LooseChunk {
  enum Content {
    case inline([UInt8])
    /// Where it begins in the file of chunks.
    case file(Int)
  }

  let content: Content
  let length: Int
  /// XXH64.
  let sum: UInt64

  var place: Int? {
    if case .file(let place) = content { place } else { nil }
  }
}

/// A chunk that has been cut off, and nobody knows yet whether it is new.
struct UnnamedChunk {
  let bytes: [UInt8]
  private let naming: Deferred<(hash: ChunkHash, sum: UInt64)>

  init(_ bytes: [UInt8], by helper: any Helper) {
    self.bytes = bytes
    naming = Deferred(by: helper) { (ChunkHash(of: bytes), XXHash64.hash(bytes)) }
  }

  /// Lends the helper a hand.
  func nameUnlessBegun() { naming.doUnlessBegun() }

  var isNamed: Bool { naming.isReady }
  /// Waited for, if need be.
  var names: (hash: ChunkHash, sum: UInt64) { naming.wait() }
}
