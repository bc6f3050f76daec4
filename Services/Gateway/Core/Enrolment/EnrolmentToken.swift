public import CaravanModel

/// A one-time token, as it is kept: its text is known to whoever was handed it, the store has its hash only.
public struct EnrolmentToken: Sendable, Equatable {
  public var user: UserID
  public var device: DeviceID
  /// The device's.
  public var environment: Environment
  /// Unix time in milliseconds.
  public var expires: Int64
  /// The nkey that has claimed the token; empty: nobody yet.
  public var claimedBy: String

  public init(user: UserID, device: DeviceID, environment: Environment, expires: Int64, claimedBy: String = "") {
    self.environment = environment
    self.user = user
    self.device = device
    self.expires = expires
    self.claimedBy = claimedBy
  }

  /// How long a token may be made to live, in seconds.
  public static let lifetimeSeconds: ClosedRange<Int64> = 1...86_400
  public static let defaultLifetimeSeconds: Int64 = 900

  public enum Claim: Sendable, Equatable {
    /// Write this down under the token's version, then answer.
    case take(EnrolmentToken)
    /// The same device asks again after a lost answer: answer as before (REC-25).
    case repeatAnswer
  }

  /// Whether `key` may enrol with this token now.
  /// - Throws: `notAuthenticated`, in the same words for every reason but expiry.
  public func claim(by key: String, at now: Int64) throws(CaravanError) -> Claim {
    assert(!key.isEmpty, "nobody claims a token: it would seem that nobody had")
    if claimedBy == key { return .repeatAnswer }
    guard claimedBy.isEmpty else { throw Self.unknown }
    guard now <= expires else {
      throw CaravanError(.notAuthenticated, "the enrolment token has expired: ask for another")
    }
    var taken = self
    taken.claimedBy = key
    assert((try? taken.claim(by: key, at: now)) == .repeatAnswer, "who asks again after a lost answer is turned away")
    return .take(taken)
  }

  public static let unknown = CaravanError(
    .notAuthenticated, "the enrolment token is not known, or has been used: ask for another")
}

extension EnrolmentToken {
  private enum FieldID {
    static let user: UInt32 = 1
    static let device: UInt32 = 2
    static let expires: UInt32 = 3
    static let claimedBy: UInt32 = 4
    /// Absent in those from before there were devices in production.
    static let environment: UInt32 = 5
  }

  public var fields: RecordFields {
    RecordFields([
      FieldID.user: .text(user.text), FieldID.device: .text(device.text), FieldID.expires: .integer(expires),
      FieldID.claimedBy: .text(claimedBy), FieldID.environment: .text(environment.rawValue),
    ])
  }

  public init(_ fields: RecordFields) throws(CaravanError) {
    guard case .text(let user) = fields[FieldID.user], case .text(let device) = fields[FieldID.device],
      case .integer(let expires) = fields[FieldID.expires], case .text(let key) = fields[FieldID.claimedBy]
    else { throw CaravanError(.internalError, "the record of an enrolment token lacks a field") }
    self.init(
      user: try UserID(user), device: try DeviceID(device),
      environment: try Environment(enrolment: fields[FieldID.environment]), expires: expires, claimedBy: key)
  }
}

extension Environment {
  /// What a record says of the environment that a device is enrolled for. Those from before there was a choice say
  /// nothing: their devices are development's, as all were.
  init(enrolment field: Value) throws(CaravanError) {
    guard field != .null else {
      self = .development
      return
    }
    guard case .text(let text) = field, let environment = Environment(rawValue: text) else {
      throw CaravanError(.internalError, "a record of a device names an environment that this release does not know")
    }
    self = environment
  }
}
