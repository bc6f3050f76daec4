internal import CaravanBus
internal import CaravanCLIDriver
internal import CaravanCrypto
internal import CaravanGatewayDriver
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanTestKit

/// A device that is enrolled while others are at work, and revoked in the middle of it: from then on nothing reaches
/// it, whatever it tries. Its name is enrolled again, for the same user or another one: that device gets what is its
/// user's. All others must not notice. In some clusters.
struct Guest: Rarity {
  private static let name = "guest"
  /// What the broker had handed over before may still be taken in.
  private static let aftermath: Duration = .seconds(1)
  private static let patience = 300

  private let suite: Suite
  private let contents: Contents
  private let seed: UInt64
  private var dice: Dice
  private let host: Host
  /// Out, and how many bytes had come to it then.
  private var revoked: (device: SimulatedDevice, heard: Int)?
  private var successor: SimulatedDevice?

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    self.seed = seed
    contents = Contents()
    dice = Dice(seed: seed, "guest")
    host = suite.ground.simulation.host("gateway").host
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    let span = Int((end - clock.now).wholeMilliseconds)
    guard (try? await clock.sleep(for: dice.milliseconds(1_000...span / 4))) != nil else { return }
    let bus = suite.ground.connect("gateway", as: .holder(.gateway))
    defer { bus.close() }
    guard let handler = try? handler(bus) else { return }
    let user = suite.scale.users[0]
    guard let first = await admit(handler, user, 1, until: end, clock) else { return }
    await use(first.device, until: clock.now + dice.milliseconds(5_000...span / 3), clock)
    guard await revoke(first, handler, clock) else { return }
    try? await clock.sleep(for: dice.milliseconds(0...5_000))
    let next = dice.pick(suite.scale.users)
    guard let second = await admit(handler, next, 2, until: clock.now + .seconds(60), clock) else { return }
    successor = second.device
    await use(second.device, until: end, clock)
  }

  // MARK: The gateway

  private func handler(_ bus: InProcessBus) throws -> Enroller {
    Enroller(
      storage: StorageClient(bus: bus, host: host, writer: "@gateway"),
      authority: try suite.ground.gatehouse.authority, host: host)
  }

  private typealias Enrolled = (device: SimulatedDevice, key: PublicNKey)

  /// Enrols it as its owner would, and starts it.
  /// - Returns: nil: storage was not there for so long.
  private mutating func admit(
    _ handler: Enroller, _ user: String, _ number: UInt8, until end: Instant, _ clock: any Clock
  ) async -> Enrolled? {
    let (owner, device) = (UserID(unchecked: user), DeviceID(unchecked: Self.name))
    guard let seed = try? Ed25519PrivateKey(seed: Array(repeating: 100 + number, count: 32)) else { return nil }
    let key = NKey(.user, seed).publicKey
    var secret: String?
    while clock.now < end {
      do throws(CaravanError) {
        if secret == nil {
          secret = try await handler.mint(
            user: owner, device: device, environment: .development, lifetimeSeconds: 3_600
          )
          .token
        }
        let token = try await handler.enrol(token: secret ?? "", key: key.text)
        let enrolled = try EnrolledDevice(credentials: token.claims.name, user: user)
        let guest = SimulatedDevice(
          "\(Self.name)-\(number)", of: user, isAmongUsers: true, on: suite.ground, as: (enrolled, token))
        suite.guests.come(guest)
        suite.ground.recorder.note("\(enrolled) is enrolled")
        guest.part.start()
        return (guest, key)
      } catch { suite.ground.recorder.note("\(Self.name) is not enrolled yet: \(error)") }
      guard (try? await clock.sleep(for: .milliseconds(700))) != nil else { return nil }
    }
    return nil
  }

  /// Until it is done: at the registry, then at the broker, as the command line does it.
  private mutating func revoke(_ guest: Enrolled, _ handler: Enroller, _ clock: any Clock) async -> Bool {
    let device = guest.device.identity
    for _ in 0..<Self.patience {
      do throws(CaravanError) {
        _ = try await handler.revoke(device.device, of: device.user)
        break
      } catch { suite.ground.recorder.note("\(device) is not revoked yet: \(error)") }
      guard (try? await clock.sleep(for: .milliseconds(700))) != nil else { return false }
    }
    do { try suite.ground.gatehouse.revoke(guest.key) } catch { return false }
    suite.ground.recorder.note("\(device) is revoked")
    guard (try? await clock.sleep(for: Self.aftermath)) != nil else { return false }
    revoked = (guest.device, heard(guest.device))
    return true
  }

  private func heard(_ device: SimulatedDevice) -> Int { device.slot.session?.tap.carried.down ?? 0 }

  // MARK: The device

  /// It has the tables of its user, and asks for what is new now and then.
  private mutating func use(_ device: SimulatedDevice, until end: Instant, _ clock: any Clock) async {
    var app = App(device, in: suite, contents: contents, seed: seed)
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(200...4_000))) != nil else { return }
      guard let session = device.slot.session, await app.prepare(session) else { continue }
      await app.sync(dice.pick(app.places).place, session)
    }
  }

  mutating func conclude(_ clock: any Clock) async throws {
    if let successor { try await catchUp(successor, clock) }
    if let (device, heard) = revoked {
      // It goes on trying: everything has changed since.
      if let session = device.slot.session {
        let app = App(device, in: suite, contents: contents, seed: seed)
        for (_, place) in app.places { await app.sync(place, session) }
      }
      if self.heard(device) != heard {
        suite.ground.recorder.intruded("\(device.identity) is revoked, and \(self.heard(device) - heard) bytes came")
      }
    }
    suite.guests.leave()
  }

  /// The rows of its user are on the device that has the name now.
  private func catchUp(_ device: SimulatedDevice, _ clock: any Clock) async throws {
    suite.ground.hub.reconnect(device.name)
    guard let store = suite.vault.store else { throw SeedFailure(what: "storage is down, and all is quiet") }
    var app = App(device, in: suite, contents: contents, seed: seed)
    var behind: [String] = []
    for _ in 0..<Self.patience {
      guard let session = device.slot.session, await app.prepare(session) else {
        try await clock.sleep(for: .seconds(1))
        continue
      }
      behind = []
      for (_, place) in app.places {
        await app.sync(place, session)
        let entries = (try? await store.entries(of: place)) ?? []
        let cloud = Dictionary(entries.map { ($0.name, $0.version) }) { first, _ in first }
        if try await App.versions(of: place, in: session.store) != cloud { behind.append("\(device.name), \(place)") }
      }
      if behind.isEmpty { return }
      try await clock.sleep(for: .seconds(1))
    }
    suite.ground.recorder.stalled(behind.isEmpty ? ["\(device.name) is not up"] : behind)
  }
}

/// Devices that come to a cluster later, and belong to nobody's convergence.
final class Guests: Sendable {
  private let held = Mutex<[SimulatedDevice]>([])

  func come(_ device: SimulatedDevice) { held.withLock { $0.append(device) } }
  var all: [SimulatedDevice] { held.withLock(\.self) }

  /// All are switched off.
  func leave() { for device in all { device.crash(isLast: true) } }
}
