import CaravanModel
import CaravanPushCore
import Testing

/// Goal: an address of a push target means one thing to everybody. Method: tables of what is one and what is none.
@Suite struct TargetAddressTests {
  @Test(
    "CK-85: what an address says, its usual port left out of the origin",
    arguments: [
      ("https://push.example.org/a/b?c=d", "push.example.org", 443, "https://push.example.org"),
      ("https://PUSH.example.org:443", "push.example.org", 443, "https://push.example.org"),
      ("https://push.example.org:8443?x", "push.example.org", 8443, "https://push.example.org:8443"),
      ("http://10.0.0.7:80/", "10.0.0.7", 80, "http://10.0.0.7"),
      ("https://[2001:DB8::1]/p", "2001:db8::1", 443, "https://[2001:db8::1]"),
      ("https://[::ffff:10.0.0.7]:99/p", "::ffff:10.0.0.7", 99, "https://[::ffff:10.0.0.7]:99"),
    ] as [(String, String, UInt16, String)])
  func addresses(url: String, host: String, port: UInt16, origin: String) throws {
    let address = try TargetAddress(url)
    #expect(address.host == host && address.port == port && address.origin == origin && address.url == url)
    #expect(address.isEncrypted == url.hasPrefix("https"))
  }

  @Test(
    "CK-85: what readers of addresses may take for different things is none",
    arguments: [
      "", "push.example.org", "ftp://push.example.org", "HTTPS://push.example.org", "https://", "https:///path",
      "https://user@push.example.org", "https://user:secret@push.example.org/", "https://push.example.org:",
      "https://push.example.org:0", "https://push.example.org:65536", "https://push.example.org:4 43",
      "https://push.example.org:443:80/", "https://push.example.org\\@10.0.0.7/", "https://push.example.org#@10.0.0.7/",
      "https://push..example.org", "https://.example.org", "https://push.example.org/a b",
      "https://push.example.org/\u{7f}",
      "https://push.example.org/\r\nX: y", "https://pùsh.example.org", "https://%31%30.0.0.7/", "https://push_x.org",
      "https://[::1", "https://[::1]x", "https://[]/", "https://::1/", "https://[fe80::1%25eth0]/",
    ])
  func none(url: String) {
    let error = #expect(throws: CaravanError.self) { try TargetAddress(url) }
    #expect(error?.code == .invalidData)
  }

  @Test("CK-85: an address has no more bytes than a limit says")
  func length() throws {
    let most = "https://a.org/" + String(repeating: "x", count: PushLimits.urlBytes - 14)
    #expect(throws: Never.self) { try TargetAddress(most) }
    let error = #expect(throws: CaravanError.self) { try TargetAddress(most + "x") }
    #expect(error?.code == .limitExceeded)
  }

  private static func bytes(_ text: String) -> [UInt8] {
    if !text.contains(":") { return text.split(separator: ".").compactMap { UInt8($0) } }
    let halves = text.split(separator: "::", omittingEmptySubsequences: false).map { half in
      half.split(separator: ":").flatMap { group -> [UInt8] in
        let number = UInt16(group, radix: 16) ?? 0
        return [UInt8(number >> 8), UInt8(number & 0xff)]
      }
    }
    let tail = halves.count > 1 ? halves[1] : []
    return halves[0] + [UInt8](repeating: 0, count: 16 - halves[0].count - tail.count) + tail
  }

  @Test(
    "CK-85: addresses that everybody reaches",
    arguments: [
      "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
      "128.0.0.1", "169.253.0.1", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "198.17.0.1",
      "198.20.0.0", "203.0.114.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2003::1", "3ffe::1",
    ])
  func reachable(text: String) { #expect(PublicAddresses.contains(Self.bytes(text))) }

  @Test(
    "CK-85: addresses that may lead into the operator's own network",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9",
      "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1",
      "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.1.1.1", "240.0.0.1",
      "255.255.255.255", "::", "::1", "::ffff:a00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "fc00::1", "fd12::1",
      "fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:a00:1::1", "3fff::1",
    ])
  func unreachable(text: String) { #expect(!PublicAddresses.contains(Self.bytes(text))) }
}
