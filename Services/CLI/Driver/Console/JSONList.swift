internal import CaravanEncoding

/// A JSON array, one element a line, said as it comes.
struct JSONList {
  private let terminal: Terminal
  private var pending: JSON?
  private var hasBegun = false

  init(_ terminal: Terminal) { self.terminal = terminal }

  mutating func add(_ element: JSON) {
    flush(isLast: false)
    pending = element
  }

  mutating func finish() {
    flush(isLast: true)
    terminal.say(hasBegun ? "]" : "[]")
  }

  /// Ends what was begun: something failed.
  mutating func cutShort() {
    if hasBegun || pending != nil { finish() }
  }

  private mutating func flush(isLast: Bool) {
    guard let element = pending.take() else { return }
    if !hasBegun { terminal.say("[") }
    hasBegun = true
    terminal.say(element.encoded() + (isLast ? "" : ","))
  }
}
