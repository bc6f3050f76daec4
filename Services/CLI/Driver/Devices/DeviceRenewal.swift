internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// `caravan device renew`: a device that was away for longer than its credentials were good proves its key to the
/// gateway and gets others. Agents that are connected do that by themselves.
enum DeviceRenewal {
  static func run(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let file = options.operands[0]
    let old = try Credentials.reading(file)
    let claims = old.jwt.claims
    let device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    let time = terminal.host.clock.wallTime.milliseconds / 1_000
    let signature = try crypto { () throws(CryptoError) in try old.key.sign(device.renewalStatement(at: time)) }
    let answer = try await gateway(options, terminal.host).call(
      "POST", "/v1/renewals",
      [
        "user": .string(device.user.text), "device": .string(claims.name),
        "public_key": .string(old.key.publicKey.text), "time": .int(time),
        "signature": .string(Base64.encode(signature)),
      ])
    guard let text = answer["jwt"]?.stringValue else {
      throw CaravanError(.internalError, "the gateway's answer lacks \"jwt\": do it and this program fit together?")
    }
    let new = try crypto { () throws(CryptoError) in try Credentials(jwt: JWT(verifying: text), key: old.key) }
    guard try EnrolledDevice(credentials: new.jwt.claims.name, user: new.jwt.claims.userTag) == device else {
      throw CaravanError(
        .invalidData, "the gateway answered with the credentials of another device: '\(file)' is as it was")
    }
    try TextFile.writeSecret(new.rendered, to: file)
    terminal.say("the credentials of '\(device)' are renewed: \(file)")
  }

  /// No administrator's token is needed: the device's key proves who asks.
  private static func gateway(_ options: Options, _ host: Host) throws(CaravanError) -> GatewayClient {
    if let url = options[Deployment.gateway] {
      return try GatewayClient(
        url: url, adminToken: nil, authority: options[Deployment.gatewayAuthority],
        allowsClear: options[Flag<Bool>.insecure], host: host)
    }
    let run = try SuiteDirectory(options[Flag<String?>.suiteDirectory]).running()
    return try GatewayClient(
      url: run.http, adminToken: nil, authority: run.httpAuthority, allowsClear: true, host: host)
  }
}
