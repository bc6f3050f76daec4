extension BodyScanner {
  /// The chunks that a list names: an encoded `Asset` that has no list of its own.
  package static func chunks(listedIn list: [UInt8]) throws(BodyProblem) -> [ChunkHash] {
    var scanner = BodyScanner()
    try scanner.object(list.span, 0..<list.count)
    guard scanner.lists.isEmpty, let chunks = try? ChunkHash.list(scanner.hashes) else {
      throw .malformed("a list of lists")
    }
    return chunks
  }

  /// An `Asset`: as many lengths as hashes, each of a chunk, that add up to the size; or a list alone, which storage
  /// looks into.
  mutating func object(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(BodyProblem) {
    var reader = ProtobufReader(range)
    var size: UInt64?
    var named: Range<Int>?
    var list: Range<Int>?
    var lengths = Lengths()
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .varint):
        guard size == nil else { throw .malformed("an object with more than one size") }
        size = try reader.varint(bytes)
      case (2, .bytes):
        guard named == nil else { throw .malformed("an object with more than one list of chunks") }
        named = try reader.range(bytes)
      case (3, .bytes):
        var packed = ProtobufReader(try reader.range(bytes))
        while !packed.isAtEnd { try lengths.add(try packed.varint(bytes)) }
      case (3, .varint): try lengths.add(try reader.varint(bytes))
      case (4, .bytes):
        guard list == nil else { throw .malformed("an object with more than one list") }
        list = try reader.range(bytes)
      case (1...4, _): throw .malformed("an object in another form than it has")
      case (_, _): try reader.skip(form, bytes)
      }
    }
    if let list, !list.isEmpty {
      guard named?.isEmpty ?? true, lengths.count == 0 else { throw .malformed("an object with a list beside chunks") }
      return try listed(bytes, list, size: size ?? 0)
    }
    try add(bytes, named ?? range.upperBound..<range.upperBound, lengths, size: size ?? 0)
  }

  private mutating func listed(
    _ bytes: borrowing Span<UInt8>, _ list: Range<Int>, size: UInt64
  ) throws(BodyProblem) {
    let start = hashes.count
    append(bytes, list)
    guard list.count == ChunkHash.byteCount, let hash = ChunkHash(hashes, at: start) else {
      throw .malformed("a list that is no hash")
    }
    lists.append(List(hash: hash, size: size))
  }

  private mutating func add(
    _ bytes: borrowing Span<UInt8>, _ list: Range<Int>, _ lengths: Lengths, size: UInt64
  ) throws(BodyProblem) {
    guard list.count.isMultiple(of: ChunkHash.byteCount), list.count / ChunkHash.byteCount == lengths.count else {
      throw .malformed("an object whose chunks and lengths are not as many")
    }
    guard lengths.count <= Limits.chunksPerObject else { throw .tooManyChunks(lengths.count) }
    guard lengths.sum == size else { throw .malformed("an object whose chunks do not add up to its size") }
    append(bytes, list)
  }

  private struct Lengths {
    var count = 0
    var sum: UInt64 = 0

    mutating func add(_ length: UInt64) throws(BodyProblem) {
      guard (1...UInt64(Limits.chunkBytes)).contains(length) else {
        throw .malformed("a chunk of an impossible length")
      }
      count += 1
      sum += length
    }
  }
}
