/// Whether the broker lets this device in (REC-08, REC-27, UNI-19). Credentials that it refuses are a state of the
/// device, not of its tables: one wrong setting at a broker must not leave a fleet with thousands of tables to reset.
///
/// The mark lasts across restarts, until somebody resets the device or gives it other credentials. Softer than REC-08
/// on purpose, it ends as well when the broker takes the same credentials again, which is tried now and then: whoever
/// mends a setting at the broker need not visit the devices.
public struct Admission: Sendable, Hashable {
  /// The broker has refused these credentials again and again.
  public struct Refusal: Sendable, Hashable {
    /// Digest of the token that is refused.
    public let credentials: String
    /// Unix milliseconds.
    public let since: Int64

    public init(credentials: String, since: Int64) {
      self.credentials = credentials
      self.since = since
    }

    public static let reason = "the broker refuses the credentials of this device"
    /// What helps, for whoever looks after the device.
    public static let remedy =
      "see caravan doctor; enrol the device again, give the agent its new credentials, and restart it. Should the "
      + "broker be mended instead, the agent finds out within some hours, or at once with caravan app reset-device"
  }

  private var credentials: String
  /// The mark; nil: nothing is known to be wrong.
  public private(set) var refusal: Refusal?
  /// Before there was a mark.
  private var refusalsInARow = 0

  /// - Parameters:
  ///   - credentials: digest of the token the device has now.
  ///   - known: from before; one of other credentials says nothing any more.
  public init(credentials: String, known: Refusal? = nil) {
    self.credentials = credentials
    refusal = known?.credentials == credentials ? known : nil
  }

  /// The broker is there, and has refused the credentials. A few times in a row that may be a broker that has just
  /// started, and does not know its accounts yet.
  /// - Parameters:
  ///   - shown: digest of the token that the device has shown, which is another one once it has been renewed.
  ///   - now: wall clock, milliseconds.
  /// - Returns: whether the device is marked from now on, and was not before.
  public mutating func refused(_ shown: String, at now: Int64) -> Bool {
    if shown != credentials { self = Admission(credentials: shown) }
    guard refusal == nil else { return false }
    refusalsInARow += 1
    assert(refusalsInARow <= EngineLimits.refusalsBeforeMark, "a device is refused too often without a mark")
    guard refusalsInARow >= EngineLimits.refusalsBeforeMark else { return false }
    refusal = Refusal(credentials: credentials, since: now)
    return true
  }

  /// The broker has let the device in, or somebody resets it.
  /// - Returns: whether it was marked.
  public mutating func clear() -> Bool {
    defer { (refusal, refusalsInARow) = (nil, 0) }
    assert(refusal?.credentials ?? credentials == credentials, "the mark is of other credentials")
    return refusal != nil
  }

  /// How long a marked device leaves the broker alone, in nanoseconds; nil: it is not, and waits as after any failure.
  /// - Parameter random: any number, so that a fleet does not ask at once.
  public func rest(random: UInt64) -> UInt64? {
    guard refusal != nil else { return nil }
    let whole = EngineLimits.refusedRetryMilliseconds * 1_000_000
    return whole + random % (whole / 4)
  }
}
