import Foundation
import FuzzTargets
import Testing

/// Goal: what a fuzzer once found stays found, without a fuzzer. Method: every file of the committed corpus, and every
/// seed cut and bent in all places, through the same functions.
@Suite struct FuzzCorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus")

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

  @Test("no folder of the corpus is without a decoder")
  func folders() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    for name in names { #expect(FuzzTarget.named(name) != nil, "Tests/Fuzz/Corpus/\(name)") }
  }
}
