internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// A table's part, or the device's own, in a frame.
struct FrameItem: Sendable {
  enum Role: Sendable {
    case controlMessages(ControlMessages.Batch, generation: UInt64)
    case push(TablePush)
    case pull(TablePull)
  }

  var role: Role
  let operations: [Operation.Kind]
  /// Whom the end of the session answers.
  var waiters: [SyncWaiters.Answer] = []

  var transport: FragmentTransport? {
    switch role {
    case .controlMessages: nil
    case .push(let push): push.transport
    case .pull(let pull): pull.transport
    }
  }
}

/// The frames of one transfer: each goes as soon as it is full, and each table in it goes on by itself from there.
struct TransferFrames: Sendable {
  let engine: SyncEngine
  /// The link lets frames pass whole. Elsewhere each item has its own, so that what breaks takes no other's answer with
  /// it.
  let isUnbroken: Bool

  func carry(_ items: [FrameItem]) async {
    let loads = items.map { item in
      let loads = item.operations.map { FramePacking.Load($0) }
      return FramePacking.Load(bytes: loads.reduce(0) { $0 + $1.bytes }, isPull: loads.contains(where: \.isPull))
    }
    let frames = isUnbroken ? FramePacking.frames(loads).map { Array(items[$0]) } : items.map { [$0] }
    await withDiscardingTaskGroup { group in
      for (index, frame) in frames.enumerated() {
        group.addTask { await carry(frame, isLast: index == frames.count - 1) }
      }
    }
  }

  private func carry(_ frame: [FrameItem], isLast: Bool) async {
    let answer: Swift.Result<[Result.Kind], CaravanError>
    do throws(CaravanError) {
      answer = .success(
        try await engine.exchanger.exchange(
          frame.flatMap(\.operations), through: frame.compactMap { $0.transport?.linkGuard },
          by: frame.lazy.compactMap(\.transport).first))
    } catch {
      answer = .failure(error)
    }
    if isLast { await engine.transferAnswered() }
    // What is too much for a budget together may not be alone, and a link too expensive for one table only.
    if case .failure(let error) = answer, error.code == .networkNotPermitted, frame.count > 1 {
      return await withDiscardingTaskGroup { group in
        for item in frame { group.addTask { await carry([item], isLast: false) } }
      }
    }
    await withDiscardingTaskGroup { group in
      var first = 0
      for item in frame {
        let range = first..<(first + item.operations.count)
        first = range.upperBound
        group.addTask { await engine.finish(item, answer.map { Array($0[range]) }) }
      }
    }
  }
}

extension FrameItem {
  /// Control messages of a device with this list, each table of which stands where the store says.
  init(
    _ batch: ControlMessages.Batch, _ list: CaravanAgentCore.SubscriptionList, _ store: any SyncStore
  ) async {
    var tokens: [[UInt8]] = []
    if batch.hello {
      for item in list.items { tokens.append((try? await store.syncState(of: item.table).token) ?? []) }
    }
    self.init(
      role: .controlMessages(batch, generation: list.generation), operations: batch.operations(list, tokens: tokens))
  }
}

extension ControlMessages.Batch {
  /// - Parameter tokens: where each table of the list stands, in its order; needed for a hello alone.
  func operations(_ list: CaravanAgentCore.SubscriptionList, tokens: [[UInt8]]) -> [Operation.Kind] {
    var operations: [Operation.Kind] = []
    if hello {
      let software = "caravan-agent/\(Release.version)"
      operations.append(.hello(Hello(software: software, generation: list.generation, tokens: tokens)))
    }
    if subscribe {
      let items = list.items.map {
        ZoneSubscription(
          container: $0.table.app.text, zone: $0.table.name, periodMilliseconds: $0.periodMilliseconds,
          toldOnly: $0.isToldOnly, delayToleranceMilliseconds: $0.toleranceMilliseconds)
      }
      operations.append(.subscribe(Subscribe(generation: list.generation, subscriptions: items)))
    }
    return operations + acks.map { .ack(AckNotification(number: $0)) }
  }
}
