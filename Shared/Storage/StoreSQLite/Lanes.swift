internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// The one writer of a file, on a thread of its own. Group commit: whoever wants to write puts its work into the queue
/// and asks for a flush; a flush takes all that waits into one transaction with one fsync, so the asks behind it mostly
/// find their work done. Nobody needs to run a loop.
actor FileWriter {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let queue = Mutex(WriteQueue<any PendingWrite>(for: "the disk", FileLimits.queue) { $0.byteCount })
  private let liveness: Liveness
  private let observer: (any CommitObserver)?
  private let metrics: FileMetrics
  private let disk: Outage
  private let clock: any Clock
  private var state: FileState?

  /// - Parameter disk: of the files that lie on one.
  init(
    name: String, host: Host, liveness: Liveness, observer: (any CommitObserver)?, metrics: FileMetrics, disk: Outage
  ) {
    executor = host.executors.makeSerial(name)
    clock = host.clock
    self.liveness = liveness
    self.observer = observer
    self.metrics = metrics
    self.disk = disk
  }

  /// - Returns: the file's life.
  func open(
    _ place: FilePlace, _ connection: ConnectionOptions, number: Int, _ options: StoreOptions, host: Host,
    spread: SpreadAccounts
  ) throws(CaravanError) -> UInt64 {
    let state = try FileState(
      place, connection, number: number, options, host: host, metrics: metrics, wantsChanges: observer != nil,
      spread: spread)
    self.state = state
    return state.reads.life
  }

  func close() {
    state?.close()
    state = nil
  }

  nonisolated func write<Value: Sendable>(
    bytes: Int = 0, isDurable: Bool = true, _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    let write = Write(byteCount: bytes, isDurable: isDurable, work)
    try queue.withLock { (queue) throws(CaravanError) in try queue.append(write) }
    await flush(until: [write])
    return try write.value()
  }

  /// Several at once, each for itself, in order.
  nonisolated func write<Value: Sendable>(
    _ writes: [Write<Value>]
  ) async -> [Result<Value, CaravanError>] {
    let refusals = queue.withLock { queue in
      writes.map { (write) -> CaravanError? in
        do throws(CaravanError) { try queue.append(write) } catch { return error }
        return nil
      }
    }
    await flush(until: zip(writes, refusals).filter { $0.1 == nil }.map { $0.0 })
    return zip(writes, refusals).map { write, refusal in
      if let refusal { return .failure(refusal) }
      do throws(CaravanError) { return .success(try write.value()) } catch { return .failure(error) }
    }
  }

  /// For a file without readers.
  func read<Value: Sendable>(
    _ work: @Sendable (FileReads) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    try liveness.check()
    let state = try open(state)
    return try state.db.transaction(.read) { () throws(CaravanError) in try work(state.reads) }
  }

  private func open(_ state: FileState?) throws(CaravanError) -> FileState {
    guard let state else { throw CaravanError(.unavailable, "the store is closed") }
    return state
  }

  private func flush(until writes: [any PendingWrite]) {
    for write in writes { while !write.isDone { runGroup(queue.withLock { $0.takeGroup() }[...]) } }
  }

  /// One transaction; when a failure rolls it back in the middle, those not yet tried get another. Hardly ever does a
  /// write fail: so they all run without savepoints, for which SQLite copies every page that a write changes, and once
  /// more with them where one did.
  private func runGroup(_ group: ArraySlice<any PendingWrite>) {
    var rest = group
    while !rest.isEmpty {
      let tried = transact(rest)
      rest = rest.dropFirst(tried)
    }
  }

  /// - Returns: how many of the group are finished.
  private func transact(_ group: ArraySlice<any PendingWrite>) -> Int {
    var tried = 0
    do throws(CaravanError) {
      try liveness.check()
      let state = try open(state)
      let start = clock.now
      let isDurable = group.contains(where: \.isDurable)
      try state.db.committing(durably: isDurable) { () throws(CaravanError) in try carryOut(group, state, &tried) }
      if isDurable { state.settle() }
      metrics.committed(writes: tried, in: clock.now - start)
      let changes = state.log.takeChanges()
      if !changes.isEmpty { observer?.committed(changes) }
      for write in group.prefix(tried) { write.finish(nil) }
    } catch {
      if tried == 0 { tried = group.count }
      metrics.failed(writes: tried)
      for write in group.prefix(tried) { write.finish(error) }
    }
    watchDisk(group.prefix(tried))
    return tried
  }

  private func watchDisk(_ done: ArraySlice<any PendingWrite>) {
    let failures = done.compactMap(\.failure)
    if let refusal = failures.first(where: { $0.code == .storageFull }) { return disk.lasts(refusal) }
    if failures.count < done.count { disk.ended() }
  }

  private func carryOut(
    _ group: ArraySlice<any PendingWrite>, _ state: FileState, _ tried: inout Int
  ) throws(CaravanError) {
    do throws(CaravanError) {
      try state.begin()
      if !group.allSatisfy({ $0.run(state, under: .transaction) }) {
        state.undo()
        try state.begin()
        for write in group {
          write.run(state, under: .savepoint)
          tried += 1
          if !state.db.isInTransaction { throw lost(state) }
        }
      }
      tried = group.count
      try state.commit()
    } catch {
      state.undo()
      throw error
    }
  }

  /// A full disk, for one, makes SQLite roll the whole transaction back (https://sqlite.org/lang_transaction.html).
  private func lost(_ state: FileState) -> CaravanError {
    state.db.lastFailure?.caravanError ?? CaravanError(.storageFull, "the transaction was rolled back: retry")
  }
}

/// A reader of a file beside its writer, on a thread of its own; opened when first used.
actor FileReader {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let place: FilePlace
  private let options: ConnectionOptions
  private let life: UInt64
  private let liveness: Liveness
  private var reads: FileReads?

  init(
    name: String, host: Host, place: FilePlace, options: ConnectionOptions, life: UInt64, liveness: Liveness
  ) {
    executor = host.executors.makeSerial(name)
    self.place = place
    self.options = options
    self.life = life
    self.liveness = liveness
  }

  func read<Value: Sendable>(
    _ work: @Sendable (FileReads) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    try liveness.check()
    let reads = try open()
    return try reads.db.transaction(.read) { () throws(CaravanError) in try work(reads) }
  }

  func close() {
    reads?.db.close()
    reads = nil
  }

  private func open() throws(CaravanError) -> FileReads {
    if let reads { return reads }
    let opened = FileReads(
      db: try Connection(place.database, options), life: life, chunkFile: try place.readChunks())
    reads = opened
    return opened
  }
}
