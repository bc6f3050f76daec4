import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: a part of an object is read from the chunks that it lies in, and from no others. Method: every part of an
/// object of few bytes, and the ends of what a number can say.
@Suite struct ObjectWindowTests {
  private static let lengths: [UInt32] = [3, 1, 4]
  private static let bytes: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7]

  private static let manifest = AssetManifest(
    parts: lengths.enumerated().compactMap { index, length in
      ChunkHash([UInt8](repeating: UInt8(index), count: ChunkHash.byteCount)).map {
        AssetManifest.Part(hash: $0, length: length)
      }
    })

  private static func chunk(_ part: AssetManifest.Part) -> [UInt8] {
    let index = Int(part.hash.bytes[0])
    let start = lengths[..<index].reduce(0) { $0 + Int($1) }
    return Array(bytes[start..<start + Int(part.length)])
  }

  @Test("CK-24: every part of an object is what it says, from as few chunks as can be")
  func parts() {
    for offset in 0...10 {
      for length in -1...10 {
        let window = ObjectWindow(of: Self.manifest, at: UInt64(offset), length: length)
        let wanted = Array(Self.bytes.dropFirst(offset).prefix(max(0, length)))
        #expect(window.count == wanted.count)
        #expect(window.bytes(of: window.parts.map(Self.chunk)) == wanted, "\(offset), \(length)")
        #expect(window.parts.allSatisfy { !Set(Self.chunk($0)).isDisjoint(with: wanted) }, "\(offset), \(length)")
      }
    }
  }

  @Test("CK-24: beyond the end, and of an empty object, there is nothing to read")
  func ends() {
    #expect(ObjectWindow(of: Self.manifest, at: .max, length: .max).parts.isEmpty)
    #expect(ObjectWindow(of: Self.manifest, at: 7, length: .max).count == 1)
    #expect(ObjectWindow(of: AssetManifest(parts: []), at: 0, length: 9).parts.isEmpty)
  }
}
