import CaravanAgentCore
import CaravanChunking
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: whatever is done to an object, what has to travel is about what is new in it (SIM-36, BEN-10).
@Suite struct ObjectDeltaTests {
  private static let chunking = ChunkingParameters(minimum: 1 << 10, average: 4 << 10, maximum: 16 << 10)

  /// An object cut into chunks, and their bytes.
  private struct Cut {
    var version: ObjectVersion
    var bytes: [ChunkHash: [UInt8]] = [:]

    init(_ object: [UInt8]) {
      var parts: [AssetManifest.Part] = []
      var start = 0
      for length in Chunker.lengths(of: object.span, ObjectDeltaTests.chunking) {
        let chunk = Array(object[start..<start + length])
        let hash = ChunkHash(of: chunk)
        parts.append(.init(hash: hash, length: UInt32(length)))
        bytes[hash] = chunk
        start += length
      }
      version = ObjectVersion(parts: parts)
    }
  }

  /// What the needs take on the wire.
  private func cost(_ needs: [ChunkNeed], _ new: Cut, _ old: Cut) throws -> Int {
    var compressor = try Compressor()
    var sum = 0
    for need in needs {
      let bytes = try #require(new.bytes[need.hash])
      let base = try need.bases.flatMap { try #require(old.bytes[$0], "a base is not of the old version") }
      let patch = base.isEmpty ? bytes.count : try compressor.patch(bytes, from: base).count
      sum += 32 + min(bytes.count, patch + 32 * need.bases.count)
    }
    return sum
  }

  @Test(
    "random edits: exactly the chunks that are new are needed, and cost what was inserted and some 400 bytes an edit")
  func randomEdits() throws {
    let random = SeededRandom(seed: 11)
    func below(_ bound: Int) -> Int { Int(random.below(UInt64(max(1, bound)))) }
    for round in 0..<30 {
      let object = random.bytes(below(150_000))
      let old = Cut(object)
      var edited = object
      var (inserted, edits) = (0, 0)
      for _ in 0...below(4) {
        edits += 1
        let at = below(edited.count + 1)
        switch below(5) {
        case 0:
          let bytes = random.bytes(1 + below(20_000))
          edited.insert(contentsOf: bytes, at: at)
          inserted += bytes.count
        case 1: edited.removeSubrange(at..<min(edited.count, at + below(60_000)))
        case 2:
          let bytes = random.bytes(1 + below(3_000))
          edited.append(contentsOf: bytes)
          inserted += bytes.count
        case 3:
          edited.insert(UInt8(below(256)), at: below(2) == 0 ? 0 : at)
          inserted += 1
        default:
          let end = min(edited.count, at + below(3_000))
          edited.replaceSubrange(at..<end, with: random.bytes(end - at))
          inserted += end - at
        }
      }
      let new = Cut(edited)
      let needs = ObjectDelta.needs(of: new.version, since: old.version)
      let names = Set(new.version.parts.map(\.hash)).subtracting(old.version.parts.map(\.hash))
      #expect(Set(needs.map(\.hash)) == names && needs.count == names.count)
      // What a cut out or inserted piece leaves of the chunks at its ends may have to be sent, where four bases do not
      // hold it all: at most two chunks an edit.
      let size = try cost(needs, new, old)
      #expect(size <= inserted * 11 / 10 + edits * 1_200, "round \(round): \(size) bytes for \(inserted) in \(edits)")
    }
  }

  @Test("one byte changed, or inserted at the front: one or two chunks, each a patch of what stood there")
  func oneByte() throws {
    let object = SeededRandom(seed: 12).bytes(400_000)
    let old = Cut(object)
    var changed = object
    changed[200_000] ^= 1
    for edited in [changed, [7] + object, Array(object.dropFirst()), object + [9]] {
      let new = Cut(edited)
      let needs = ObjectDelta.needs(of: new.version, since: old.version)
      #expect((1...3).contains(needs.count))
      #expect(try cost(needs, new, old) <= needs.count * 160)
    }
  }

  @Test("nothing before, all the same, all gone; a list comes first and is a patch of the list before it")
  func edges() {
    let cut = Cut(SeededRandom(seed: 13).bytes(50_000)).version
    let all = ObjectDelta.needs(of: cut, since: nil)
    #expect(all.map(\.hash) == cut.parts.map(\.hash) && all.allSatisfy { $0.bases.isEmpty && $0.length > 0 })
    #expect(ObjectDelta.needs(of: cut, since: cut).isEmpty)
    #expect(ObjectDelta.needs(of: ObjectVersion(parts: []), since: cut).isEmpty)
    let (one, two) = (ChunkHash(of: [1]), ChunkHash(of: [2]))
    let listed = ObjectVersion(list: two, parts: cut.parts)
    let needs = ObjectDelta.needs(of: listed, since: ObjectVersion(list: one, parts: cut.parts))
    #expect(needs == [ChunkNeed(hash: two, bases: [one])])
    #expect(ObjectDelta.needs(of: listed, since: cut) == [ChunkNeed(hash: two)])
    #expect(ObjectDelta.needs(of: listed, since: listed).isEmpty)
  }

  @Test("chunks that repeat, move or change places never make a base of what the old version has not")
  func repeats() {
    let random = SeededRandom(seed: 14)
    let names = (0..<6).map { ChunkHash(of: [$0]) }
    func version() -> ObjectVersion {
      ObjectVersion(
        parts: (0..<random.below(9)).map { _ in
          let index = Int(random.below(6))
          return AssetManifest.Part(hash: names[index], length: UInt32(1_000 + index * 500))
        })
    }
    for _ in 0..<500 {
      let (old, new) = (version(), version())
      let needs = ObjectDelta.needs(of: new, since: old)
      let had = Set(old.parts.map(\.hash))
      #expect(Set(needs.map(\.hash)) == Set(new.parts.map(\.hash)).subtracting(had))
      #expect(needs.allSatisfy { had.isSuperset(of: $0.bases) && Set($0.bases).count == $0.bases.count })
    }
  }
}
