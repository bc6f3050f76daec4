public import Model

extension EnrolledDevice {
  /// The first enrolment of a device, as most tests mean it.
  public init(_ user: UserID, _ device: DeviceID) { self.init(user: user, device: device, enrolment: 1) }

  /// The same of ids that are known to be right.
  public init(_ user: String, _ device: String) {
    self.init(UserID(unchecked: user), DeviceID(unchecked: device))
  }
}
