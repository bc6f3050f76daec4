internal import Model
internal import Runtime
internal import SQLite
internal import Store

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
  private let clock: any Clock
  private var state: FileState?

  init(name: String, host: Host, liveness: Liveness, observer: (any CommitObserver)?, metrics: FileMetrics) {
    executor = host.executors.makeSerial(name)
    clock = host.clock
    self.liveness = liveness
    self.observer = observer
    self.metrics = metrics
  }

  /// - Returns: the file's life.
  func open(
    _ location: Connection.Location, _ options: ConnectionOptions, number: Int, _ store: StoreOptions,
    random: any RandomSource
  ) throws(CaravanError) -> UInt64 {
    let db = try Connection(location, options)
    let life = try FileSchema.prepare(db, number: number, files: store.files, random: random)
    state = FileState(
      db: db, life: life, clock: clock, metrics: metrics, wantsChanges: observer != nil, quotas: store.quotas,
      queuesObjects: store.queuesObjects)
    return life
  }

  func close() {
    state?.db.close()
    state = nil
  }

  nonisolated func write<Value: Sendable>(
    bytes: Int = 0, _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    let write = Write(byteCount: bytes, work)
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
      do throws(CaravanError) {
        try state.db.begin(.write)
        if !group.allSatisfy({ $0.run(state, under: .transaction) }) {
          undo(state)
          try state.db.begin(.write)
          for write in group {
            write.run(state, under: .savepoint)
            tried += 1
            if !state.db.isInTransaction { throw lost(state) }
          }
        }
        tried = group.count
        try state.db.commit()
      } catch {
        undo(state)
        throw error
      }
      metrics.committed(writes: tried, in: clock.now - start)
      let changes = state.takeChanges()
      if !changes.isEmpty { observer?.committed(changes) }
      for write in group.prefix(tried) { write.finish(nil) }
    } catch {
      if tried == 0 { tried = group.count }
      metrics.failed(writes: tried)
      for write in group.prefix(tried) { write.finish(error) }
    }
    return tried
  }

  private func undo(_ state: FileState) {
    state.db.rollBack()
    state.forget()
    _ = state.takeChanges()
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

  private let location: Connection.Location
  private let options: ConnectionOptions
  private let life: UInt64
  private let liveness: Liveness
  private var db: Connection?

  init(
    name: String, host: Host, location: Connection.Location, options: ConnectionOptions, life: UInt64,
    liveness: Liveness
  ) {
    executor = host.executors.makeSerial(name)
    self.location = location
    self.options = options
    self.life = life
    self.liveness = liveness
  }

  func read<Value: Sendable>(
    _ work: @Sendable (FileReads) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    try liveness.check()
    let db = try connection()
    return try db.transaction(.read) { () throws(CaravanError) in try work(FileReads(db: db, life: life)) }
  }

  func close() {
    db?.close()
    db = nil
  }

  private func connection() throws(CaravanError) -> Connection {
    if let db { return db }
    let opened = try Connection(location, options)
    db = opened
    return opened
  }
}
