internal import CaravanBus
internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What came to the devices of everybody but one user, message by message, as each reads once it is opened.
final class Heard: Sendable {
  struct Item: Sendable {
    let kind: String
    /// Nothing is packed in it any more.
    let plain: [UInt8]
    let at: Instant

    func isSame(as other: Item) -> Bool { kind == other.kind && plain == other.plain }
  }

  private let secret: Secret
  private let clock: any Clock
  private let items = Mutex<[String: [Item]]>([:])
  private let isOver = Mutex(false)

  init(_ secret: Secret, clock: any Clock) {
    self.secret = secret
    self.clock = clock
  }

  /// Nil: whose the device is has the secret.
  func ear(of device: String, of user: String) -> Ear? { user == secret.user ? nil : Ear(device: device, heard: self) }

  fileprivate func came(_ kind: String, _ plain: [UInt8], to device: String) {
    guard !isOver.withLock(\.self) else { return }
    let item = Item(kind: kind, plain: plain, at: clock.now)
    items.withLock { $0[device, default: []].append(item) }
  }

  /// What comes from now on is nobody's word.
  func end() { isOver.withLock { $0 = true } }

  /// By device.
  var all: [String: [Item]] { items.withLock(\.self) }
}

/// One device's.
struct Ear: Sendable {
  fileprivate let device: String
  fileprivate let heard: Heard

  /// What it was answered, and at which of its subjects.
  func hears(_ answer: Message, at subject: Subject) {
    switch subject {
    case .exchange: hears(frame: answer.payload)
    case .chunks: heard.came("chunks", answer.payload, to: device)
    case .renew: heard.came("credentials", answer.payload, to: device)
    default: heard.came("an answer", answer.payload, to: device)
    }
  }

  func hears(_ refusal: CaravanError) { heard.came("\(refusal.code)", Array(refusal.message.utf8), to: device) }

  func hears(notification: Message) { heard.came("notification", notification.payload, to: device) }

  /// How well a frame is packed depends on nothing but what is in it.
  private func hears(frame payload: [UInt8]) {
    guard var frame = try? Frame.decode(payload) else { return heard.came("no frame", payload, to: device) }
    if frame.compression == .zstd {
      var tool = try? Decompressor()
      guard let plain = try? tool?.decompress(frame.body, limit: Limits.frameBytes) else {
        return heard.came("no frame", payload, to: device)
      }
      (frame.compression, frame.body) = (.none, plain)
    }
    let results = (try? ExchangeReply.decode(frame.body))?.results ?? []
    let kinds = results.map { "\($0.kind.map { "\($0)" } ?? "nothing")".prefix { $0 != "(" } }
    heard.came(
      frame.parcel == nil ? kinds.joined(separator: ", ") : "a frame in fragments", frame.encoded(), to: device)
  }
}
