internal import Glibc

/// Where a program speaks: results on standard output, everything else on standard error.
public enum Standard {
  /// As it is, without a line feed of its own.
  public static func put(_ text: String) { put(text, on: STDOUT_FILENO) }

  public static func complain(_ line: String) { put(line + "\n", on: STDERR_FILENO) }

  private static func put(_ text: String, on descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
