import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// Tokens and tickets: what this key made for this zone, user and device opens, and nothing else.
@Suite struct SealTests {
  private let key: TicketKey
  private let otherKey: TicketKey
  private let position = CaravanModel.ChangePosition(incarnation: 3, seq: 1 << 39)

  init() throws {
    key = try TicketKey([UInt8](repeating: 5, count: 32))
    otherKey = try TicketKey([UInt8](repeating: 6, count: 32))
  }

  private func zone(
    _ name: String = "photos", of user: String = "ann", in container: String = "album",
    _ environment: CaravanModel.Environment = .development
  ) throws -> ZoneID {
    try ZoneID(DatabaseID(container: ContainerID(container), environment: environment, owner: UserID(user)), name)
  }

  @Test("CK-42: a token opens for its own zone, and only there")
  func tokens() throws {
    let seal = TokenSeal(key: key)
    let token = try seal.seal(position, of: zone())
    #expect(try seal.open(token, of: zone()) == position)
    for other in [
      CaravanModel.ChangePosition(incarnation: 0, seq: 0), CaravanModel.ChangePosition(incarnation: .max, seq: 0),
      CaravanModel.ChangePosition(incarnation: 1, seq: 127, settled: 128),
    ] {
      #expect(try seal.open(seal.seal(other, of: zone()), of: zone()) == other)
    }
    let strangers = try [
      zone("photo"), zone(of: "bob"), zone(in: "albums"), zone("photos", of: "ann", in: "album", .production),
      // The same letters, cut elsewhere.
      zone("hotos", of: "annp"), zone(of: "nn", in: "albuma"),
    ]
    for stranger in strangers {
      let error = #expect(throws: CaravanError.self) { try seal.open(token, of: stranger) }
      #expect(error?.code == .invalidSyncToken)
    }
    #expect(throws: CaravanError.self) { try TokenSeal(key: otherKey).open(token, of: zone()) }
  }

  @Test("Every bit of a token counts")
  func everyBit() throws {
    let seal = TokenSeal(key: key)
    let token = try seal.seal(position, of: zone())
    for bit in 0..<(token.count * 8) {
      var forged = token
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CaravanError.self, "bit \(bit)") { try seal.open(forged, of: zone()) }
    }
    #expect(throws: CaravanError.self) { try seal.open(Array(token.dropLast()), of: zone()) }
    #expect(throws: CaravanError.self) { try seal.open(token + [0], of: zone()) }
    #expect(throws: CaravanError.self) { try seal.open([], of: zone()) }
  }

  @Test("A ticket opens for its device until it expires; any change to it shows")
  func tickets() throws {
    let seal = TicketSeal(key: key)
    let device = EnrolledDevice("ann", "phone")
    let grant = TicketGrant(
      database: try zone().database, device: device, isUpload: true, bytes: 1_000, expiresMilliseconds: 50)
    let ticket = seal.issue(grant)
    #expect(ticket.partition == Partition(of: grant.database).number)
    #expect(try seal.open(ticket, from: device, nowMilliseconds: 49) == grant)

    func code(_ now: Int64 = 0, from other: EnrolledDevice? = nil, _ change: (inout Ticket) -> Void = { _ in })
      -> ErrorCode?
    {
      var forged = ticket
      change(&forged)
      do throws(CaravanError) { _ = try seal.open(forged, from: other ?? device, nowMilliseconds: now) } catch {
        return error.code
      }
      return nil
    }
    #expect(code(50) == .leaseExpired)
    let span = TicketSeal.lifetime.components.seconds * 1_000
    #expect(code(-span) == nil, "as long as tickets last")
    #expect(code(-span - 120_000) == .leaseExpired, "TRU-12: issued before storage's time went back")
    #expect(code(from: EnrolledDevice("ann", "tablet")) == .notAuthenticated)
    #expect(code(from: EnrolledDevice("bob", "phone")) == .notAuthenticated, "TRU-01: another user's of that name")
    let again = EnrolledDevice(user: device.user, device: device.device, enrolment: 2, environment: .development)
    #expect(code(from: again) == .notAuthenticated, "TRU-01: the name enrolled again")
    #expect(code { $0.device = "ann/tablet/1" } == .notAuthenticated)
    #expect(code { $0.database?.owner = "bob" } == .notAuthenticated)
    #expect(code { $0.upload = false } == .notAuthenticated)
    #expect(code { $0.bytes += 1 } == .notAuthenticated)
    #expect(code { $0.expiresMilliseconds += 1 } == .notAuthenticated)
    #expect(code { $0.expiresMilliseconds = .max } == .notAuthenticated)
    #expect(code { $0.mac = [] } == .notAuthenticated)
    #expect(code { $0.database = nil } == .invalidData)
    #expect(code { $0.author = "bob" } == .notAuthenticated)
    #expect(code { ($0.record, $0.zone) = ("r", "t") } == .notAuthenticated)
    #expect(throws: CaravanError.self) { try TicketSeal(key: otherKey).open(ticket, from: device, nowMilliseconds: 0) }
  }

  @Test("A bounded cache keeps what is used and never more than twice its capacity")
  func cache() {
    var cache = BoundedCache<Int, Int>(capacity: 10)
    cache.insert(0, for: -1)
    for number in 0..<1_000 {
      cache.insert(number, for: number)
      #expect(cache.value(for: -1) == 0, "used after every insertion, so it stays")
      #expect(cache.count <= 20)
    }
    #expect(cache.value(for: 995) == 995)
    #expect(cache.value(for: 3) == nil)
    cache.remove(995)
    #expect(cache.value(for: 995) == nil)
  }
}
