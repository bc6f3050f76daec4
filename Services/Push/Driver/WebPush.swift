import CaravanCrypto
import CaravanEncoding
import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanWire

/// Messages of Web Push: what browsers' push services and UnifiedPush take.
struct WebPush: Sendable {
  /// Who sends (VAPID, RFC 8292).
  let key: P256PrivateKey
  /// Whom a push service's operator can turn to: `mailto:` or `https:`; nil: nobody is named.
  let contact: String?

  /// - Parameters:
  ///   - now: Unix milliseconds.
  ///   - seconds: that the push service keeps it for while nobody is there.
  /// - Throws: `invalidData` for an endpoint whose key is none.
  func call(
    _ notification: PushedNotification, to endpoint: WebPushEndpoint, at address: TargetAddress, seconds: UInt32,
    now: Int64
  ) throws(CaravanError) -> HTTPCall {
    let text = notification.json(atMost: PushLimits.webPushBytes).encodedBytes()
    do throws(CryptoError) {
      let body = try Self.encrypted(text, for: endpoint, by: .generate(), salt: SecureRandom.bytes(16))
      return HTTPCall(
        "POST", address.url,
        headers: [
          "Content-Encoding: aes128gcm", "Content-Type: application/octet-stream", "TTL: \(seconds)",
          "Urgency: \(notification.isVisual ? "high" : "normal")",
          "Authorization: vapid t=\(try proof(for: address, now: now)), k=\(Base64.encodeURL(key.publicKey.bytes))",
        ], body: .bytes(body))
    } catch { throw CaravanError(.invalidData, "the target's keys cannot be used: \(error.message)") }
  }

  /// One record of the content coding `aes128gcm` (RFC 8188), with keys that the endpoint alone derives (RFC 8291).
  /// - Parameters:
  ///   - sender: for this message only.
  ///   - salt: 16 random bytes.
  static func encrypted(
    _ text: [UInt8], for endpoint: WebPushEndpoint, by sender: P256PrivateKey, salt: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let receiver = try P256PublicKey(endpoint.key)
    let secret = HKDFSHA256.derive(
      secret: try sender.sharedSecret(with: receiver), salt: endpoint.secret,
      info: Array("WebPush: info\u{0}".utf8) + receiver.bytes + sender.publicKey.bytes, count: 32)
    let key = HKDFSHA256.derive(
      secret: secret, salt: salt, info: Array("Content-Encoding: aes128gcm\u{0}".utf8), count: 16)
    let nonce = HKDFSHA256.derive(
      secret: secret, salt: salt, info: Array("Content-Encoding: nonce\u{0}".utf8), count: 12)
    // Salt, size of records, length of the sender's point, the point; 2 ends the last record.
    let head = salt + [0, 0, 0x10, 0] + [UInt8(P256PublicKey.byteCount)] + sender.publicKey.bytes
    return head + (try AES128GCM.seal(text + [2], key: key, nonce: nonce))
  }

  /// A token (RFC 7519) signed by ES256.
  private func proof(for address: TargetAddress, now: Int64) throws(CryptoError) -> String {
    var claims = JSON.Object()
    claims["aud"] = .string(address.origin)
    claims["exp"] = .int(now / 1_000 + PushLimits.proofSeconds)
    if let contact { claims["sub"] = .string(contact) }
    let parts = [JSON.object(["typ": "JWT", "alg": "ES256"]), JSON.object(claims)]
    let text = parts.map { Base64.encodeURL($0.encodedBytes()) }.joined(separator: ".")
    return "\(text).\(Base64.encodeURL(try key.sign(Array(text.utf8))))"
  }
}
