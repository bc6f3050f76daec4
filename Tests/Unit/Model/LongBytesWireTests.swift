import CaravanWire
import Testing

/// Goal: bytes that are longer than a block of the encoder's memory arrive as short ones do. Method: messages of
/// fields on both sides of the border, alone and one in the other.
@Suite struct LongBytesWireTests {
  @Test("bytes of every length survive the wire", arguments: [0, 1, (16 << 10) - 1, 16 << 10, 256 << 10])
  func roundTrip(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let chunks = [Chunk(hash: [1], data: bytes), Chunk(hash: [2], data: [7]), Chunk(hash: [3], data: bytes)]
    let request = try ChunkRequest(decoding: ChunkRequest(put: chunks).encoded())
    #expect(request.put.map(\.data) == chunks.map(\.data) && request.put.map(\.hash) == [[1], [2], [3]])
    let frame = try Frame(decoding: Frame(plainBytes: 9, body: request.encoded()).encoded())
    #expect(try ChunkRequest(decoding: frame.body).put.map(\.data) == chunks.map(\.data))
  }
}
