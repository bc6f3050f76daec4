import CCaravanMicroHTTPD
public import CaravanRuntime
import Glibc

/// An IP address as bytes, so that each address has one spelling.
public struct NetworkAddress: Hashable, Sendable {
  /// 4 bytes of IPv4 or 16 of IPv6. IPv4 that came over an IPv6 socket (`::ffff:a.b.c.d`) is IPv4.
  let bytes: [UInt8]

  /// - Parameter text: a numeric address, without brackets or a port.
  public init?(_ text: String) {
    var four = in_addr()
    var sixteen = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(bytes: withUnsafeBytes(of: &four) { Array($0) })
    } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
      self.init(sixteen: withUnsafeBytes(of: &sixteen) { Array($0) })
    } else {
      return nil
    }
  }

  init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self.init(
        bytes: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
        })
    case AF_INET6:
      self.init(
        sixteen: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
        })
    default: return nil
    }
  }

  private init(sixteen: [UInt8]) {
    let isMapped = sixteen.prefix(10).allSatisfy { $0 == 0 } && sixteen[10] == 0xff && sixteen[11] == 0xff
    bytes = isMapped ? Array(sixteen.suffix(4)) : sixteen
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  public var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }

  /// What limits count. An IPv6 host has all addresses of a /64, so that is one block; of IPv4 each address is one.
  public var block: NetworkAddress {
    bytes.count == 4 ? self : NetworkAddress(bytes: Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8))
  }
}

extension NetworkAddress: CustomStringConvertible {
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// `10.0.0.7`, or `10.0.0.0/8`: addresses whose first bits are the same.
public struct NetworkRange: Hashable, Sendable, CustomStringConvertible {
  public let address: NetworkAddress
  public let bits: Int

  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let address = NetworkAddress(parts[0]) else { return nil }
    let most = address.bytes.count * 8
    guard let bits = parts.count == 1 ? most : Int(parts[1]), (0...most).contains(bits) else { return nil }
    (self.address, self.bits) = (address, bits)
  }

  public func contains(_ other: NetworkAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask = UInt8(0x80) >> UInt8(bit % 8)
      return address.bytes[bit / 8] & mask == other.bytes[bit / 8] & mask
    }
  }

  public var description: String { "\(address)/\(bits)" }
}

extension NetworkRange: FlagValue {
  public init?(flagText: String) { self.init(flagText) }
  public static var flagKind: String { "an address such as 10.0.0.7, or a range of them such as 10.0.0.0/8" }
}
