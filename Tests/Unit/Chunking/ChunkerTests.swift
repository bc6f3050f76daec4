import Testing

@testable import CaravanChunking

private let small = ChunkingParameters(minimum: 64, average: 256, maximum: 1024)

@Suite struct ChunkerTests {
  @Test("the gear table is SplitMix64's published sequence")
  func gearTable() {
    // The reference output of SplitMix64 for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
    var state: UInt64 = 1_234_567
    #expect(Gear.splitMix64(&state) == 6_457_827_717_110_365_317)
    #expect(Gear.splitMix64(&state) == 3_203_168_211_198_807_973)
    #expect(Set((0..<256).map { Gear.table[$0] }).count == 256)
  }

  @Test("cuts never move: a change here makes every device upload everything again")
  func goldenCuts() {
    var random = SplitMix64(seed: 42)
    let bytes = random.bytes(1 << 20)
    #expect(Chunker.lengths(of: bytes.span) == goldenStandard)
    #expect(Array(Chunker.lengths(of: bytes.span, small).prefix(8)) == goldenSmall)
  }

  @Test("lengths stay within minimum and maximum, add up, and come close to the average")
  func lengths() {
    var random = SplitMix64(seed: 1)
    let bytes = random.bytes(400_000)
    let lengths = Chunker.lengths(of: bytes.span, small)
    #expect(lengths.reduce(0, +) == bytes.count)
    #expect(lengths.allSatisfy { $0 <= small.maximum })
    #expect(lengths.dropLast().allSatisfy { $0 >= small.minimum })
    #expect((200...400).contains(bytes.count / lengths.count))
  }

  @Test("bytes without content are cut at the maximum", arguments: [0, 1, 64, 65, 1024, 1025, 5000])
  func zeros(count: Int) {
    let lengths = Chunker.lengths(of: [UInt8](repeating: 0, count: count).span, small)
    var expected = [Int](repeating: 1024, count: count / 1024)
    if count % 1024 > 0 { expected.append(count % 1024) }
    #expect(lengths == expected)
  }

  @Test("the cuts do not depend on how the stream is split into reads", arguments: 1...20)
  func streaming(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let bytes = random.contents(30_000)
    var chunker = Chunker(small)
    var ranges: [Range<Int>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let read = Array(rest.prefix(Int.random(in: 1...700, using: &random)))
      rest = rest.dropFirst(read.count)
      chunker.consume(read.span) { ranges.append($0) }
    }
    if let last = chunker.finish() { ranges.append(last) }
    #expect(ranges.map(\.count) == Chunker.lengths(of: bytes.span, small))
    #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == bytes.count)
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
  }

  @Test("cut(in:) finds the first chunk, and repeated it finds them all")
  func cut() {
    var random = SplitMix64(seed: 3)
    let bytes = random.contents(20_000)
    var (rest, lengths) = (bytes, [Int]())
    while !rest.isEmpty {
      lengths.append(Chunker.cut(in: rest.span, small))
      rest.removeFirst(lengths[lengths.count - 1])
    }
    #expect(lengths == Chunker.lengths(of: bytes.span, small))
  }

  @Test("an insertion moves the cuts around it and no others")
  func insertion() {
    var random = SplitMix64(seed: 4)
    let bytes = random.bytes(200_000)
    let edited = Array(bytes[..<90_000]) + [1, 2, 3] + bytes[90_000...]
    func chunks(_ bytes: [UInt8]) -> Set<[UInt8]> {
      var start = 0
      return Set(
        Chunker.lengths(of: bytes.span, small).map { length in
          defer { start += length }
          return Array(bytes[start..<start + length])
        })
    }
    #expect(chunks(edited).subtracting(chunks(bytes)).count <= 6)
  }
}

// From a naive implementation in another language, written from the paper.
private let goldenStandard = [
  74101, 56406, 71054, 69189, 33866, 89690, 71618, 76723, 67185, 76896, 75631, 94681, 103914, 51827, 35795,
]
private let goldenSmall = [266, 285, 487, 445, 299, 277, 266, 309]
