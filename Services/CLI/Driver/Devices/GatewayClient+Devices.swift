internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanModel

// The registry of devices, in which server apps are as well.
extension GatewayClient {
  /// - Throws: `internalError` where an answer lacks it.
  static func text(_ json: JSON, _ name: String) throws(CaravanError) -> String {
    guard let text = json[name]?.stringValue else {
      throw CaravanError(.internalError, "the gateway's answer lacks \"\(name)\": do it and this program fit together?")
    }
    return text
  }

  /// What the gateway signs for a key that is enrolled under this name.
  func enrol(
    _ user: UserID, _ device: DeviceID, _ environment: Environment, _ key: NKey
  ) async throws(CaravanError) -> (jwt: JWT, device: EnrolledDevice) {
    let minted = try await call(
      "POST", "/v1/enrolment-tokens",
      [
        "user": .string(user.text), "device": .string(device.text), "environment": .string(environment.rawValue),
        "server_app": .bool(ServerApp(user) != nil),
      ])
    let enrolled = try await call(
      "POST", "/v1/enrol",
      ["token": .string(Self.text(minted, "token")), "public_key": .string(key.publicKey.text)])
    let token = try Self.text(enrolled, "jwt")
    let jwt = try crypto { () throws(CryptoError) in try JWT(verifying: token) }
    let known = try EnrolledDevice(credentials: jwt.claims.name, user: jwt.claims.userTag)
    // A gateway that knows nothing of environments enrols for development, whatever it is asked.
    guard known.environment == environment else {
      throw CaravanError(
        .featureDisabled,
        "the gateway did not enrol '\(device)' for \(environment.rawValue): update it, then revoke "
          + "the device and add it again")
    }
    return (jwt, known)
  }

  /// Every name that was ever enrolled, page by page; one that was changed meanwhile once, as it was last.
  func devices() async throws(CaravanError) -> [JSON] {
    var devices: [String: JSON] = [:]
    var path = "/v1/devices"
    while true {
      let page = try await call("GET", path)
      for device in page["devices"]?.arrayValue ?? [] {
        devices["\(try Self.text(device, "user"))/\(try Self.text(device, "device"))"] = device
      }
      guard let next = page["next"]?.stringValue else { break }
      path = "/v1/devices?from=\(next)"
    }
    return devices.sorted { $0.key < $1.key }.map(\.value)
  }
}
