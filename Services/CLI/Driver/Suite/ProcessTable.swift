internal import CaravanRuntime

/// Which processes of the suite run now.
final class ProcessTable: Sendable {
  struct Entry: Sendable {
    let name: String
    var process: Int32?
    var deaths = 0
  }

  private let state: Mutex<[Entry]>
  /// The entries are others than when they were last looked at; for one reader.
  let changed = Signal()

  /// - Parameter names: in the order in which they are shown.
  init(_ names: [String]) { state = Mutex(names.map { Entry(name: $0) }) }

  var entries: [Entry] { state.withLock { $0 } }

  func started(_ name: String, _ process: Int32) { change(name) { $0.process = process } }
  func ended(_ name: String) { change(name) { $0.process = nil } }

  func died(_ name: String) {
    change(name) { entry in
      entry.process = nil
      entry.deaths += 1
    }
  }

  private func change(_ name: String, _ change: (inout Entry) -> Void) {
    state.withLock { entries in
      guard let index = entries.firstIndex(where: { $0.name == name }) else { return }
      change(&entries[index])
    }
    changed.raise()
  }
}
