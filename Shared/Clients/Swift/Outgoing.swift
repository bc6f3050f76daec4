internal import Glibc

/// Bytes on their way to the peer, each array as it was given.
struct Outgoing {
  private(set) var frames: [ArraySlice<UInt8>] = []
  private(set) var bytes = 0
  var isClosed = false

  var isEmpty: Bool { frames.isEmpty }

  /// - Parameter new: not one of them is empty.
  mutating func append(_ new: [ArraySlice<UInt8>]) {
    frames += new
    bytes += new.reduce(0) { $0 + $1.count }
  }

  /// Sends the first two at once: the peer is not to be woken for a head alone.
  /// - Returns: how many bytes the peer's socket took; -1: see `errno`.
  func send(through descriptor: Int32, _ flags: Int32) -> Int {
    unsafe frames[0].withUnsafeBytes { first in
      unsafe (frames.count > 1 ? frames[1] : []).withUnsafeBytes { second in
        var parts = unsafe (Self.vector(first), Self.vector(second))
        return unsafe withUnsafeMutablePointer(to: &parts) { parts in
          var header = unsafe msghdr()
          unsafe header.msg_iov = UnsafeMutableRawPointer(parts).assumingMemoryBound(to: iovec.self)
          unsafe header.msg_iovlen = 2
          return unsafe sendmsg(descriptor, &header, flags)
        }
      }
    }
  }

  private static func vector(_ bytes: UnsafeRawBufferPointer) -> iovec {
    unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }

  /// They have been sent.
  mutating func drop(_ count: Int) {
    bytes -= count
    var left = count
    while let first = frames.first, left > 0 {
      if first.count > left {
        frames[0] = first.dropFirst(left)
        return
      }
      left -= first.count
      frames.removeFirst()
    }
  }
}
