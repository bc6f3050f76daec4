/// Which addresses of the internet a tenant may have the suite connect to: those that everybody reaches. All others
/// (private, loopback, link-local, shared, for documentation and tests, multicast, reserved, and those that carry an
/// IPv4 address) may lead into the operator's own network.
package enum PublicAddresses {
  private struct Block {
    let bytes: [UInt8]
    let bits: Int

    init(_ bytes: [UInt8], _ bits: Int) { (self.bytes, self.bits) = (bytes, bits) }

    func contains(_ address: [UInt8]) -> Bool {
      (0..<bits).allSatisfy { bit in
        let mask = UInt8(0x80) >> UInt8(bit % 8)
        let own = bit / 8 < bytes.count ? bytes[bit / 8] : 0
        return own & mask == address[bit / 8] & mask
      }
    }
  }

  /// IANA's registry of special-purpose addresses (RFC 6890), and multicast and what is above it.
  private static let special4: [Block] = [
    Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8), Block([169, 254], 16), Block([172, 16], 12),
    Block([192, 0, 0], 24), Block([192, 0, 2], 24), Block([192, 88, 99], 24), Block([192, 168], 16),
    Block([198, 18], 15), Block([198, 51, 100], 24), Block([203, 0, 113], 24), Block([224], 3),
  ]
  /// Global unicast is 2000::/3: all else is not, NAT64 and mapped addresses among it.
  private static let unicast6 = Block([0x20], 3)
  /// Of it, what IETF protocols use (Teredo among them), documentation, and 6to4.
  private static let special6: [Block] = [
    Block([0x20, 0x01, 0, 0], 23), Block([0x20, 0x01, 0x0d, 0xb8], 32), Block([0x20, 0x02], 16),
    Block([0x3f, 0xff, 0], 20),
  ]

  /// - Parameter address: 4 bytes of IPv4 or 16 of IPv6.
  package static func contains(_ address: [UInt8]) -> Bool {
    switch address.count {
    case 4: !special4.contains { $0.contains(address) }
    case 16: unicast6.contains(address) && !special6.contains { $0.contains(address) }
    default: false
    }
  }
}
