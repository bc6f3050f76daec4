public import CaravanBus
public import CaravanModel
public import CaravanRuntime
public import CaravanStorageClient
import CaravanWire

/// How many change events are taken in together.
public struct Gathering: Sendable, Hashable {
  /// The first of a group waits so long for others.
  public var linger: Duration
  /// A group of so many change events, or bytes, waits no longer.
  public var hints: Int
  public var bytes: Int

  public init(linger: Duration, hints: Int, bytes: Int) {
    precondition(hints > 0, "a group of no change events")
    (self.linger, self.hints, self.bytes) = (linger, hints, bytes)
  }

  /// Each change event as it comes.
  public static let none = Gathering(linger: .zero, hints: 1, bytes: 0)
}

/// Hands a partition's changes to a consumer, in order and each at least once: from change events while they are
/// contiguous, from the log where they are not, and where the watch finds that change events were lost (architecture
/// §5).
public actor ChangeFollower {
  nonisolated let partition: Partition
  private let watch: ChangeWatch
  private let bus: any MessageBus
  private let storage: StorageClient
  private let host: Host
  private let consumer: any ChangeConsumer
  private let gathering: Gathering
  private let isUrgent: @Sendable () -> Bool
  private var position = LogPosition(0)
  /// True while changes are being taken in. Others then leave `wantsRepair` or `isDue`, and go or wait.
  private var isWorking = false
  private var wantsRepair = false
  /// What is heard is to be taken in now.
  private var isDue = false
  /// Encoded change events that have not been looked at.
  private var heard: [[UInt8]] = []
  private var heardBytes = 0
  /// Change events heard since the beginning; and those of them that were dealt with.
  private var heardCount: UInt64 = 0
  private var doneCount: UInt64 = 0
  /// Those who wait until so many are dealt with.
  private var waiters: [(count: UInt64, promise: Promise<Void>)] = []
  /// Those who wait until nobody works.
  private var idlers: [Promise<Void>] = []
  /// Something was missed.
  private let missed = Signal()
  /// The first change event of a group is here.
  private let begun = Signal()

  /// - Parameters:
  ///   - gathering: what hears of changes in groups takes them in with less work, and later.
  ///   - isUrgent: somebody waits for them, so none lingers.
  public init(
    _ lease: PartitionLease, bus: any MessageBus, storage: StorageClient, host: Host, gathering: Gathering = .none,
    isUrgent: @escaping @Sendable () -> Bool = { false }, consumer: any ChangeConsumer
  ) {
    self.gathering = gathering
    self.isUrgent = isUrgent
    partition = lease.partition
    watch = lease.watch
    self.bus = bus
    self.storage = storage
    self.host = host
    self.consumer = consumer
  }

  /// Follows until cancelled or the bus ends.
  /// - Parameters:
  ///   - start: the position the consumer has taken in; nil: none, so it is told to rebuild.
  ///   - whenCurrent: called once, when the consumer has caught up with the log.
  /// - Throws: when catching up fails, or the subscription.
  public func run(from start: UInt64?, whenCurrent: @Sendable () async throws -> Void) async throws {
    // First the subscription, so that nothing falls between what is read and what is heard.
    let hints = try await bus.subscribe(.exact(.changes(partition)), group: nil, capacity: FollowLimits.hintsWaiting)
    defer { hints.cancel() }
    isWorking = true
    if let start {
      position.reset(to: start)
    } else {
      try await rebuild(at: storage.log(of: partition, after: 0, atMost: 1).head)
    }
    try await readLog()
    rest()
    watch.enter(self)
    defer { watch.leave(self) }
    try await whenCurrent()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.hear(hints) }
      group.addTask { await self.catchUp() }
      group.addTask { await self.linger() }
      await group.next()
      group.cancelAll()
    }
  }

  // MARK: Two ways to learn of a change

  private func hear(_ hints: any BusSubscription) async {
    while let delivery = await hints.next() {
      watch.stir()
      switch delivery {
      case .gap: await repair()
      case .message(let incoming): await gather(incoming.message.payload)
      }
    }
  }

  private func catchUp() async {
    while !Task.isCancelled {
      await missed.wait()
      await repair()
    }
  }

  var positionNow: UInt64 { position.value }

  /// - Parameters:
  ///   - head: how far the log had come,
  ///   - since: when this had come so far at least.
  /// - Returns: whether something is missing, which is then read; also when the log is another one, that is shorter.
  func lacks(_ head: UInt64, since: UInt64) async -> Bool {
    await takeInHeard()
    let isApart = head > position.value || head < since
    if isApart { missed.raise() }
    return isApart
  }

  // MARK: Groups

  private func gather(_ hint: [UInt8]) async {
    heard.append(hint)
    heardBytes += hint.count
    heardCount += 1
    if heard.count >= gathering.hints || heardBytes >= gathering.bytes {
      // Whoever hears faster than the consumer takes in waits here; the subscription is bounded.
      await takeInHeard()
    } else if heard.count == 1 {
      begun.raise()
    }
  }

  private func linger() async {
    while !Task.isCancelled {
      await begun.wait()
      let linger = isUrgent() ? .zero : gathering.linger
      guard (try? await host.clock.sleep(for: linger)) != nil else { return }
      await takeInHeard()
    }
  }

  /// Returns when the changes heard of before the call have been taken in, or have failed to be. For who must not miss
  /// what lingers.
  public func takeInHeard() async {
    guard doneCount < heardCount else { return }
    isDue = true
    guard isWorking else { return await work() }
    let promise = Promise<Void>()
    waiters.append((heardCount, promise))
    try? await promise.wait()
  }

  // MARK: Taking in

  private func repair() async {
    wantsRepair = true
    if !isWorking { await work() }
  }

  /// Reads the log while somebody wants that, and takes in what is heard and due; failures leave it to the watch.
  private func work() async {
    isWorking = true
    while wantsRepair || isDue {
      do throws(CaravanError) {
        if wantsRepair {
          wantsRepair = false
          try await readLog()
        } else {
          try await takeGroup()
        }
      } catch { if error.code != .cancelled { watch.failed(error, in: partition) } }
    }
    rest()
  }

  private func rest() {
    isWorking = false
    for idler in idlers { idler.fulfil(()) }
    idlers = []
  }

  /// Runs `body` while no changes are being taken in.
  public func betweenChanges(_ body: @Sendable () async throws(CaravanError) -> Void) async throws(CaravanError) {
    while isWorking {
      let promise = Promise<Void>()
      idlers.append(promise)
      try await promise.wait()
    }
    isWorking = true
    let failure: CaravanError?
    do throws(CaravanError) {
      try await body()
      failure = nil
    } catch { failure = error }
    // What was left for whoever works.
    await work()
    if let failure { throw failure }
  }

  private func takeGroup() async throws(CaravanError) {
    isDue = false
    let hints = heard
    (heard, heardBytes) = ([], 0)
    defer {
      doneCount += UInt64(hints.count)
      for waiter in waiters where waiter.count <= doneCount { waiter.promise.fulfil(()) }
      waiters.removeAll { $0.count <= doneCount }
    }
    var end = position
    var changes: [Change] = []
    for payload in hints {
      guard let hint = try? ChangeHint.decode(payload) else {
        host.log.warning("a change event is malformed", [.partition: partition.number])
        continue
      }
      switch end.judge(previous: hint.previous, positions: hint.log.compactMap(\.position)) {
      case .known: continue
      case .gap: wantsRepair = true
      case .take(let first):
        changes += try Self.changes(hint.log[first...], pages: hint.pages)
        if let last = changes.last, last.position > end.value { end.advance(to: last.position) }
      }
    }
    try await hand(over: changes)
  }

  private func readLog() async throws(CaravanError) {
    while true {
      let reply = try await storage.log(of: partition, after: position.value, atMost: FollowLimits.entriesPerRead)
      if reply.trimmed || reply.head < position.value {
        try await rebuild(at: reply.head)
        continue
      }
      let new = reply.entries.filter { $0.position ?? 0 > position.value }
      guard !new.isEmpty else { return }
      try await hand(over: Self.changes(new[...], pages: []))
      if position.value >= reply.head { return }
    }
  }

  private func rebuild(at head: UInt64) async throws(CaravanError) {
    try await consumer.rebuild(at: head)
    position.reset(to: head)
  }

  private static func changes(
    _ log: ArraySlice<LogEntry>, pages: [[UInt8]]
  ) throws(CaravanError) -> [Change] {
    var changes: [Change] = []
    changes.reserveCapacity(log.count)
    for index in log.indices { changes.append(try Change(log[index], page: index < pages.count ? pages[index] : nil)) }
    return changes
  }

  private func hand(over changes: [Change]) async throws(CaravanError) {
    guard let last = changes.last else { return }
    try await consumer.take(changes)
    position.advance(to: last.position)
  }
}
