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
