package import CaravanRuntime

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

  package static func standard(_ host: Host) -> Terminal { Terminal(host: host) { Standard.put($0) } }

  package static func complain(_ line: String) { Standard.complain(line) }
}
