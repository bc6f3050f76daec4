import CaravanFuzzTargets
import Foundation
import Testing

/// Goal: what a fuzzer once found stays found, without a fuzzer. Method: every file of the committed corpus, and every
/// seed cut and bent in all places, through the same functions.
@Suite struct FuzzCorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus")

  private static func files(of target: FuzzTarget) throws -> [[UInt8]] {
    let folder = corpus.appendingPathComponent(target.name)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      [UInt8](try Data(contentsOf: folder.appendingPathComponent($0)))
    }
  }

  @Test("what a decoder makes of the corpus holds", arguments: FuzzTarget.all)
  func corpus(target: FuzzTarget) throws {
    for seed in target.seeds { #expect(target.accepts(seed), "\(target) refuses a seed") }
    for file in try Self.files(of: target) { target.accepts(file) }
    target.accepts([])
  }

  @Test("seeds that end early or have one byte changed are refused, or hold", arguments: FuzzTarget.all)
  func bent(target: FuzzTarget) {
    for seed in target.seeds {
      for end in stride(from: 0, to: seed.count, by: max(1, seed.count / 64)) { target.accepts(Array(seed[..<end])) }
      for place in stride(from: 0, to: seed.count, by: max(1, seed.count / 64)) {
        for byte in [0, 0x7f, 0xff, seed[place] ^ 1] as [UInt8] {
          var bent = seed
          bent[place] = byte
          target.accepts(bent)
        }
      }
    }
  }

  // The thread sanitizer has an allocator of its own. Tests/run has caravan-decoder-costs look at a release build.
  #if !THREAD_SANITIZER
    @Test("TRU-02: no decoder takes more memory than its bytes may cost", arguments: FuzzTarget.all)
    func heap(target: FuzzTarget) throws {
      let hostile = Hostile.inputs(bytes: 32 << 10) + target.hostile(bytes: 1 << 19)
      let files = try Self.files(of: target).map { ("of the corpus", $0) }
      for (name, bytes) in hostile + files + target.seeds.map({ ("a seed", $0) }) {
        let complaint = CostOracle.complaint(target.cost(of: bytes), of: target, checking: false)
        #expect(complaint == nil, "\(complaint ?? ""): \(name)")
      }
    }

    @Test("TRU-02: the oracle sees what is allocated, and what is given back")
    func meter() {
      let spender = FuzzTarget("spender", seeds: []) { bytes in
        for _ in 0..<10 { _ = [UInt8](repeating: bytes[0], count: 1 << 20).reversed().map { $0 ^ 1 } }
      }
      let cost = spender.cost(of: [7])
      #expect(cost.heap > 1 << 20 && cost.heap < 8 << 20, "\(cost)")
      #expect(CostOracle.complaint(cost, of: spender, checking: false) != nil)
    }
  #endif

  @Test("no folder of the corpus is without a decoder")
  func folders() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    for name in names { #expect(FuzzTarget.named(name) != nil, "Tests/Fuzz/Corpus/\(name)") }
  }
}
