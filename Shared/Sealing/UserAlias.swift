public import Crypto
import Encoding
public import Model

/// The ids that users and devices have in one container (CK-02): a MAC of who they are and where, so the same user has
/// others in other containers and in the other environment, and nobody without the key can tell that they are one.
/// Stable as long as the key.
public struct UserAlias: Sendable {
  private let key: TicketKey

  public init(key: TicketKey) { self.key = key }

  public func user(_ user: UserID, in container: ContainerID, _ environment: Environment) -> String {
    // Development's are as they were when there was nothing else.
    let place = environment == .development ? [container.text] : [container.text, environment.rawValue]
    return text("container user", place + [user.text])
  }

  /// Who wrote a record that others can see: `<user's alias>/<device's alias>`.
  public func writer(_ device: EnrolledDevice, in container: ContainerID) -> String {
    let user = user(device.user, in: container, device.environment)
    return "\(user)/\(text("container device", [container.text, device.text]))"
  }

  private func text(_ purpose: String, _ parts: [String]) -> String {
    var message = SealedMessage(purpose)
    for part in parts { message.add(part) }
    return Base32.encode(message.mac(key)).lowercased()
  }
}
