import Testing

@testable import CaravanChunking

private let small = ChunkingParameters(minimum: 64, average: 256, maximum: 1024)

/// What a driver of the machine ends up with.
private struct Outcome {
  var lengths: [Int] = []
  var kept = 0
  var bytesRead = 0
  var bytesChunked = 0
}

/// Drives a rechunking of `new`, and checks each step on the way. Reads may come back short.
private func rechunk(
  _ old: [UInt8], _ new: [UInt8], _ edits: ObjectEdits, readSize: Int = 300, random: inout SplitMix64
) throws -> Outcome {
  let oldLengths = Chunker.lengths(of: old.span, small)
  var machine = try Rechunker(oldLengths: oldLengths, edits: edits, parameters: small, readSize: readSize)
  var outcome = Outcome()
  var offset = 0
  while true {
    switch machine.next() {
    case .keep(let index):
      let start = oldLengths[..<index].reduce(0, +)
      try #require(start == offset && old[start..<start + oldLengths[index]] == new[start..<start + oldLengths[index]])
      offset += oldLengths[index]
      outcome.kept += 1
      outcome.lengths.append(oldLengths[index])
    case .read(let start, let count):
      try #require(count > 0 && count <= readSize && start + count <= new.count)
      let given = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 1...count, using: &random) : count
      outcome.bytesRead += given
      machine.supply(Array(new[start..<start + given]))
    case .chunk(let start, let bytes):
      try #require(start == offset && bytes == Array(new[start..<start + bytes.count]))
      offset += bytes.count
      outcome.bytesChunked += bytes.count
      outcome.lengths.append(bytes.count)
    case .done:
      #expect(offset == new.count)
      return outcome
    }
  }
}

/// One random edit, done to the bytes and told to the edits.
private func edit(_ bytes: inout [UInt8], _ edits: inout ObjectEdits, _ random: inout SplitMix64) {
  let count = Int.random(in: 0...(Bool.random(using: &random) ? 8 : 3000), using: &random)
  switch Int.random(in: 0..<4, using: &random) {
  case 0:
    bytes += random.contents(count)
    edits.append(count: count)
  case 1:
    let size = Int.random(in: 0...bytes.count + 500, using: &random)
    if size > bytes.count { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
    bytes.removeLast(bytes.count - size)
    edits.truncate(to: size)
  default:
    let offset = Int.random(in: 0...bytes.count + 50, using: &random)
    guard count > 0 else { return }
    if offset > bytes.count { bytes += [UInt8](repeating: 0, count: offset - bytes.count) }
    bytes.replaceSubrange(offset..<min(bytes.count, offset + count), with: random.contents(count))
    edits.overwrite(at: offset, count: count)
  }
}

@Suite struct RechunkerTests {
  @Test("after any edits the chunks are those of the new object, and nothing is read in vain", arguments: 0..<400)
  func equalsFreshChunking(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let old = random.contents(Int.random(in: 0...20_000, using: &random))
    var (new, edits) = (old, ObjectEdits(originalSize: old.count))
    for _ in 0..<Int.random(in: 0...5, using: &random) { edit(&new, &edits, &random) }
    #expect(edits.size == new.count)

    let readSize = Int.random(in: 1...2500, using: &random)
    let outcome = try rechunk(old, new, edits, readSize: readSize, random: &random)
    #expect(outcome.lengths == Chunker.lengths(of: new.span, small))
    #expect(outcome.bytesRead == outcome.bytesChunked)
    if edits.isEmpty { #expect(outcome.bytesRead == 0) }
  }

  @Test("BEN-10: a small edit of a large object reads a few chunks around it", arguments: 0..<40)
  func local(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let old = random.bytes(100_000)
    var (new, edits) = (old, ObjectEdits(originalSize: old.count))
    let count = Int.random(in: 1...2000, using: &random)
    let offset = Int.random(in: 0...old.count - count, using: &random)
    new.replaceSubrange(offset..<offset + count, with: random.bytes(count))
    edits.overwrite(at: offset, count: count)
    let outcome = try rechunk(old, new, edits, random: &random)
    #expect(outcome.lengths == Chunker.lengths(of: new.span, small))
    #expect(outcome.bytesRead <= count + 6 * small.maximum)
  }

  @Test("an append reads the last old chunk and what was appended")
  func append() throws {
    var random = SplitMix64(seed: 9)
    let old = random.bytes(50_000)
    let new = old + random.bytes(700)
    var edits = ObjectEdits(originalSize: old.count)
    edits.append(count: 700)
    let last = try #require(Chunker.lengths(of: old.span, small).last)
    #expect(try rechunk(old, new, edits, random: &random).bytesRead == last + 700)
  }

  @Test("a truncation reads the chunk it cuts, and nothing if it falls on a boundary")
  func truncate() throws {
    var random = SplitMix64(seed: 10)
    let old = random.bytes(50_000)
    let lengths = Chunker.lengths(of: old.span, small)
    let boundary = lengths[..<20].reduce(0, +)
    for (size, bytesRead) in [(boundary, 0), (boundary + 10, 10), (0, 0)] {
      var edits = ObjectEdits(originalSize: old.count)
      edits.truncate(to: size)
      #expect(try rechunk(old, Array(old[..<size]), edits, random: &random).bytesRead == bytesRead)
    }
  }

  @Test("a new object is one that was appended whole")
  func new() throws {
    var random = SplitMix64(seed: 11)
    let new = random.contents(9000)
    var edits = ObjectEdits(originalSize: 0)
    edits.append(count: new.count)
    #expect(try rechunk([], new, edits, random: &random).lengths == Chunker.lengths(of: new.span, small))
  }

  @Test(
    "a manifest that does not describe the object is refused",
    arguments: [[], [5, 6], [10, 0], [11, -1], [Int.max, 5]])
  func manifest(lengths: [Int]) {
    #expect(throws: ChunkingError.manifestMismatch(size: 10)) {
      _ = try Rechunker(oldLengths: lengths, edits: ObjectEdits(originalSize: 10), parameters: small)
    }
  }
}

@Suite struct ObjectEditsTests {
  @Test("the changed ranges cover exactly the bytes written", arguments: 0..<100)
  func ranges(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var edits = ObjectEdits(originalSize: 200)
    var touched = [Bool](repeating: false, count: 200)
    for _ in 0..<12 {
      if Int.random(in: 0..<4, using: &random) == 0 {
        let size = Int.random(in: 0...300, using: &random)
        edits.truncate(to: size)
        touched += [Bool](repeating: true, count: max(0, size - touched.count))
        touched.removeLast(touched.count - size)
      } else {
        let (offset, count) = (Int.random(in: 0...250, using: &random), Int.random(in: 0...30, using: &random))
        edits.overwrite(at: offset, count: count)
        guard count > 0 else { continue }
        touched += [Bool](repeating: true, count: max(0, offset + count - touched.count))
        for index in offset..<offset + count { touched[index] = true }
      }
    }
    #expect(edits.size == touched.count)
    #expect(edits.changed.flatMap { Array($0) } == touched.indices.filter { touched[$0] })
    #expect(zip(edits.changed, edits.changed.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
  }

  @Test("the ranges are bounded, and joining the nearest loses none")
  func bound() {
    var edits = ObjectEdits(originalSize: 100_000)
    for index in 0..<5000 { edits.overwrite(at: index * 7 % 5000 * 20, count: 3) }
    #expect(edits.changed.count == ObjectEdits.maximumRanges)
    #expect((0..<5000).allSatisfy { edits.touch($0 * 20..<$0 * 20 + 3) })
  }
}
