public import CaravanModel

/// Who asks for something, as it was proven: by the broker, whose subjects name the device that speaks. No message says
/// it.
public struct Principal: Sendable, Hashable {
  /// Whose private databases are theirs, and who is the creator of what they make in public ones. nil: whoever asks has
  /// not signed in.
  public let user: UserID?
  /// The only one that their credentials are good for.
  public let environment: Environment

  /// The device of a user, which the broker has let in.
  public init(_ device: EnrolledDevice) { (user, environment) = (device.user, device.environment) }

  /// Somebody who has not signed in.
  public init(anonymousIn environment: Environment) { (user, self.environment) = (nil, environment) }
}
