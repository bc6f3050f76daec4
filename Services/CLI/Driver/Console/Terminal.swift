internal import Glibc
package import Runtime

/// Where a command speaks: results on standard output, everything else elsewhere.
package struct Terminal: Sendable {
  package let host: Host
  private let sink: @Sendable (String) -> Void

  /// - Parameter sink: gets whole lines, with their line feeds.
  package init(host: Host, sink: @escaping @Sendable (String) -> Void) {
    self.host = host
    self.sink = sink
  }

  package func say(_ line: String) { sink(line + "\n") }

  package static func standard(_ host: Host) -> Terminal {
    Terminal(host: host) { put($0, on: STDOUT_FILENO) }
  }

  package static func complain(_ line: String) { put(line + "\n", on: STDERR_FILENO) }

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
