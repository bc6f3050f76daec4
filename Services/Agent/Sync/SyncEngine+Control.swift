public import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
public import CaravanModel
internal import CaravanRuntime

extension SyncEngine: SyncControl {
  public func registrationsChanged(of table: TableID) async {
    do throws(CaravanError) {
      try await loadRegistrations()
      if schedule.isRegistered(Key(table, .write)) { await noteRows(of: table) }
      await askForWhatIsLacking(of: table)
    } catch {
      host.log.warning("registrations cannot be read", [.table: table, .error: error.description])
    }
  }

  public func tableDropped(_ table: TableID) async {
    schedule.forget(table)
    meter.forget(table)
    for key in [Key(table, .read), Key(table, .write)] {
      for answer in waiters.take(key) {
        answer.fulfil(.failure(CaravanError(.tableNotFound, "\(table) was dropped meanwhile")))
      }
    }
    await registrationsChanged(of: table)
  }

  public func syncNow(_ table: TableID, write: Bool, read: Bool) async throws(CaravanError) {
    guard try await store.isSynced(table) else {
      throw CaravanError(.invalidData, "\(table) is local only: have it synced first")
    }
    let keys = [(read, Direction.read), (write, Direction.write)].filter(\.0).map { Key(table, $0.1) }
    try await awaitConnection(else: notPermitted(table))
    let now = moment
    var answers: [SyncWaiters.Answer] = []
    for key in keys {
      answers.append(try waiters.add(key))
      schedule.demand(key, at: now)
    }
    signal.raise()
    // What was demanded may use any link until it has ended, so the demand ends with the last of them.
    var outcomes: [Swift.Result<Void, CaravanError>] = []
    for answer in answers { outcomes.append(try await answer.wait()) }
    for outcome in outcomes { try outcome.get() }
  }

  public func reset(
    _ table: TableID, _ choice: ResetChoice, discardingUnsent: Bool
  ) async throws(CaravanError) {
    guard !schedule.hasPlan(table), Direction.allCases.allSatisfy({ !schedule.isRunning(Key(table, $0)) }) else {
      throw CaravanError(.serverBusy, "\(table) is being synced: retry in a moment", retryAfterMilliseconds: 500)
    }
    // Nothing of it may begin while the store starts over.
    for direction in Direction.allCases { _ = schedule.begin(Key(table, direction)) }
    let outcome: Swift.Result<Void, CaravanError>
    do throws(CaravanError) {
      outcome = .success(try await store.reset(table, choice, discardingUnsent: discardingUnsent))
    } catch {
      outcome = .failure(error)
    }
    for direction in Direction.allCases { endReservation(Key(table, direction)) }
    putBack(Key(table, .read))
    await noteRows(of: table)
    try outcome.get()
  }

  public func cloud(asReadOf table: TableID?) async throws(CaravanError) -> any CloudControl {
    if let table, !schedule.permits(Key(table, .read), isDemanded: false) { throw notPermitted(table) }
    do throws(CaravanError) { try await awaitConnection(else: .mayNotAsk) } catch { throw error.asAnswerToQuestion }
    return CloudCalls(dependencies: dependencies, device: identity.device)
  }

  func endReservation(_ key: Key) { schedule.endReservation(key, isAwaited: waiters.isAwaited(key), at: moment) }

  public func resetDevice() async { if await admission.clear() { attemptNow.raise() } }

  /// A connection that is just being made is waited for; none is not.
  /// - Parameter refusal: why not, where nothing may be sent over this link.
  func awaitConnection(else refusal: CaravanError) async throws(CaravanError) {
    guard schedule.permitsSpeaking else { throw refusal }
    guard !schedule.isConnected else { return }
    guard admission.refusal == nil else { throw .refusedByBroker }
    try await connection.wait(host.clock)
  }

  public func status() -> SyncStatus {
    SyncStatus(
      schedule, of: identity, unreachable: connection.failure, refusal: admission.refusal, meter: meter,
      metrics: host.metrics)
  }
}

extension SyncStatus {
  fileprivate init(
    _ schedule: SyncSchedule, of identity: DeviceIdentity, unreachable: CaravanError?, refusal: Admission.Refusal?,
    meter: Meter, metrics: MetricsRegistry
  ) {
    self.init(
      device: identity.device.device.text, user: identity.user.text, link: schedule.link,
      isLinkAutomatic: schedule.isLinkAutomatic, isConnected: schedule.isConnected,
      unreachable: schedule.permitsSpeaking ? unreachable?.message : nil, refusal: refusal,
      atWork: schedule.tablesAtWork, refusedByDisk: schedule.diskRefusals, counters: Self.counters(metrics),
      policy: schedule.policy,
      spent: Dictionary(uniqueKeysWithValues: schedule.policy.dailyBytes.keys.map { ($0, meter.spent(over: $0)) }),
      usage: meter.accounts.map { Usage(account: $0.0, bytes: $0.1) }, totals: meter.totals,
      deviceTotal: meter.deviceTotal)
  }

  /// In the order of their names.
  fileprivate static func counters(_ metrics: MetricsRegistry) -> [Counter] {
    var counters: [Counter] = []
    for family in metrics.snapshot().families.values where family.kind == .counter {
      for (labels, value) in family.series {
        guard case .counter(let count) = value else { continue }
        let text = labels.pairs.map { "\($0.label.rawValue)=\($0.value)" }.joined(separator: ",")
        counters.append(Counter(name: text.isEmpty ? family.name : "\(family.name){\(text)}", value: count))
      }
    }
    return counters.sorted { $0.name < $1.name }
  }
}
