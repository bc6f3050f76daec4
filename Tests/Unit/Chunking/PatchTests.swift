import CaravanModel
import Testing

@testable import CaravanCompression

/// Goal: a changed chunk travels as what has changed (BEN-10), and bytes of a stranger are never trusted for it.
@Suite struct PatchTests {
  private func opened(_ patch: [UInt8], _ base: [UInt8], limit: Int = 256 << 10) throws -> [UInt8] {
    var decompressor = try Decompressor()
    return try decompressor.apply(patch, to: base, limit: limit)
  }

  private func code(_ body: () throws -> [UInt8]) -> ErrorCode? {
    do {
      _ = try body()
      return nil
    } catch let error as CaravanError {
      return error.code
    } catch {
      return nil
    }
  }

  @Test("one byte changed, inserted, deleted or appended costs some 60 bytes, in noise as in text")
  func smallEdits() throws {
    var random = SplitMix64(seed: 3)
    var compressor = try Compressor()
    for size in [100, 1_000, 16 << 10, 64 << 10, 200 << 10] {
      for base in [random.bytes(size), random.contents(size)] {
        var changed = base
        changed[size / 2] ^= 0x55
        let edits = [
          changed, [7] + base, Array(base.dropFirst()), base + [9],
          Array(base[..<(size / 3)] + base[(size / 3 + 1)...]),
        ]
        for bytes in edits {
          let patch = try compressor.patch(bytes, from: base)
          #expect(patch.count <= 64, "\(size) bytes")
          #expect(try opened(patch, base) == bytes)
        }
      }
    }
  }

  @Test("random edits of several bases one after another: the result is the same, the patch as large as what is new")
  func manyEdits() throws {
    var random = SplitMix64(seed: 4)
    var compressor = try Compressor()
    for _ in 0..<20 {
      let bases = (0..<random.below(4) + 1).map { _ in random.bytes(1 + random.below(256 << 10)) }
      let base = bases.flatMap { $0 }
      var bytes = Array(base.suffix(min(base.count, 256 << 10)))
      bytes[0] ^= 1
      var new = 1
      for _ in 0..<random.below(6) {
        let at = random.below(bytes.count)
        switch random.below(3) {
        case 0:
          let inserted = random.bytes(random.below(3_000))
          bytes.insert(contentsOf: inserted, at: at)
          new += inserted.count
        case 1: bytes.removeSubrange(at..<min(bytes.count - 1, at + random.below(3_000)))
        default:
          bytes[at] ^= 1
          new += 1
        }
      }
      bytes = Array(bytes.prefix(256 << 10))
      let patch = try compressor.patch(bytes, from: base)
      #expect(patch.count <= new + 300)
      #expect(try opened(patch, base) == bytes)
    }
  }

  @Test("a bomb, a patch that does not state its size, a cut or a foreign one: refused, or other bytes come out")
  func hostile() throws {
    var random = SplitMix64(seed: 5)
    let base = random.bytes(64 << 10)
    var compressor = try Compressor()
    let bomb = try compressor.patch([UInt8](repeating: 0, count: 50 << 20), from: base)
    #expect(bomb.count < 10_000)
    #expect(code { try opened(bomb, base) } == .limitExceeded)
    let patch = try compressor.patch([1] + base, from: base)
    #expect(code { try opened(patch, base, limit: base.count) } == .limitExceeded)
    #expect(code { try opened(Array(patch.dropLast()), base) } == .invalidData)
    #expect(code { try opened(patch + [0], base) } == .invalidData)
    #expect(code { try opened([], base) } == .invalidData)
    let otherBase = random.bytes(64 << 10)
    #expect((try? opened(patch, otherBase)) != [1] + base)
    #expect((try? opened(patch, [])) != [1] + base)
    // What a broken patch gives never depends on what was opened before or after it.
    var decompressor = try Decompressor()
    for position in patch.indices {
      var damaged = patch
      damaged[position] ^= UInt8(1 + random.below(255))
      _ = try? decompressor.apply(damaged, to: base, limit: 256 << 10)
      #expect(try decompressor.apply(patch, to: base, limit: 256 << 10) == [1] + base)
      #expect(try decompressor.decompress(compressor.compress([5, 5]), limit: 9) == [5, 5])
    }
    for _ in 0..<300 { _ = try? opened(random.bytes(random.below(200)), base) }
  }
}
