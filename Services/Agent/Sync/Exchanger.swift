internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Carries operations to the cloud and their results back, in frames. Nothing here is retried: a table's session knows
/// what may be sent twice.
actor Exchanger {
  private let identity: DeviceIdentity
  private let metrics: SyncMetrics
  nonisolated let meter: Meter
  nonisolated let ownWrites = OwnWrites()
  private let clock: any Clock
  private let limiter = Limiter(permits: EngineLimits.exchangesInFlight, waiters: EngineLimits.exchangesWaiting)
  private nonisolated let sizes = Mutex(FragmentSize())
  private var codec: FrameCodec
  private var bus: (any MessageBus)?
  /// Of which some may have come.
  private var owed: [TableID: OwedAnswer] = [:]
  private var epoch: UInt64 = 0

  init(identity: DeviceIdentity, metrics: SyncMetrics, meter: Meter, clock: any Clock) {
    self.identity = identity
    self.clock = clock
    self.metrics = metrics
    self.meter = meter
    codec = FrameCodec(metrics: metrics.registry)
  }

  /// What the link lately let pass.
  nonisolated var fragment: FragmentSize { sizes.withLock { $0 } }

  /// Nobody answers the same push again and again: small as it is, the cloud's copies of its rows in the answer may be
  /// more than what passes.
  nonisolated func mistrustAnswers() {
    sizes.withLock { $0.lost(EngineLimits.fragmentBytes, sentUnder: $0.bytes) }
  }

  /// Nil: not connected.
  func use(_ bus: (any MessageBus)?) { self.bus = bus }

  /// Of the store whose operations come from now on.
  func use(epoch: UInt64) { (self.epoch, owed) = (epoch, [:]) }

  /// One frame: a result for each operation, in order; refusals of single operations are results too.
  /// - Parameters:
  ///   - gates: of the tables in it.
  ///   - courier: carries what the link does not let pass whole; nil: it is small.
  ///   - numbered: the epoch in which its operations got their numbers; nil: they have none, or are the store's own.
  /// - Throws: why the frame as a whole got no answer; `noOperationId` where another epoch has begun.
  func exchange(
    _ operations: [Operation.Kind], through gates: [LinkGuard], by transport: FragmentTransport? = nil,
    of numbered: UInt64? = nil
  ) async throws(CaravanError) -> [Result.Kind] {
    precondition(!operations.isEmpty, "an empty frame")
    guard numbered == nil || numbered == epoch else { throw .begunAnew }
    let operations = withinBudget(operations)
    let transport = fragment.isUnbroken ? nil : transport
    if let transport, let parcel = owed[transport.table]?.answer(to: operations) {
      return try await fetch(parcel, by: transport, operations)
    }
    let exchange = Exchange(epoch: epoch, operations: operations.map { Operation(kind: $0) })
    let now = operations.contains(where: \.isStamped) ? UInt64(clamping: clock.wallTime.milliseconds) : 0
    var payload = try codec.encode(exchange, transport?.form, clock: now)
    // What the courier does takes exchanges as well, and must not wait for them while this holds one.
    if let transport { payload = try await transport.packed(payload) }
    switch try await carry(payload, operations, gates) {
    case .reply(let reply): return try results(reply, of: operations)
    case .parcel(let parcel):
      guard let transport else { throw .unknownResult }
      if owed.count >= EngineLimits.chunksInParts { owed = [:] }
      owed[transport.table] = OwedAnswer(to: operations, parcel)
      return try await fetch(parcel, by: transport, operations)
    }
  }

  /// An operation of the table has been carried out whose answer is still to be fetched.
  func owesAnswer(to table: TableID) -> Bool { owed[table] != nil }

  /// Where the connection ends meanwhile, the same question asked again goes on with this answer.
  private func fetch(
    _ parcel: Parcel, by transport: FragmentTransport, _ operations: [Operation.Kind]
  ) async throws(CaravanError) -> [Result.Kind] {
    do throws(CaravanError) {
      let answer = try await transport.fetch(parcel)
      owed[transport.table] = nil
      return try results(codec.decode(Frame.decode(answer)), of: operations)
    } catch {
      if !error.isTransient, error.code != .networkNotPermitted { owed[transport.table] = nil }
      throw error
    }
  }

  private enum Answer {
    case reply(ExchangeReply)
    case parcel(Parcel)
  }

  private func carry(
    _ payload: [UInt8], _ operations: [Operation.Kind], _ gates: [LinkGuard]
  ) async throws(CaravanError) -> Answer {
    try await limiter.acquire()
    defer { limiter.release() }
    let expected = operations.reduce(0) { $0 + $1.expectedAnswer }
    // However little a pull asks for, one row comes, which may be large.
    let atMost = operations.contains(where: \.isPull) ? max(expected, UInt64(EngineLimits.fragmentBytes)) : expected
    let passage = try await pass(
      payload, through: gates, in: metrics.bytesUp, expecting: expected, atMost: atMost,
      to: .exchange(identity.device), deadline: EngineLimits.exchangeDeadline,
      failedShares: Self.shares(operations, nil))
    metrics.bytesDown.add(passage.answer.count)
    let answer: Answer
    do throws(CaravanError) { answer = try read(passage.answer) } catch {
      meter.settle(
        passage.reservation, up: payload.count, down: passage.answer.count, shares: Self.shares(operations, nil))
      throw error
    }
    var reply: ExchangeReply?
    if case .reply(let whole) = answer { reply = whole }
    meter.settle(
      passage.reservation, up: payload.count, down: passage.answer.count, shares: Self.shares(operations, reply))
    return answer
  }

  private func read(_ answer: [UInt8]) throws(CaravanError) -> Answer {
    let frame = try Frame.decode(answer)
    if let parcel = frame.parcel { return .parcel(parcel) }
    return .reply(try codec.decode(frame))
  }

  /// Says which notifications were taken over, when nothing else is to be said. One that gets lost is repeated by the
  /// cloud, and so is the answer.
  func acknowledge(_ numbers: [UInt64]) async throws(CaravanError) {
    let home = Partition(of: .system(identity.user))
    for number in numbers {
      let ack = AckNotification(number: number).encoded()
      let bus = try connected()
      meter.settle(try await reserve(up: ack.count, down: 0, over: .roaming), up: ack.count, down: 0)
      metrics.bytesUp.add(ack.count)
      try await bus.publish(Message(ack), to: .acks(identity.device, home))
    }
  }

  /// A message passes its gates and the meter, and brings its answer, which is still to be settled.
  /// - Parameter most: bytes that the answer may have, should it be lost; nil: as many as are expected.
  private func pass(
    _ payload: [UInt8], through gates: [LinkGuard], in counter: Counter, expecting down: UInt64,
    atMost most: UInt64? = nil,
    to subject: Subject, deadline: Duration, failedShares: @autoclosure () -> UsageLedger.Shares
  ) async throws(CaravanError) -> (answer: [UInt8], reservation: UsageLedger.Reservation) {
    var limit = CaravanModel.LinkClass.roaming
    for linkGuard in gates { limit = min(limit, try await linkGuard.limit()) }
    let bus = try connected()
    let reservation = try await reserve(up: payload.count, down: down, over: limit)
    counter.add(payload.count)
    let bound = fragment.bytes
    do throws(CaravanError) {
      let answer = try await bus.request(Message(payload), to: subject, deadline: deadline).payload
      sizes.withLock { $0.passed(max(payload.count, answer.count)) }
      return (answer, reservation)
    } catch {
      if error.code == .timedOut {
        sizes.withLock { $0.lost(max(payload.count, Int(clamping: most ?? down)), sentUnder: bound) }
      }
      meter.settle(reservation, up: payload.count, down: 0, shares: failedShares())
      throw error
    }
  }

  private func reserve(
    up: Int, down: UInt64, over limit: CaravanModel.LinkClass
  ) async throws(CaravanError) -> UsageLedger.Reservation {
    if let granted = try meter.reserveNow(up: up, down: down, over: limit) { return granted }
    return try await meter.reserve(up: up, down: down, over: limit)
  }

  /// Pages are asked for no larger than what is left of the link's budget lets them be.
  private func withinBudget(_ operations: [Operation.Kind]) -> [Operation.Kind] {
    guard let left = meter.budget?.left else { return operations }
    var (pulls, others) = (UInt64(0), UInt64(0))
    for operation in operations {
      others += UInt64(FramePacking.Load(operation).bytes) + operation.expectedAnswer
      guard case .pull(let pull) = operation else { continue }
      pulls += 1
      others -= UInt64(pull.maxBytes)
    }
    return operations.map { operation in
      guard case .pull(var pull) = operation else { return operation }
      pull.maxBytes = min(pull.maxBytes, UInt32(clamping: max(1, (left - min(left, others)) / (2 * pulls))))
      return .pull(pull)
    }
  }

  /// Whose a frame and its answer were, by about how much of them.
  private static func shares(_ operations: [Operation.Kind], _ reply: ExchangeReply?) -> UsageLedger.Shares {
    var shares = UsageLedger.Shares()
    for (index, operation) in operations.enumerated() {
      // A ticket is for the chunks of the tables around it.
      if case .ticket = operation, operations.contains(where: { $0.table != nil }) { continue }
      let down = reply.flatMap { index < $0.results.count ? $0.results[index].kind?.weight : nil }
      let bytes = UsageLedger.Bytes(up: UInt64(FramePacking.Load(operation).bytes), down: down ?? 1)
      if let table = operation.table {
        shares.tables[table, default: UsageLedger.Bytes()] += bytes
      } else {
        shares.device += bytes
      }
    }
    return shares
  }

  /// One message about a table's chunks.
  func chunks(
    _ request: ChunkRequest, in partition: Partition, through linkGuard: LinkGuard
  ) async throws(CaravanError) -> ChunkReply {
    let payload = request.encoded()
    let isGet = !request.get.isEmpty
    let whole = isGet ? min(Limits.chunkBatchBytes, request.get.count / ChunkHash.byteCount * Limits.chunkBytes) : 0
    let asked = request.most > 0 ? min(whole, Int(request.most)) : whole
    let passage = try await pass(
      payload, through: [linkGuard], in: metrics.chunkBytesUp, expecting: UInt64(asked) + EngineLimits.answerBytes,
      to: .chunks(identity.device, partition),
      deadline: fragment.isUnbroken ? EngineLimits.chunkDeadline : EngineLimits.exchangeDeadline,
      failedShares: .whole(linkGuard.table))
    metrics.chunkBytesDown.add(passage.answer.count)
    meter.settle(
      passage.reservation, up: payload.count, down: passage.answer.count,
      shares: .whole(linkGuard.table))
    let reply = try ChunkReply.decode(passage.answer)
    if let failure = reply.failure { throw failure.model() }
    return reply
  }

  private func connected() throws(CaravanError) -> any MessageBus {
    guard let bus else { throw .notConnected }
    return bus
  }

  private func results(_ reply: ExchangeReply, of operations: [Operation.Kind]) throws(CaravanError) -> [Result.Kind] {
    guard reply.results.count == operations.count else {
      throw CaravanError(
        .internalError, "the cloud answered \(operations.count) operations with \(reply.results.count) results")
    }
    let results = reply.results.map { $0.kind ?? .failure(Failure(.unknownResult)) }
    ownWrites.note(operations, results)
    return results
  }
}

extension CaravanError {
  static let notConnected = CaravanError(
    .networkNotConnected, "not connected to the cloud: what was written is kept and goes when the connection is back")

  static let begunAnew = CaravanError(
    .noOperationId, "the changes were begun on another state of this device: fetch the records, and begin anew")

  static let refusedByBroker = CaravanError(
    .networkNotConnected, "\(Admission.Refusal.reason), so nothing is sent: \(Admission.Refusal.remedy)")

  static let unknownResult = CaravanError(
    .internalError, "the cloud answered with a result this release does not know: update the agent")

  /// The operation was answered with the result of another kind.
  static func unexpected(_ result: Result.Kind, to operation: StaticString) -> CaravanError {
    if case .failure(let failure) = result { return failure.model() }
    return otherResult(to: operation)
  }
}

extension Operation.Kind {
  /// It says when edits were made.
  fileprivate var isPull: Bool { if case .pull = self { true } else { false } }

  fileprivate var isStamped: Bool {
    switch self {
    case .push(let push): push.mutations.contains { $0.stamp > 0 }
    case .upload(let part): part.mutations.contains { $0.stamp > 0 }
    default: false
    }
  }
}
