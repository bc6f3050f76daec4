internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanGatewayCore
internal import CaravanModel

/// Asks over HTTPS for credentials in the place of those that the bus does not let in any more. The key that is
/// enrolled signs it.
struct RenewalRequest: Sendable {
  let device: EnrolledDevice
  let key: PublicNKey
  private let time: Int64
  private let signature: [UInt8]

  /// - Parameters:
  ///   - device: the name in its credentials.
  ///   - key: its public nkey.
  ///   - time: Unix seconds, by the device's clock.
  ///   - signature: of `EnrolledDevice.renewalStatement`, in base64.
  /// - Throws: `invalidData`.
  init(device: String, user: String, key: String, time: Int64, signature: String) throws(CaravanError) {
    self.device = try EnrolledDevice(credentials: device, user: user)
    self.time = time
    guard let key = try? PublicNKey(key, kind: .user) else {
      throw CaravanError(.invalidData, "public_key is not a user nkey: it begins with U and has 56 characters")
    }
    self.key = key
    do { self.signature = try Base64.decode(signature) } catch {
      throw CaravanError(.invalidData, "the signature is not in base64")
    }
  }

  /// - Parameter now: Unix seconds.
  /// - Throws: `notAuthenticated`.
  func check(at now: Int64) throws(CaravanError) {
    guard key.verify(signature, over: device.renewalStatement(at: time)) else {
      throw CaravanError(.notAuthenticated, "the request is not signed by the key that it names")
    }
    let (ahead, overflow) = time.subtractingReportingOverflow(now)
    guard !overflow, ahead.magnitude <= UInt64(GatewayLimits.renewalSeconds) else {
      throw CaravanError(
        .notAuthenticated,
        "the request was signed at another time than it is here (\(now) Unix seconds): set the device's clock right")
    }
  }
}
