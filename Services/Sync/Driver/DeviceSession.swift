import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanWire

/// One frame of one device: its operations and their results. Nothing outlives the frame (MOB-53, MOB-54).
struct DeviceSession: Sendable {
  let device: EnrolledDevice
  var access: Access { Access(Principal(device)) }
  var user: UserID { device.user }
  /// As the broker has proven it: no message says it, and nothing of the other one is reached.
  var environment: CaravanModel.Environment { device.environment }
  /// Which life of the device's store speaks.
  let epoch: UInt64
  /// By how many milliseconds the device's clock is slow, as far as it told (E16).
  let clockError: Int64
  /// What the frame has paid for its operations already.
  let prepaid: Prepaid
  let cloud: Cloud
  /// Everything of one user lies here.
  let partition: Partition

  /// - Parameter clock: what the device's says, in Unix milliseconds; 0: nobody asked it.
  init(device: EnrolledDevice, epoch: UInt64, clock: UInt64 = 0, prepaid: Prepaid, cloud: Cloud) {
    self.device = device
    self.prepaid = prepaid
    self.epoch = epoch
    clockError = clock == 0 ? 0 : cloud.host.clock.wallTime.milliseconds - Int64(clamping: clock)
    self.cloud = cloud
    partition = Partition(of: .system(device.user))
  }

  /// One result an operation, in order. Operations on one zone run in order, zones side by side.
  func run(_ operations: [CaravanWire.Operation]) async -> [CaravanWire.Result] {
    await cloud.lanes.withLanes(of: device) { permits in await run(operations, permits) }
  }

  private func run(_ operations: [CaravanWire.Operation], _ permits: Limiter) async -> [CaravanWire.Result] {
    let lanes = Lanes.plan(operations.map(\.scope))
    let account = ReplyAccount(
      ReplyBudget(
        operations: operations.count, pulls: operations.count(where: \.isPull),
        setAside: operations.reduce(0) { $0 + $1.expectedReplyBytes }))
    var results = [CaravanWire.Result](repeating: CaravanWire.Result(), count: operations.count)
    guard lanes.count > 1 else {
      for (index, operation) in operations.enumerated() {
        results[index] = await result(of: operation, account, permits)
      }
      return results
    }
    await withTaskGroup(of: [(Int, CaravanWire.Result)].self) { group in
      var waiting = lanes[...]
      func startNext() {
        guard let lane = waiting.popFirst() else { return }
        group.addTask {
          var done: [(Int, CaravanWire.Result)] = []
          for index in lane { done.append((index, await result(of: operations[index], account, permits))) }
          return done
        }
      }
      for _ in 0..<SyncLimits.lanesInFlight { startNext() }
      while let done = await group.next() {
        for (index, result) in done { results[index] = result }
        startNext()
      }
    }
    return results
  }

  /// A refusal is this operation's alone: it never fails the frame.
  private func result(
    of operation: CaravanWire.Operation, _ account: ReplyAccount, _ permits: Limiter
  ) async -> CaravanWire.Result {
    do throws(CaravanError) {
      try cloud.features.check(operation.feature)
      try cloud.admission.pass(operation, of: device, prepaid)
      let kind = try await permits.withPermit { () async throws(CaravanError) in
        try await admit(to: operation)
        return try await performWatched(operation, account)
      }
      cloud.admission.charge(kind, of: operation, of: device)
      cloud.metrics.count(isRefused: false)
      return CaravanWire.Result(kind: kind)
    } catch {
      cloud.metrics.count(isRefused: true)
      cloud.host.log.debug(
        "operation refused", [.device: device, .code: error.code.rawValue, .error: error.message])
      return CaravanWire.Result(kind: .failure(Failure(cloud.refusals.told(error))))
    }
  }

  private var groups: GroupCalls { GroupCalls(session: self) }

  private func performWatched(
    _ operation: CaravanWire.Operation, _ account: ReplyAccount
  ) async throws(CaravanError) -> CaravanWire.Result.Kind {
    do { return try await perform(operation, account) } catch {
      cloud.admission.note(error, of: operation)
      throw error
    }
  }

  private func perform(
    _ operation: CaravanWire.Operation, _ account: ReplyAccount
  ) async throws(CaravanError) -> CaravanWire.Result.Kind {
    switch operation.kind {
    case .hello(let hello): return .hello(try await NotifierCalls(session: self).hello(hello))
    case .propose(let proposal): return .type(try await propose(proposal, account))
    case .push(let push): return .commit(try await self.push(push, account))
    case .settle(let settle): return .commit(try await self.settle(settle, account))
    case .pull(let pull): return .pull(try await self.pull(pull, account))
    case .subscribe(let list): return .done(try await NotifierCalls(session: self).subscribe(list))
    case .ack(let ack): return .done(try await NotifierCalls(session: self).acknowledge(ack))
    case .ticket(let request): return .ticket(try await ticket(request))
    case .drop(let drop): return .done(try await self.drop(drop))
    case .read(let read): return .records(try await self.read(read, account))
    case .zones(let list): return .zones(try await zones(list, account))
    case .createZone(let zone): return .zone(try await create(zone))
    case .whoAmI(let question): return .person(try await whoAmI(question))
    case .schema(let question): return .schema(try await schema(question, account))
    case .query(let question): return .query(try await query(question, account))
    case .subscriptions(let question): return .subscriptions(try await subscriptions(question, account))
    case .pushTargets(let question):
      return .pushTargets(try await PushTargetCalls(session: self).answer(question, account))
    case .lock(let lock): return .lock(try await groups.lock(lock))
    case .unlock(let unlock): return .done(try await groups.unlock(unlock))
    case .beginGroup(let begin): return .operation(try await groups.begin(begin))
    case .upload(let part): return .part(try await groups.upload(part))
    case .commitGroup(let commit): return .commit(try await groups.commit(commit, account))
    case .operation(let question): return .operation(try await groups.operation(question))
    case .removeOperation(let operation): return .done(try await groups.remove(operation))
    case .syncBegin(let begin): return .syncBegin(try await DiffExchange(session: self).begin(begin, account))
    case .syncContinue(let message): return .syncContinue(try await DiffExchange(session: self).continue(message))
    case .changedZones(let list): return .changedZones(try await changedZones(list, account))
    case nil: throw CaravanError(.invalidData, "an operation of a kind this release does not know: update the service")
    }
  }
}

extension CaravanWire.Operation {
  fileprivate var scope: OperationScope {
    switch kind {
    case .push(let push): .zone(container: push.container, zone: push.zone)
    case .settle(let settle): .zone(container: settle.container, zone: settle.zone)
    case .pull(let pull): .zone(container: pull.container, zone: pull.zone)
    case .drop(let drop): .zone(container: drop.container, zone: drop.zone)
    case .read(let read): .zone(container: read.container, zone: read.zone)
    case .createZone(let create): .zone(container: create.container, zone: create.zone)
    case .beginGroup(let begin): .zone(container: begin.container, zone: begin.zone)
    case .upload(let part): .zone(container: part.container, zone: part.zone)
    case .commitGroup(let commit): .zone(container: commit.container, zone: commit.zone)
    case .operation(let question): .zone(container: question.container, zone: question.zone)
    case .removeOperation(let operation): .zone(container: operation.container, zone: operation.zone)
    case .lock(let lock): .lock(container: lock.container)
    case .unlock(let unlock): .lock(container: unlock.container)
    case .syncBegin(let begin): .zone(container: begin.container, zone: begin.zone)
    case .syncContinue(let message): .zone(container: message.container, zone: message.zone)
    case .propose(let proposal): .types(container: proposal.container)
    case .schema(let question): .types(container: question.container)
    case .changedZones(let list): .zones(container: list.container)
    case .hello, .subscribe, .ack, .ticket, .zones, .whoAmI, .query, .subscriptions, .pushTargets, nil: .session
    }
  }

  fileprivate var isPull: Bool {
    if case .pull = kind { return true }
    if case .syncBegin = kind { return true }
    if case .query = kind { return true }
    return false
  }

  fileprivate var expectedReplyBytes: Int {
    guard case .push(let push) = kind else { return 0 }
    return ReplyBudget.estimate(push)
  }
}
