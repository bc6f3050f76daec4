internal import AgentCore
public import Bus
public import Crypto
public import Model
internal import Runtime
internal import Wire

/// A device's credentials: those that somebody put where the agent is told to look, or what the cloud has made of them
/// since, which the agent keeps beside its store.
public struct DeviceCredentials: Sendable {
  private let given: Credentials
  private let renewed: String

  /// - Parameters:
  ///   - given: what the agent was started with; it need not be allowed to write there.
  ///   - directory: the agent's own.
  public init(given: Credentials, directory: String) {
    self.given = given
    renewed = "\(directory)/renewed.creds"
  }

  /// The younger of the two.
  public var current: Credentials {
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
    let credentials = current
    let bus = try await make(credentials)
    if EnrolledDevice.isNumbered(credentials.jwt.claims.name) { return bus }
    do throws(CaravanError) { try await renew(credentials, over: bus) } catch {
      await bus.drain(deadline: EngineLimits.drainDeadline)
      throw error
    }
    await bus.drain(deadline: EngineLimits.drainDeadline)
    return try await make(current)
  }

  /// Asks for credentials with the number of the enrolment, and keeps them.
  private func renew(_ old: Credentials, over bus: any MessageBus) async throws(CaravanError) {
    let claims = old.jwt.claims
    let device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    let answer = try await bus.request(
      Message(RenewCredentials().encoded()),
      to: .unnumbered(user: device.user, device: device.device, rest: "renew"), deadline: EngineLimits.exchangeDeadline)
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
