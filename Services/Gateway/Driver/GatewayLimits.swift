/// Bounds of the gateway.
public enum GatewayLimits {
  /// Instances the suite's report holds.
  public static let instances = 256
  /// How long answers to `$SRV.STATS` are awaited.
  public static let discoveryWindow: Duration = .milliseconds(150)
  /// Devices in one list.
  public static let devicesPerPage = 400
  /// While services are missing, a report is taken anew after this.
  public static let incompleteReportAge: Duration = .milliseconds(100)
  /// A report younger than this is shown again rather than taken anew, however many look.
  public static let reportAge: Duration = .milliseconds(900)
  /// How often the files of the certificate are looked at.
  public static let certificatePeriod: Duration = .seconds(2)
  /// How far a device's clock may be from the gateway's where it asks for credentials that are over.
  static let renewalSeconds: Int64 = 300
  /// For so many seconds a token that is used or over is remembered: the same device may ask again with it.
  static let usedTokensKept: Int64 = 7 * 86_400
  /// Bytes of a request's body; enrolment needs a few hundred.
  public static let bodyBytes = 64 << 10
  public static let renewalsInFlight = 16
}
