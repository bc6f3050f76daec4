/// What the device itself has to tell the cloud, beside its tables: that it is here, what it wants to hear of, and
/// which notifications it has taken over. Times are monotonic nanoseconds.
public struct ControlMessages: Sendable {
  /// What goes now. Hello and subscribe never go together: the answer to the first decides about the second.
  public struct Batch: Sendable, Hashable {
    public var hello = false
    public var subscribe = false
    public var acks: [UInt64] = []

    public init() {}
    public var isEmpty: Bool { !hello && !subscribe && acks.isEmpty }
  }

  /// Which list of this device the cloud has.
  private enum CloudList: Sendable, Hashable {
    /// Nobody knows before the first hello has been answered.
    case unknown
    case generation(UInt64)
    case none
  }

  /// When the next hello is due; nil: not connected.
  private var helloAt: UInt64?
  private var cloud = CloudList.unknown
  private var generation: UInt64
  /// When the list that changed last has to go.
  private var listBy: UInt64 = 0
  private var acks: [UInt64] = []
  /// The notification taken over last: the cloud repeats one until it has heard of that.
  private var lastNumber: UInt64?
  /// A hello or a list is on its way.
  private var isSpeaking = false
  private var notBefore: UInt64 = 0
  private var backoff = Backoff()

  public init(generation: UInt64) { self.generation = generation }

  // MARK: What happened

  /// The connection is there, or there again.
  public mutating func connected(at now: UInt64) {
    helloAt = now
    notBefore = now
    cloud = .unknown
    backoff.succeeded()
  }

  /// There may be news that only the answer to a hello has.
  public mutating func helloIsDue(at now: UInt64) {
    if let due = helloAt { helloAt = min(due, now) }
  }

  public mutating func disconnected() { helloAt = nil }

  /// - Parameter deadline: of the tables that are new in it: a list waits as long as they do (UNI-22).
  public mutating func listChanged(to generation: UInt64, by deadline: UInt64) {
    if generation != self.generation { listBy = listIsDirty ? min(listBy, deadline) : deadline }
    self.generation = generation
  }

  /// A notification was taken over: what it flags is going to be pulled.
  /// - Returns: whether it is the same as the one before, sent again.
  public mutating func notified(_ number: UInt64) -> Bool {
    defer { lastNumber = number }
    if !acks.contains(number), acks.count < EngineLimits.notificationsWaiting { acks.append(number) }
    return number == lastNumber
  }

  /// A notification was made for another list than the device's.
  public mutating func listMistaken() { cloud = .none }

  // MARK: What to do

  /// - Parameter isUnderway: there is a transfer anyhow: what is due before long rides along.
  public mutating func take(at now: UInt64, isUnderway: Bool = false) -> Batch? {
    guard let helloAt else { return nil }
    var batch = Batch()
    if !isSpeaking, notBefore <= now {
      let early = isUnderway ? EngineLimits.heartbeatMilliseconds * 1_000_000 / 2 : 0
      batch.hello = helloAt <= now + early
      batch.subscribe = !batch.hello && listIsDirty && (isUnderway || listDueAt <= now)
      isSpeaking = batch.hello || batch.subscribe
    }
    if notBefore <= now {
      batch.acks = acks
      acks = []
    }
    return batch.isEmpty ? nil : batch
  }

  public var nextWake: UInt64? {
    guard let helloAt else { return nil }
    if !acks.isEmpty { return notBefore }
    if isSpeaking { return nil }
    return max(listIsDirty ? min(listDueAt, helloAt) : helloAt, notBefore)
  }

  private var listIsDirty: Bool {
    switch cloud {
    case .unknown: false
    case .generation(let known): known != generation
    case .none: true
    }
  }

  private var listDueAt: UInt64 { cloud == .none ? 0 : listBy }

  // MARK: What came of it

  /// - Parameter generation: of the list when it was sent.
  public mutating func helloAnswered(generation: UInt64, resubscribe: Bool, at now: UInt64) {
    isSpeaking = false
    backoff.succeeded()
    cloud = resubscribe ? .none : .generation(generation)
    if helloAt != nil { helloAt = now + EngineLimits.heartbeatMilliseconds * 1_000_000 }
  }

  public mutating func subscribed(generation: UInt64) {
    isSpeaking = false
    backoff.succeeded()
    cloud = .generation(generation)
  }

  public mutating func failed(
    _ batch: Batch, at now: UInt64, random: UInt64, retryAfterMilliseconds: UInt32?
  ) {
    if batch.hello || batch.subscribe { isSpeaking = false }
    for number in batch.acks where !acks.contains(number) { acks.append(number) }
    notBefore = now + backoff.failed(random: random, retryAfterMilliseconds: retryAfterMilliseconds)
  }
}
