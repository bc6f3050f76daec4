public import CaravanModel
internal import Glibc

/// Where a Unix socket is (unix(7)): a path, or `@` and an abstract name.
public struct UnixAddress: Sendable {
  private let name: [UInt8]

  /// - Throws: `invalidData` when the kernel has no room for it.
  public init(_ path: String) throws(CaravanError) {
    var name = Array(path.utf8)
    let isAbstract = name.first == UInt8(ascii: "@")
    if isAbstract { name[0] = 0 }
    // A path has a zero byte at its end.
    let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - (isAbstract ? 0 : 1)
    guard (1...room).contains(name.count) else {
      throw CaravanError(.invalidData, "the socket's path '\(path)' is empty or too long: use one below 108 bytes")
    }
    self.name = name
  }

  /// - Returns: false, and `errno` says why.
  public func bind(_ descriptor: Int32) -> Bool {
    unsafe withAddress { unsafe Glibc.bind(descriptor, $0, $1) == 0 }
  }

  /// - Returns: false, and `errno` says why.
  public func connect(_ descriptor: Int32) -> Bool {
    unsafe withAddress { unsafe Glibc.connect(descriptor, $0, $1) == 0 }
  }

  private func withAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    // An abstract name ends with the address's length, and not with a zero.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}
