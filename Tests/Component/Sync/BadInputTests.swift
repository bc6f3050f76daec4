import CaravanBus
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// What devices may get wrong, by mistake or on purpose: one clear refusal, and the service lives on.
@Suite(.timeLimit(.minutes(2))) struct BadInputTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("date", .integer)]

  private func code(_ device: Device, _ payload: [UInt8]) async -> ErrorCode? {
    do throws(CaravanError) { _ = try await device.send(payload) } catch { return error.code }
    return nil
  }

  @Test("CK-42: a forged, a foreign and a truncated token are refused; the rest of the frame is answered")
  func tokens() async throws {
    try await CloudCluster.with { cloud in
      let (ann, bob) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let type = try await ann.agree(Self.fields)
      _ = try await ann.push(1, [.save("r1", [1: .text("x")], type: type)])
      let token = try await ann.pull().token
      var forged = token
      forged[5] ^= 1
      let pulls: [(String, [UInt8])] = [
        ("photos", forged), ("photos", Array(token.dropLast())), ("other", token), ("photos", token),
      ]
      let results = try await ann.exchange(
        pulls.map { .pull(Pull(container: "album", zone: $0.0, token: $0.1)) })
      for result in results.dropLast() {
        guard case .failure(let failure) = result else { throw Unexpected(result: result) }
        #expect(failure.model().code == .invalidSyncToken)
      }
      guard case .pull = try #require(results.last) else { throw Unexpected(result: results[3]) }
      let stolen = try await bob.refusal(.pull(Pull(container: "album", zone: "photos", token: token)))
      #expect(stolen?.code == .invalidSyncToken)
    }
  }

  @Test("CK-65, SIM-75: a user sees nothing of another's, not even that it is there; no payload can name another user")
  func foreignUser() async throws {
    try await CloudCluster.with { cloud in
      let (ann, bob) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let type = try await ann.agree(Self.fields)
      _ = try await ann.push(1, [.save("r1", [1: .text("secret")], type: type)])
      let hidden = try await bob.ask(.pull(Pull(container: "album", zone: "photos")))
      let absent = try await bob.ask(.pull(Pull(container: "album", zone: "nothing")))
      // Tokens are MACs over the zone's name, so only they differ; their lengths do not.
      guard case .pull(var one) = hidden, case .pull(var two) = absent else { throw Unexpected(result: hidden) }
      #expect(one.token.count == two.token.count)
      (one.token, two.token) = ([], [])
      #expect(one.encoded() == two.encoded())
      #expect(try await bob.push(1, [.save("r1", [1: .text("mine")], type: type)]).versions == [1])
      #expect(try await ann.pull().entries.map(\.version) == [1])
    }
  }

  @Test("Caravan's own records are out of reach for devices")
  func systemContainer() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let row = Push(
        container: "caravan", zone: "subscriptions", op: 1, mutations: [CaravanWire.Mutation(name: "b", kind: .delete)])
      let operations: [CaravanWire.Operation.Kind] = [
        .push(row), .pull(Pull(container: "caravan", zone: "subscriptions")),
        .drop(DropTable(container: "caravan", zone: "subscriptions")),
        .ticket(RequestTicket(container: "caravan", upload: true)), .propose(.type(Self.fields, in: "caravan")),
        .settle(Settle(container: "caravan", zone: "subscriptions", op: 1)),
        .subscribe(Subscribe(generation: 1, subscriptions: [ZoneSubscription(container: "caravan", zone: "schema")])),
      ]
      for operation in operations { #expect(try await a.refusal(operation)?.code == .zoneDoesNotExist, "\(operation)") }
    }
  }

  @Test("Garbage frames, wrong sizes, too many operations: refused, and the next frame is answered")
  func garbage() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let random = SeededRandom(seed: 3)
      for length in [1, 10, 100, 10_000] {
        #expect(await code(a, random.bytes(length)) == .invalidData, "\(length) random bytes")
      }
      let exchange = Exchange(
        epoch: 1, operations: [CaravanWire.Operation(kind: .pull(Pull(container: "album", zone: "z")))]
      )
      .encoded()
      let size = UInt32(exchange.count)
      #expect(await code(a, Frame(plainBytes: size + 1, body: exchange).encoded()) == .invalidData)
      #expect(await code(a, Frame(compression: .zstd, plainBytes: size, body: exchange).encoded()) == .invalidData)
      #expect(await code(a, Frame(plainBytes: 3, body: [1, 2, 3]).encoded()) == .invalidData)
      let huge = [UInt8](repeating: 1, count: Limits.frameBytes + 1)
      #expect(await code(a, Frame(plainBytes: UInt32(huge.count), body: huge).encoded()) == .limitExceeded)
      let many = Exchange(operations: Array(repeating: CaravanWire.Operation(), count: Limits.operationsPerFrame + 1))
        .encoded()
      #expect(await code(a, Frame(plainBytes: UInt32(many.count), body: many).encoded()) == .limitExceeded)
      #expect(await code(a, Frame(plainBytes: size, body: exchange).encoded()) == nil)
      #expect(try await a.exchange([]).isEmpty)
    }
  }

  @Test("A zstd bomb is refused by what it says and by what it holds, without being made")
  func bombs() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      var compressor = try Compressor()
      let bomb = try compressor.compress([UInt8](repeating: 0, count: 64 << 20))
      #expect(bomb.count < 16 << 10)
      for stated in [UInt32(64 << 20), UInt32(Limits.frameBytes), 100] {
        let frame = Frame(compression: .zstd, plainBytes: stated, body: bomb)
        #expect(await code(a, frame.encoded()) == .limitExceeded, "says \(stated) bytes")
      }
      var cut = Frame(
        compression: .zstd, plainBytes: 100, body: try compressor.compress([UInt8](repeating: 9, count: 100)))
      cut.body.removeLast()
      #expect(await code(a, cut.encoded()) == .invalidData)
    }
  }

  @Test(
    "One bad operation does not fail the frame: unknown type, wrong kind, oversized row, bad names, no operation at all"
  )
  func badOperations() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      var stranger = type
      stranger.id = 999
      let large = [UInt8](repeating: 1, count: Limits.recordBytes)
      let bad: [(Push, ErrorCode)] = [
        (.of(1, [.save("r", [1: .text("x")], type: stranger)]), .tableNotFound),
        (.of(2, [.save("r", [1: .integer(5)], type: type)]), .schemaViolation),
        (.of(3, [.save("r", [9: .data(large)], type: type)]), .limitExceeded),
        (.of(4, [.save("", [1: .text("x")], type: type)]), .invalidData),
        (.of(5, [.save("r", [1: .text("x")], type: type)], to: "no/zone"), .invalidData),
        (.of(6, [.save("r", [1: .text("x")], type: type)], in: "No Container"), .invalidData),
        (.of(7, [.save("r", [:], type: type), .save("r", [:], type: type)]), .invalidData),
        (Push(container: "album", zone: "photos", op: 8, mutations: [CaravanWire.Mutation(name: "r")]), .invalidData),
        (Push(container: "album", zone: "photos", op: 9), .limitExceeded),
      ]
      let good = Push.of(10, [.save("ok", [1: .text("x")], type: type)])
      let results = try await a.exchange(bad.map { .push($0.0) } + [.push(good)])
      for (result, (push, expected)) in zip(results, bad) {
        guard case .failure(let failure) = result else { throw Unexpected(result: result) }
        #expect(failure.model().code == expected, "op \(push.op): \(failure)")
      }
      guard case .commit(let reply) = try #require(results.last) else { throw Unexpected(result: results[9]) }
      #expect(try reply.model().versions == [1])
      #expect(try await a.pull().entries.map(\.name) == ["ok"])

      let exchange = Exchange(operations: [CaravanWire.Operation()]).encoded()
      let reply2 = try await a.send(Frame(plainBytes: UInt32(exchange.count), body: exchange))
      let result = try ExchangeReply(decoding: FrameBody.open(reply2)).results[0]
      guard case .failure(let failure)? = result.kind else { throw Missing("refusal") }
      #expect(failure.model().code == .invalidData)
    }
  }

  @Test("SIM-94: a wrong kind is said in one line, with record, field, expected and actual type")
  func message() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let refusal = try await a.refusal(.push(.of(1, [.save("r1", [2: .text("x")], type: type)])))
      #expect(refusal?.message == "record 'r1' of 'photos': field 'date' is integer, not text: send a integer value")
    }
  }

  @Test("A store that is away is a transient refusal of its operations alone, with the time to come back")
  func storeAway() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      // Sync remembers what it has asked storage once.
      _ = try await a.exchange([.whoAmI(WhoAmI(container: "album"))])
      cloud.hub.disconnect("storage")
      let results = try await a.exchange([
        .push(.of(1, [.save("r1", [1: .text("x")], type: type)])), .ticket(RequestTicket(container: "album")),
        .whoAmI(WhoAmI(container: "album")),
      ])
      // A ticket ends by storage's time, and is for storage.
      for result in results.prefix(2) {
        guard case .failure(let failure) = result else { throw Unexpected(result: result) }
        #expect(failure.model().isTransient && failure.retryAfterMilliseconds > 0, "\(failure)")
      }
      guard case .person = results[2] else { throw Unexpected(result: results[2]) }
      cloud.hub.reconnect("storage")
      #expect(try await a.push(1, [.save("r1", [1: .text("x")], type: type)]).versions == [1])
    }
  }
}
