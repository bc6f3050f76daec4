import CaravanCrypto
import Foundation
import Testing

@Suite("Certificates")
struct CertificateTests {
  static let openssl = "/usr/bin/openssl"
  static let validity = CertificateValidity(notBefore: 1_700_000_000, notAfter: 1_800_000_000)
  let now = "1750000000"
  let folder: TemporaryFolder
  let authority: CertificateAuthority

  init() throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority.create(commonName: "Caravan test authority", validity: Self.validity)
  }

  func verify(_ pair: CertificatePair, _ options: [String]) throws -> (status: Int32, output: String) {
    let trusted = try folder.write("ca.pem", authority.certificate)
    let leaf = try folder.write("leaf.pem", pair.certificate)
    return try run(Self.openssl, ["verify", "-x509_strict", "-CAfile", trusted] + options + [leaf])
  }

  @Test(
    "A server certificate is valid for its names, in its time, as a server; for nothing else",
    .enabled(if: FileManager.default.fileExists(atPath: openssl)))
  func server() throws {
    let pair = try authority.issue(
      .server, commonName: "nats",
      names: [.dns("nats.example.org"), .dns("*.caravan.test"), .ip("127.0.0.1"), .ip("::1")],
      validity: Self.validity)
    let accepted = [
      ["-verify_hostname", "nats.example.org"], ["-verify_hostname", "a.caravan.test"], ["-verify_ip", "127.0.0.1"],
      ["-verify_ip", "::1"],
    ]
    for name in accepted {
      let (status, output) = try verify(pair, ["-attime", now, "-purpose", "sslserver"] + name)
      #expect(status == 0, "\(name): \(output)")
    }
    let refused = [
      ["-attime", now, "-verify_hostname", "example.org"], ["-attime", now, "-verify_ip", "127.0.0.2"],
      ["-attime", now, "-purpose", "sslclient"], ["-attime", "1800000001"], ["-attime", "1699999999"],
    ]
    for options in refused {
      #expect(try verify(pair, options).status != 0, "\(options)")
    }
    let key = try folder.write("key.pem", pair.privateKey)
    let leaf = try folder.write("leaf.pem", pair.certificate)
    let keyText = try run(Self.openssl, ["pkey", "-in", key, "-pubout"])
    #expect(keyText.status == 0)
    #expect(keyText.output == (try run(Self.openssl, ["x509", "-in", leaf, "-noout", "-pubkey"]).output))
  }

  @Test("A client certificate is a client's only", .enabled(if: FileManager.default.fileExists(atPath: openssl)))
  func client() throws {
    let pair = try authority.issue(.client, commonName: "dev42", names: [], validity: Self.validity)
    #expect(try verify(pair, ["-attime", now, "-purpose", "sslclient"]).status == 0)
    #expect(try verify(pair, ["-attime", now, "-purpose", "sslserver"]).status != 0)
  }

  @Test(
    "Another authority of the same name is not trusted", .enabled(if: FileManager.default.fileExists(atPath: openssl)))
  func impostor() throws {
    let impostor = try CertificateAuthority.create(commonName: "Caravan test authority", validity: Self.validity)
    let pair = try impostor.issue(.client, commonName: "dev42", names: [], validity: Self.validity)
    #expect(try verify(pair, ["-attime", now]).status != 0)
  }

  @Test(
    "Names that are none, or that would smuggle in another, are refused",
    arguments: [
      CertificateName.dns(""), .dns("a,DNS:evil.org"), .dns("a b"), .dns("a\n"),
      .dns(String(repeating: "a", count: 254)),
      .ip(""), .ip("localhost"), .ip("127.0.0.1,DNS:evil.org"), .ip("1.2.3"), .ip("256.1.1.1"),
    ])
  func names(name: CertificateName) {
    let error = #expect(throws: CryptoError.self) {
      try authority.issue(.server, commonName: "nats", names: [name], validity: Self.validity)
    }
    #expect(error?.code == .invalidCertificate)
  }

  @Test("Refused: a server without names, an empty or overlong common name, a backward validity, broken or alien PEM")
  func malformed() throws {
    let names = [CertificateName.dns("localhost")]
    func issue(
      _ authority: CertificateAuthority, _ commonName: String = "nats", names: [CertificateName] = names,
      validity: CertificateValidity = Self.validity
    ) {
      let error = #expect(throws: CryptoError.self) {
        try authority.issue(.server, commonName: commonName, names: names, validity: validity)
      }
      #expect(error?.code == .invalidCertificate)
    }
    issue(authority, names: [])
    issue(authority, "")
    issue(authority, String(repeating: "x", count: 65))
    issue(authority, validity: CertificateValidity(notBefore: 2, notAfter: 1))
    issue(CertificateAuthority(CertificatePair(certificate: "", privateKey: authority.pair.privateKey)))
    issue(CertificateAuthority(CertificatePair(certificate: authority.certificate, privateKey: "junk")))
    let other = try CertificateAuthority.create(commonName: "other", validity: Self.validity)
    issue(CertificateAuthority(CertificatePair(certificate: authority.certificate, privateKey: other.pair.privateKey)))
  }
}
