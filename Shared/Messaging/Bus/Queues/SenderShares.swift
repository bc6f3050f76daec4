package import CaravanModel

extension Subject {
  /// Who shares what a queue takes with others: an enrolment of a device, as the broker has proven.
  package struct Origin: Sendable, Hashable {
    package let user: UserID
    package let device: DeviceID
    /// 0: of an agent from before enrolments were counted.
    package let enrolment: UInt32
    package let environment: CaravanModel.Environment
  }

  /// nil: it is the suite's own.
  package var origin: Origin? {
    if case .unnumbered(let user, let device, _) = self {
      return Origin(user: user, device: device, enrolment: 0, environment: .development)
    }
    return sender.map {
      Origin(user: $0.user, device: $0.device, enrolment: $0.enrolment, environment: $0.environment)
    }
  }
}

/// How much of something bounded each device has in use, and each user: neither can have all of it (TRU-02), and
/// nor can all of development (TRU-04). The suite's own requests have no share, and are bounded by the whole.
struct SenderShares {
  private let perDevice: Int
  private let perUser: Int
  private let forDevelopment: Int
  private var devices: [Subject.Origin: Int] = [:]
  private var users: [UserID: Int] = [:]
  private var development = 0

  /// - Parameter whole: what there is of it.
  init(of whole: Int) {
    perDevice = max(1, whole / BusLimits.devicesInWhole)
    perUser = max(1, whole / BusLimits.usersInWhole)
    forDevelopment = Limits.developmentShare(of: whole)
  }

  /// Takes `amount` for a sender. One who has nothing yet may take any amount: a single message always fits.
  /// - Returns: whether its share, and its user's, allow that; if not, nothing was taken.
  mutating func take(_ amount: Int, for origin: Subject.Origin?) -> Bool {
    guard let origin, amount > 0 else { return true }
    let (device, user) = (devices[origin] ?? 0, users[origin.user] ?? 0)
    guard device == 0 || device + amount <= perDevice, user == 0 || user + amount <= perUser else { return false }
    if origin.environment == .development {
      guard development == 0 || development <= forDevelopment - amount else { return false }
      development += amount
    }
    devices[origin] = device + amount
    users[origin.user] = user + amount
    return true
  }

  mutating func giveBack(_ amount: Int, of origin: Subject.Origin?) {
    guard let origin, amount > 0 else { return }
    Self.reduce(&devices[origin], by: amount)
    Self.reduce(&users[origin.user], by: amount)
    if origin.environment == .development { development -= amount }
  }

  private static func reduce(_ held: inout Int?, by amount: Int) {
    guard let before = held else { preconditionFailure("a share is given back that was not taken") }
    precondition(before >= amount, "more of a share is given back than was taken")
    held = before == amount ? nil : before - amount
  }
}
