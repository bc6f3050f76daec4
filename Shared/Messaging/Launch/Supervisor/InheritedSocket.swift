public import CaravanModel
internal import Glibc

/// A socket that a supervisor listens at for this process, and hands over at its start: systemd's socket activation,
/// sd_listen_fds(3). What connects before the process is there waits.
public struct InheritedSocket: Sendable {
  /// "The first descriptor is 3" (sd_listen_fds(3)).
  private static let first: Int32 = 3

  public let descriptor: Int32

  /// - Parameters:
  ///   - environment: has the sockets' number in `LISTEN_FDS`, and whom they are meant for in `LISTEN_PID`.
  ///   - process: this one's number.
  /// - Returns: nil when nothing was handed over.
  /// - Throws: `invalidData` when it is not one unix stream socket that listens.
  public static func taken(
    from environment: [String: String], process: Int
  ) throws(CaravanError) -> InheritedSocket? {
    guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"] else { return nil }
    guard text == "1" else {
      throw CaravanError(.invalidData, "LISTEN_FDS is '\(text.prefix(20))': give the socket unit one ListenStream=")
    }
    return try InheritedSocket(first)
  }

  /// - Throws: `invalidData` unless it listens.
  init(_ descriptor: Int32) throws(CaravanError) {
    guard Self.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
      Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
      Self.option(SO_ACCEPTCONN, of: descriptor) == 1
    else {
      throw CaravanError(
        .invalidData,
        "descriptor \(descriptor) from the supervisor is no unix stream socket that listens: "
          + "the socket unit needs ListenStream= with a path")
    }
    // Nobody that is started from here is meant.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.descriptor = descriptor
  }

  private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }
}
