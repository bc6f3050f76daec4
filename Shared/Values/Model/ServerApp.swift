/// A program on a server that the operator has let into some containers (MOB-56). It speaks as a device does, in each
/// container as another one: as the device `<container>` of the user `server--<name>`. So the broker proves with every
/// subject which container it may speak of, and what is kept for a device is kept for it in each container by itself.
public struct ServerApp: Sendable, Hashable, CustomStringConvertible {
  /// What the operator calls it.
  public let name: String

  private static let prefix = "server--"

  /// - Throws: `invalidData` when it cannot be called so.
  public init(_ name: String) throws(CaravanError) {
    guard name.utf8.first != UInt8(ascii: "-"), (try? UserID(Self.prefix + name)) != nil else {
      throw CaravanError(
        .invalidData, "a server app cannot be called '\(name.prefix(80))': use 1 to 55 of a-z, 0-9 and '-'")
    }
    self.name = name
  }

  /// nil: the user is a person.
  public init?(_ user: UserID) {
    guard user.text.hasPrefix(Self.prefix),
      let app = try? ServerApp(String(user.text.dropFirst(Self.prefix.count)))
    else { return nil }
    self = app
  }

  /// As whom it makes records: no person can be called so.
  public var user: UserID { UserID(unchecked: Self.prefix + name) }

  /// The same as `name`.
  public var description: String { name }
}

extension ServerApp {
  /// What it is in one container.
  /// - Parameter number: of its credentials for that container, counted as enrolments of devices are.
  public func device(
    in container: ContainerID, enrolment number: UInt32, _ environment: Environment
  ) -> EnrolledDevice {
    EnrolledDevice(
      user: user, device: DeviceID(unchecked: container.text), enrolment: number, environment: environment)
  }
}

extension EnrolledDevice {
  /// The only container of which a server app speaks under this name; nil: it is a person's device, which speaks of all
  /// that its user may use.
  public var onlyContainer: ContainerID? { ServerApp(user) == nil ? nil : ContainerID(unchecked: device.text) }
}
