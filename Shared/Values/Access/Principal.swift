public import CaravanModel

/// Who asks for something, as it was proven: by the broker, whose subjects name the device that speaks. No message says
/// it.
public struct Principal: Sendable, Hashable {
  /// Whose private databases are theirs, and who is the creator of what they make in public ones. nil: whoever asks has
  /// not signed in.
  public let user: UserID?
  /// The only one that their credentials are good for.
  public let environment: Environment

  /// The only one of which they may speak, as a server app does; nil: any that their user may use.
  public let container: ContainerID?

  /// A program on a server, in one of its containers, and no person's device.
  public var isServerApp: Bool { container != nil }

  /// The device of a user, or a server app, which the broker has let in.
  public init(_ device: EnrolledDevice) {
    (user, environment, container) = (device.user, device.environment, device.onlyContainer)
  }

  /// Somebody who has not signed in.
  public init(anonymousIn environment: Environment) { (user, self.environment, container) = (nil, environment, nil) }
}
