internal import AgentCore
internal import Bus
internal import Model
internal import Runtime
internal import Wire

/// Carries operations to the cloud and their results back, in frames. Nothing here is retried: a table's session knows
/// what may be sent twice.
actor Exchanger {
  private let identity: DeviceIdentity
  private let metrics: SyncMetrics
  private let limiter = Limiter(permits: EngineLimits.exchangesInFlight, waiters: EngineLimits.exchangesWaiting)
  private var codec: FrameCodec
  private var bus: (any MessageBus)?
  private var epoch: UInt64 = 0

  init(identity: DeviceIdentity, metrics: SyncMetrics) {
    self.identity = identity
    self.metrics = metrics
    codec = FrameCodec(metrics: metrics.registry)
  }

  /// Nil: not connected.
  func use(_ bus: (any MessageBus)?) { self.bus = bus }

  /// Of the store whose operations come from now on.
  func use(epoch: UInt64) { self.epoch = epoch }

  /// One frame: a result for each operation, in order; refusals of single operations are results too.
  /// - Throws: why the frame as a whole got no answer.
  func exchange(_ operations: [Operation.Kind]) async throws(CaravanError) -> [Result.Kind] {
    precondition(!operations.isEmpty, "an empty frame")
    try await limiter.acquire()
    defer { limiter.release() }
    let payload = try codec.encode(Exchange(epoch: epoch, operations: operations.map { Operation(kind: $0) }))
    metrics.bytesUp.add(payload.count)
    let answer = try await connected().request(
      Message(payload), to: .exchange(user: identity.user, device: identity.device),
      deadline: EngineLimits.exchangeDeadline)
    metrics.bytesDown.add(answer.payload.count)
    return try results(codec.decode(answer.payload), of: operations)
  }

  /// Says which notifications were taken over, when nothing else is to be said. One that gets lost is repeated by the
  /// cloud, and so is the answer.
  func acknowledge(_ numbers: [UInt64]) async throws(CaravanError) {
    let home = Partition(of: DatabaseID(container: .system, owner: identity.user))
    for number in numbers {
      let ack = Message(AckNotification(number: number).encoded())
      metrics.bytesUp.add(ack.payload.count)
      try await connected().publish(ack, to: .acks(user: identity.user, device: identity.device, home))
    }
  }

  /// One message about chunks.
  func chunks(_ request: ChunkRequest, in partition: Partition) async throws(CaravanError) -> ChunkReply {
    let payload = request.encoded()
    metrics.chunkBytesUp.add(payload.count)
    let answer = try await connected().request(
      Message(payload), to: .chunks(user: identity.user, device: identity.device, partition),
      deadline: EngineLimits.chunkDeadline)
    metrics.chunkBytesDown.add(answer.payload.count)
    let reply = try ChunkReply.decode(answer.payload)
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
    return reply.results.map { $0.kind ?? .failure(Failure(.unknownResult)) }
  }
}

extension CaravanError {
  static let notConnected = CaravanError(
    .networkNotConnected, "not connected to the cloud: what was written is kept and goes when the connection is back")

  static let unknownResult = CaravanError(
    .internalError, "the cloud answered with a result this release does not know: update the agent")

  /// The operation was answered with the result of another kind.
  static func unexpected(_ result: Result.Kind, to operation: StaticString) -> CaravanError {
    if case .failure(let failure) = result { return failure.model() }
    return CaravanError(
      .internalError, "the cloud answered \(operation) with something else: update the agent or the cloud")
  }
}
