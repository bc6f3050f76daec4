public import CaravanModel

extension EnrolledDevice {
  /// The first enrolment of a device, for development, as most tests mean it.
  public init(_ user: UserID, _ device: DeviceID) { self.init(user, device, in: .development) }

  public init(_ user: UserID, _ device: DeviceID, in environment: Environment) {
    self.init(user: user, device: device, enrolment: 1, environment: environment)
  }

  /// The same of ids that are known to be right.
  public init(_ user: String, _ device: String) { self.init(user, device, in: .development) }

  public init(_ user: String, _ device: String, in environment: Environment) {
    self.init(UserID(unchecked: user), DeviceID(unchecked: device), in: environment)
  }
}
