internal import CaravanAgentCore
public import CaravanBus
public import CaravanCrypto
public import CaravanModel
public import CaravanRuntime
internal import CaravanWire

/// A device's credentials: those that somebody put where the agent is told to look, or what the cloud has made of them
/// since, which the agent keeps beside its store. They are good for days and renewed when half of that is over.
public final class DeviceCredentials: Service {
  private let given: @Sendable () -> Credentials
  private let renewed: String
  private let host: Host
  /// The connection to ask over; nil: there is none yet.
  private let bus = Mutex<(any MessageBus)?>(nil)
  private let connected = Signal()
  private let stop = Latch()

  /// - Parameters:
  ///   - given: what the agent was started with, as it is now: somebody may renew it by hand.
  ///   - directory: the agent's own.
  public init(directory: String, host: Host, given: @escaping @Sendable () -> Credentials) {
    self.given = given
    self.host = host
    renewed = "\(directory)/renewed.creds"
  }

  /// The younger of the two.
  public var current: Credentials {
    let given = given()
    guard let later = try? Credentials(parsing: TextFile.read(renewed)), later.key == given.key,
      later.jwt.claims.issuedAt >= given.jwt.claims.issuedAt
    else { return given }
    return later
  }

  /// A bus for the device; credentials that say no enrolment are renewed first.
  /// - Parameter make: connects with credentials.
  /// - Throws: what `make` throws, and `notAuthenticated` when the device is not enrolled any more.
  public func connect(
    _ make: (Credentials) async throws(CaravanError) -> any MessageBus
  ) async throws(CaravanError) -> any MessageBus {
    var credentials = current
    var bus: any MessageBus
    do throws(CaravanError) { bus = try await make(credentials) } catch {
      guard error.code == .notAuthenticated, let over = Renewal.over(credentials.jwt.claims, at: now) else {
        throw error
      }
      throw CaravanError(.notAuthenticated, over)
    }
    if !EnrolledDevice.isNumbered(credentials.jwt.claims.name) {
      do throws(CaravanError) { try await renew(credentials, over: bus) } catch {
        await bus.drain(deadline: EngineLimits.drainDeadline)
        throw error
      }
      await bus.drain(deadline: EngineLimits.drainDeadline)
      credentials = current
      bus = try await make(credentials)
    }
    self.bus.withLock { $0 = bus }
    connected.raise()
    return bus
  }

  // MARK: Renewing

  /// Renews in time, for as long as the agent runs: the broker ends a connection whose credentials are over.
  public func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.renewInTime() }
      group.addTask { await self.stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  public func shutDown() { stop.open() }

  private func renewInTime() async {
    while !Task.isCancelled {
      let credentials = current
      let wait = Renewal.wait(credentials.jwt.claims, at: now)
      if wait > .zero {
        // The wall clock may be set while this waits.
        try? await host.clock.sleep(for: min(wait, Renewal.longestWait))
        continue
      }
      guard let bus = bus.withLock(\.self) else {
        await connected.wait()
        continue
      }
      do throws(CaravanError) {
        try await renew(credentials, over: bus)
        host.log.info("the device's credentials are renewed", [.device: current.jwt.claims.name])
        // Whatever the wall clock says: half of the new time is not over sooner.
        try? await host.clock.sleep(for: min(Renewal.half(current.jwt.claims), Renewal.longestWait))
      } catch {
        host.log.warning("the device's credentials cannot be renewed yet", [.error: error.message])
        try? await host.clock.sleep(for: min(Renewal.half(credentials.jwt.claims), Renewal.retry))
      }
    }
  }

  /// Unix seconds.
  private var now: Int64 { host.clock.wallTime.milliseconds / 1_000 }

  /// Asks for credentials for a longer time, with the number of the enrolment, and keeps them. The connection shows
  /// them to the broker when it is made anew.
  private func renew(_ old: Credentials, over bus: any MessageBus) async throws(CaravanError) {
    let claims = old.jwt.claims
    let device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    let subject: Subject =
      EnrolledDevice.isNumbered(claims.name)
      ? .renew(device) : .unnumbered(user: device.user, device: device.device, rest: "renew")
    let answer = try await bus.request(
      Message(RenewCredentials().encoded()), to: subject, deadline: EngineLimits.exchangeDeadline)
    let text = try RenewedCredentials.decode(answer.payload).jwt
    guard let token = try? JWT(verifying: text), let new = try? Credentials(jwt: token, key: old.key) else {
      throw CaravanError(.invalidData, "the cloud renewed other credentials than those of '\(device)'")
    }
    guard try EnrolledDevice(credentials: new.jwt.claims.name, user: new.jwt.claims.userTag) == device,
      EnrolledDevice.isNumbered(new.jwt.claims.name)
    else { throw CaravanError(.invalidData, "the cloud renewed the credentials of another device than '\(device)'") }
    try TextFile.writeSecret(new.rendered, to: renewed)
  }
}
