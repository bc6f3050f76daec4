internal import CaravanModel
internal import CaravanWire

/// Keeps up with one zone of its user by pulling, as a device without an agent.
struct ZoneReader: Sendable {
  let caller: Caller
  private let container: String
  private let zone: String
  private let maxBytes: UInt32
  private var token: [UInt8] = []
  private var isFresh = false
  /// What is in the zone, as far as it was read.
  private(set) var entries: [String: CaravanWire.Entry] = [:]

  /// - Parameter maxBytes: of a page.
  init(_ caller: Caller, container: String, zone: String, maxBytes: UInt32) {
    self.caller = caller
    self.container = container
    self.zone = zone
    self.maxBytes = maxBytes
  }

  /// - Returns: whether it came to the end, where all that it has was so at one time.
  mutating func read() async -> Bool {
    while true {
      let pull = Pull(container: container, zone: zone, token: token, maxBytes: maxBytes, fresh: isFresh)
      guard let answer = await caller.insist(.pull(pull)), case .pull(let page) = answer else {
        // Perhaps its token is of a key that was lost.
        startOver()
        return false
      }
      guard !page.resetRequired else {
        startOver()
        continue
      }
      guard let list = try? EntryPage.decode(page.page).entries else { return false }
      for entry in list { entries[entry.name] = entry.deleted ? nil : entry }
      (token, isFresh) = (page.token, false)
      if !page.more { return true }
    }
  }

  private mutating func startOver() { (token, entries, isFresh) = ([], [:], true) }
}
