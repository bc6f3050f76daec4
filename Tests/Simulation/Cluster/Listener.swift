internal import CaravanModel
internal import CaravanWire

/// Reads what a device is told without having asked, and knows whose rows those are.
struct Listener: Sendable {
  private let device: String
  private let user: String
  private let recorder: Recorder

  init(_ device: String, of user: String, _ recorder: Recorder) {
    self.device = device
    self.user = user
    self.recorder = recorder
  }

  func hears(_ payload: [UInt8]) {
    guard let notification = try? Notification.decode(payload) else { return }
    for page in notification.pages {
      for entry in (try? EntryPage.decode(page.page).entries) ?? [] {
        guard let tag = Recorder.tag(of: entry.model()), let owner = recorder.owner(of: tag), owner != user else {
          continue
        }
        recorder.intruded("\(device), which is \(user)'s, is told of \(tag), which is \(owner)'s")
      }
    }
  }
}
