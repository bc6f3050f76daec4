public import CaravanCrypto
import CaravanEncoding
public import CaravanModel

/// The ids that users and devices had in one container (CK-02) before a registry kept them: a MAC of who they are and
/// where, stable as long as the key. Those of before are written down in the registry, so that they stay. All of them
/// are of development, as nothing else was.
public struct UserAlias: Sendable {
  private let key: TicketKey

  public init(key: TicketKey) { self.key = key }

  public func user(_ user: UserID, in container: ContainerID) -> String {
    text("container user", [container.text, user.text])
  }

  public func device(_ device: EnrolledDevice, in container: ContainerID) -> String {
    text("container device", [container.text, device.text])
  }

  private func text(_ purpose: String, _ parts: [String]) -> String {
    var message = SealedMessage(purpose)
    for part in parts { message.add(part) }
    return Base32.encode(message.mac(key)).lowercased()
  }
}
