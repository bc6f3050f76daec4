public import Bus
import Model
public import Runtime
public import StorageClient
import Wire

/// Hands a partition's changes to a consumer, in order and each at least once: from hints while they are contiguous,
/// from the log where they are not, and where the watch finds that hints were lost (architecture §5).
public actor ChangeFollower {
  nonisolated let partition: Partition
  private let watch: ChangeWatch
  private let bus: any MessageBus
  private let storage: StorageClient
  private let host: Host
  private let consumer: any ChangeConsumer
  private var position = LogPosition(0)
  /// True while changes are being taken in. Others then leave `wantsRepair` and go.
  private var isWorking = false
  private var wantsRepair = false
  /// Something was missed.
  private let missed = Signal()

  public init(
    _ lease: PartitionLease, bus: any MessageBus, storage: StorageClient, host: Host, consumer: any ChangeConsumer
  ) {
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
    isWorking = false
    watch.enter(self)
    defer { watch.leave(self) }
    try await whenCurrent()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.hear(hints) }
      group.addTask { await self.catchUp() }
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
      case .message(let incoming):
        guard let hint = try? ChangeHint.decode(incoming.message.payload) else {
          host.log.warning("a change hint is malformed", [.partition: partition.number])
          continue
        }
        await take(hint)
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
  func lacks(_ head: UInt64, since: UInt64) -> Bool {
    let isApart = head > position.value || head < since
    if isApart { missed.raise() }
    return isApart
  }

  // MARK: Taking in

  private func take(_ hint: ChangeHint) async {
    guard !isWorking else {
      wantsRepair = true
      return
    }
    isWorking = true
    do throws(CaravanError) {
      switch position.judge(previous: hint.previous, positions: hint.log.compactMap(\.position)) {
      case .known: break
      case .gap: wantsRepair = true
      case .take(let first): try await hand(over: hint.log[first...], pages: hint.pages)
      }
    } catch {
      report(error)
    }
    await finishWork()
  }

  private func repair() async {
    wantsRepair = true
    guard !isWorking else { return }
    isWorking = true
    await finishWork()
  }

  /// Reads the log while somebody wants that; failures leave it to the watch.
  private func finishWork() async {
    while wantsRepair {
      wantsRepair = false
      do throws(CaravanError) { try await readLog() } catch { report(error) }
    }
    isWorking = false
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
      try await hand(over: new[...], pages: [])
      if position.value >= reply.head { return }
    }
  }

  private func rebuild(at head: UInt64) async throws(CaravanError) {
    try await consumer.rebuild(at: head)
    position.reset(to: head)
  }

  private func hand(over log: ArraySlice<LogEntry>, pages: [EntryPage]) async throws(CaravanError) {
    var changes: [Change] = []
    changes.reserveCapacity(log.count)
    for index in log.indices { changes.append(try Change(log[index], page: index < pages.count ? pages[index] : nil)) }
    guard let last = changes.last else { return }
    try await consumer.take(changes)
    position.advance(to: last.position)
  }

  private func report(_ error: CaravanError) {
    guard error.code != .cancelled else { return }
    watch.stir()
    host.log.warning(
      "changes could not be taken in",
      [.partition: partition.number, .code: error.code.rawValue, .error: error.message])
  }
}
