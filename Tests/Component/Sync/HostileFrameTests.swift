import CaravanCompression
import CaravanModel
import CaravanWire
import Testing

/// Goal: a frame that is cheap to send is cheap to refuse. Method: hostile frames against a whole cloud.
@Suite(.timeLimit(.minutes(2))) struct HostileFrameTests {
  private static func code(_ device: Device, _ payload: [UInt8]) async -> ErrorCode? {
    do throws(CaravanError) { _ = try await device.send(payload) } catch { return error.code }
    return nil
  }

  private static func flood(_ times: Int) -> [UInt8] {
    var plain: [UInt8] = []
    for _ in 0..<times { plain += [0x12, 0] }
    return plain
  }

  @Test("TRU-02: 216 bytes that hold a million empty operations are refused before they are opened")
  func million() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let plain = Self.flood(1_040_000)
      let small = Frame(compression: .zstd, plainBytes: UInt32(plain.count), body: try zstd(plain)).encoded()
      #expect(small.count < 256)
      #expect(await Self.code(a, small) == .limitExceeded)
      let whole = Self.flood(1_000_000)
      let refused = await Self.code(a, Frame(plainBytes: UInt32(whole.count), body: whole).encoded())
      #expect(refused == .limitExceeded, "and so are those that come as they are")
      #expect(try await a.exchange([]).isEmpty)
    }
  }

  @Test("TRU-02: a frame pays for its plain bytes before they are made, and one that is refused has paid")
  func charged() async throws {
    let rates = RateLimits(device: Rate(perSecond: 2, burst: 2_000), user: nil, container: nil)
    try await CloudCluster.with(rates: rates) { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let plain = [UInt8](repeating: 0, count: Limits.frameBytes)
      let frame = Frame(compression: .zstd, plainBytes: UInt32(plain.count), body: try zstd(plain)).encoded()
      #expect(await Self.code(a, frame) == .limitExceeded)
      // 512 pieces of 4 KiB each, and one for the frame that holds them.
      #expect(await Self.code(a, frame) == .rateLimited)
      #expect(await Self.code(b, frame) == .limitExceeded, "another device has its own")
      #expect(try await a.exchange([]).isEmpty, "a small frame is still let in")
    }
  }

  @Test("TRU-02: what is compressed holds no more for each byte than it may, and nobody sends more")
  func ratio() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree([("name", .text)])
      let body = RecordFields([1: .text(String(repeating: "x", count: 900_000))]).body
      let push = Push(
        container: "album", zone: "photos", op: 1,
        mutations: [CaravanWire.Mutation(name: "r", kind: .save, basedOn: 0, type: type.id, body: body)])
      let exchange = Exchange(epoch: 1, operations: [CaravanWire.Operation(kind: .push(push))]).encoded()
      let packed = try zstd(exchange)
      #expect(!Compressor.pays(packed, for: exchange))
      let frame = Frame(compression: .zstd, plainBytes: UInt32(exchange.count), body: packed)
      #expect(await Self.code(a, frame.encoded()) == .limitExceeded)
      #expect(await Self.code(a, Frame(plainBytes: UInt32(exchange.count), body: exchange).encoded()) == nil)
      let other = try cloud.device("b")
      #expect(try await other.pull().entries.count == 1, "the answer, which is as uniform, is opened")
    }
  }
}
