import CaravanRuntime

/// Keeps what a command said.
final class Collector: Sendable {
  private let text = Mutex("")

  var lines: [String] { text.withLock { $0.split(separator: "\n").map(String.init) } }
  func add(_ piece: String) { text.withLock { $0 += piece } }
}
