import CaravanLaunch
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanSyncDriver

/// Goal: nobody does more than allowed, and everybody is told when to come back. Method: values in virtual time; then
/// devices against a whole cloud.
@Suite(.timeLimit(.minutes(2))) struct RateTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("CK-101: a bucket lets a burst through, refills at its rate, and says when there is enough again")
  func bucket() {
    let rate = Rate(perSecond: 10, burst: 5)
    var bucket = TokenBucket()
    let now = 7 * Self.second
    for _ in 0..<5 {
      #expect(bucket.wait(for: 1, rate, at: now) == nil)
      bucket.take(1, rate, at: now)
    }
    #expect(bucket.wait(for: 1, rate, at: now) == Self.second / 10)
    #expect(bucket.wait(for: 3, rate, at: now) == Self.second * 3 / 10)
    #expect(bucket.wait(for: 1, rate, at: now + Self.second / 10) == nil, "the time named is enough")
    #expect(bucket.wait(for: 1, rate, at: now + Self.second / 10 - 1) == 1, "and no less is")
    #expect(!bucket.isFull(at: now + Self.second / 2 - 1) && bucket.isFull(at: now + Self.second / 2))
  }

  @Test("CK-101: what is larger than the burst passes a full bucket, once, and is paid for")
  func larger() {
    let rate = Rate(perSecond: 10, burst: 5)
    var bucket = TokenBucket()
    #expect(bucket.wait(for: 400, rate, at: 0) == nil)
    bucket.take(400, rate, at: 0)
    #expect(bucket.wait(for: 1, rate, at: 0) == 40 * Self.second - 5 * Self.second / 10 + Self.second / 10)
    #expect(bucket.wait(for: 400, rate, at: 40 * Self.second) == nil)
  }

  private static func ledger(capacity: Int = 100) -> RateLedger {
    RateLedger(
      RateLimits(
        device: Rate(perSecond: 1, burst: 2), user: Rate(perSecond: 1, burst: 3),
        container: Rate(perSecond: 1, burst: 4)), capacity: capacity)
  }

  private static func payer(_ device: String, _ user: String, _ container: String) throws -> RateLedger.Payer {
    RateLedger.Payer(
      device: EnrolledDevice(try UserID(user), try DeviceID(device), in: .production), container: container)
  }

  @Test("CK-101: device, user and container are limited each for itself; who is refused for one is charged for none")
  func scopes() throws {
    var ledger = Self.ledger()
    func ask(_ device: String, _ user: String, _ app: String, at now: UInt64 = 0) throws -> RateLedger.Scope? {
      ledger.take(1, from: try Self.payer(device, user, app), at: now)?.scope
    }
    #expect(try [ask("a", "u", "x"), ask("a", "u", "x"), ask("a", "u", "x")] == [nil, nil, .device])
    #expect(try [ask("b", "u", "x"), ask("b", "u", "x")] == [nil, .user])
    #expect(try [ask("c", "v", "x"), ask("d", "w", "x")] == [nil, .container])
    #expect(try ask("d", "w", "y") == nil, "another container is another bucket")
    #expect(try ask("d", "w", "", at: 0) == nil, "what is about no container meets the other two")
    #expect(try ask("a", "u", "x", at: 1 * Self.second) == nil, "a second later there is one of each again")
    #expect(try ask("a", "u", "x", at: 1 * Self.second) == .device)
  }

  @Test("TRU-04: each environment has rates of its own, of device, user and container; development's are smaller")
  func environments() throws {
    let rate = Rate(perSecond: 4, burst: 4)
    let owners: [(Rate?, Rate?, Rate?)] = [(rate, nil, nil), (nil, rate, nil), (nil, nil, rate)]
    for (device, user, container) in owners {
      var ledger = RateLedger(RateLimits(device: device, user: user, container: container))
      func taken(in environment: Environment) -> Int {
        let payer = RateLedger.Payer(device: EnrolledDevice("ann", "a", in: environment), container: "album")
        return (0..<10).count { _ in ledger.take(1, from: payer, at: 0) == nil }
      }
      #expect(taken(in: .development) == 4 / Int(Limits.developmentRates))
      #expect(taken(in: .production) == 4, "what development has used is none of production's")
    }
    let smallest = RateLimits(device: Rate(perSecond: 1, burst: 1), user: nil, container: nil)
    #expect(smallest.share(of: .development) == smallest, "something is always left")
  }

  @Test("A ledger stays within its bound: full buckets are forgotten first")
  func bounded() throws {
    var ledger = Self.ledger(capacity: 30)
    for number in 0..<1_000 {
      let name = "d\(number)"
      _ = ledger.take(1, from: try Self.payer(name, name, name), at: UInt64(number) * Self.second / 100)
      #expect(ledger.count <= 30)
    }
  }

  @Test(
    "CK-101: rates are read as people write them",
    arguments: [
      ("500", Rate(perSecond: 500, burst: 5_000)), ("500/7", Rate(perSecond: 500, burst: 7)), ("0", nil),
    ] as [(String, Rate?)])
  func texts(text: String, rate: Rate?) throws {
    #expect(try #require(RateText(flagText: text)).rate == rate)
    for wrong in ["", "-1", "x", "1/0", "1/2/3", "5/"] { #expect(RateText(flagText: wrong) == nil) }
  }

  @Test("CK-101, part 9: rateLimited says when to come back, and nothing of the operation was done")
  func service() async throws {
    let rates = RateLimits(device: Rate(perSecond: 2, burst: 80), user: nil, container: nil)
    try await CloudCluster.with(rates: rates) { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("name", .text)])
      func rows(_ count: Int, _ prefix: String) -> [CaravanModel.Mutation] {
        (0..<count).map { .save("\(prefix)\($0)", [1: .text("x")], type: type) }
      }
      #expect(try await a.push(1, rows(35, "a")).versions.count == 35)
      let refusal = try #require(try await a.refusal(.push(.of(2, rows(30, "b")))))
      #expect(refusal.code == .rateLimited && refusal.isTransient && !refusal.isDeferral)
      #expect((1_000...30_000).contains(try #require(refusal.retryAfterMilliseconds)))
      #expect(try await b.push(1, rows(30, "c")).versions.count == 30, "another device has its own")
      #expect(try await b.pull().entries.count == 65, "the refused push wrote nothing")
    }
  }

  @Test("CK-101: who owes for what has been done is let through again when that is paid")
  func owing() throws {
    var ledger = RateLedger(RateLimits(device: Rate(perSecond: 1, burst: 2), user: nil, container: nil))
    let payer = try Self.payer("a", "u", "x")
    #expect(ledger.take(1, from: payer, at: 0) == nil)
    ledger.charge(5, to: payer, at: 0)
    let refusal = ledger.take(1, from: payer, at: 0)
    #expect(refusal?.scope == .device && refusal?.nanoseconds == 5 * Self.second)
    let refused = ledger.take(1, from: payer, at: 5 * Self.second - 1)
    #expect(refused?.nanoseconds == 1)
    let paid = ledger.take(1, from: payer, at: 5 * Self.second)
    #expect(paid == nil)
  }

  @Test(
    "CK-101: bytes cost as much as the disk's pages that they fill",
    arguments: [(0, 0), (1, 1), (4_096, 1), (4_097, 2), (Limits.chunkBytes, 64)] as [(Int, UInt64)])
  func bytes(count: Int, accesses: UInt64) { #expect(Rate.accesses(bytes: count) == accesses) }

  @Test("CK-101: pages of changes are paid for by their bytes, and chunks that come with a push")
  func volume() async throws {
    let rates = RateLimits(device: Rate(perSecond: 2, burst: 80), user: nil, container: nil)
    try await CloudCluster.with(rates: rates) { cloud in
      let (a, b, c) = (try cloud.device("a"), try cloud.device("b"), try cloud.device("c"))
      let type = try await cloud.device("d").agree([("name", .text)])
      let text = Value.text(String(repeating: "x", count: 20_000))
      let rows = (0..<20).map { CaravanModel.Mutation.save("r\($0)", [1: text], type: type) }
      #expect(try await a.push(1, rows).versions.count == 20)
      #expect(try await b.pull().entries.count == 20, "what it costs only turns out then")
      let refusal = try #require(try await b.refusal(.pull(Pull(container: "album", zone: "photos"))))
      #expect(refusal.code == .rateLimited)
      // 400,000 bytes are 98 pieces and a little.
      #expect((50_000...70_000).contains(try #require(refusal.retryAfterMilliseconds)))
      #expect(try await c.pull(maxBytes: 1).entries.count == 1, "another device has its own; a small page costs little")
      var push = Push.of(1, [.save("c", [1: .text("x")], type: type)])
      push.chunks = [Chunk([UInt8](repeating: 1, count: 100_000))]
      #expect(try await c.refusal(.push(push)) == nil)
      let more = (0..<20).map { CaravanModel.Mutation.save("c\($0)", [1: .text("x")], type: type) }
      #expect(try await c.refusal(.push(.of(2, more)))?.code == .rateLimited, "6, 26 and 20 are more than 40")
    }
  }

  @Test(
    "CK-101: a group costs its device, its user and its container as much as pushes of its records, and its parts more",
    arguments: RateLedger.Scope.allCases)
  func groups(scope: RateLedger.Scope) async throws {
    let rate = Rate(perSecond: 2, burst: 80)
    let rates = RateLimits(
      device: scope == .device ? rate : nil, user: scope == .user ? rate : nil,
      container: scope == .container ? rate : nil)
    try await CloudCluster.with(rates: rates) { cloud in
      let a = try cloud.device("a")
      let (sharing, other, otherApp) =
        switch scope {
        case .device: (a, try cloud.device("b"), "album")
        case .user: (try cloud.device("b"), try cloud.device("c", of: "bob"), "album")
        case .container: (try cloud.device("c", of: "bob"), try cloud.device("c", of: "bob"), "notes")
        }
      func rows(_ count: Int, _ type: CaravanModel.RecordType) -> [CaravanModel.Mutation] {
        (0..<count).map { .save("r\($0)", [1: .text("x")], type: type) }
      }
      let type = try await a.agree([("name", .text)])
      _ = try await a.begin(1)
      _ = try await a.upload(1, 0, rows(30, type))
      func expectRefusal(_ device: Device, _ operation: CaravanWire.Operation.Kind) async throws {
        let refusal = try #require(try await device.refusal(operation))
        #expect(refusal.code == .rateLimited && refusal.message.contains("this \(scope.rawValue)"), "\(refusal)")
      }
      try await expectRefusal(sharing, .push(.of(2, rows(30, type))))
      try await expectRefusal(
        a, .commitGroup(CommitGroup(container: "album", zone: "photos", op: 1, parts: 30, atomic: true)))
      #expect(try await a.commit(1, parts: 1).versions.count == 30, "there is enough for what it is")
      let free = try await other.agree([("name", .text)], in: otherApp)
      #expect(try await other.push(1, rows(30, free), to: "mine", in: otherApp).versions.count == 30)
    }
  }
}
