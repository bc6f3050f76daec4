/// Which release of Caravan this is.
public enum Release {
  /// Semantic; the same for every program of a release.
  public static let version = "0.2.0"
  /// The oldest agents that the cloud speaks with: what they send names the device's enrolment.
  public static let oldestAgent = "0.2.0"
}
