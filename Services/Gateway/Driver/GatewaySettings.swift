public import CaravanGatewayCore
public import CaravanHTTPServer
internal import CaravanModel

/// How the gateway is set up, beside what it is made of.
public struct GatewaySettings: Sendable {
  /// Numeric.
  public var address: String
  public var port: UInt16
  public var limits: HTTPLimits
  /// nil: HTTP without TLS, on the loopback only.
  public var certificate: CertificateFiles?
  /// Whether HTTP may go in clear to other machines.
  public var allowsClear = false
  /// What whoever mints enrolment tokens must present.
  public var adminToken: String
  /// What opens metrics and status from other machines, beside the administrator's; nil: nothing does.
  public var metricsToken: String?
  public var enrolment: EnrolmentRate

  public init(address: String, port: UInt16, adminToken: String) {
    self.address = address
    self.port = port
    self.adminToken = adminToken
    limits = HTTPLimits()
    limits.bodyBytes = GatewayLimits.bodyBytes
    enrolment = .standard
  }
}
