import CaravanAccess
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

/// What a device tells the notifier, and hears of it when it comes.
struct NotifierCalls: SessionPart {
  let session: DeviceSession

  private var user: UserID { device.user }
  private var environment: CaravanModel.Environment { device.environment }

  /// Attaches the device to its notifier. The list is read from the store, so that tokens can be told by their zones;
  /// a notifier that does not answer costs pushes, not the session: it notifies again once it is back.
  func hello(_ hello: Hello) async throws(CaravanError) -> HelloResult {
    let damage = await damage()
    var result = HelloResult(
      serverTimeMilliseconds: UInt64(clamping: cloud.host.clock.wallTime.milliseconds),
      maxFrameBytes: UInt32(Limits.frameBytes), wanted: wanted(of: damage.chunks),
      wantedRecords: wanted(of: damage.bodies))
    let stored = try await storedList()
    guard let stored, stored.record.epoch == epoch, stored.record.list.generation == hello.generation else {
      result.resubscribe = stored != nil || hello.generation != 0
      return result
    }
    let list = stored.record.list
    let seen = list.subscriptions.indices.map { index in
      index < hello.tokens.count ? position(of: hello.tokens[index], in: list.subscriptions[index]) : Self.beginning
    }
    result.resubscribe = await attach(list, seen: seen)?.resubscribe ?? false
    return result
  }

  private func damage() async -> DamageReply {
    do throws(CaravanError) { return try await cloud.storage.damage(of: user) } catch {
      cloud.host.log.debug("storage does not say what it has lost", [.error: error.description])
      return DamageReply()
    }
  }

  /// What the cloud's disk has lost of the user's objects, as much as one device sends at once. Any device that has the
  /// bytes may bring them; who does not hears of it again with the next hello. Of more than that each hello has another
  /// part, so that what no device has does not stand before the rest.
  private func wanted(of damaged: [ChunkDamage]) -> [WantedChunks] {
    var wanted: [String: [UInt8]] = [:]
    let own = damaged.compactMap { chunk -> (app: ContainerID, hash: [UInt8])? in
      guard let app = app(of: chunk.database) else { return nil }
      return (app, chunk.hash)
    }
    for chunk in some(of: own, atMost: SyncLimits.chunksWanted) { wanted[chunk.app.text, default: []] += chunk.hash }
    return wanted.sorted { $0.key < $1.key }.map { WantedChunks(container: $0.key, hashes: $0.value) }
  }

  /// The same of records, in zones that devices have copies of.
  private func wanted(of damaged: [BodyDamage]) -> [WantedRecords] {
    let own = damaged.filter { body in
      body.zone.map { app(of: $0.database) != nil && $0.zone != DefaultZone.name } ?? false
    }
    var wanted: [WantedRecords] = []
    for body in some(of: own, atMost: SyncLimits.recordsWanted) {
      let (container, zone) = (body.zone?.database?.container ?? "", body.zone?.zone ?? "")
      let record = DamagedEntry(name: body.name, version: body.version)
      if let index = wanted.firstIndex(where: { $0.container == container && $0.zone == zone }) {
        wanted[index].records.append(record)
      } else {
        wanted.append(WantedRecords(container: container, zone: zone, records: [record]))
      }
    }
    return wanted
  }

  /// nil: it is none of this device's databases.
  private func app(of reference: DatabaseRef?) -> ContainerID? {
    guard let database = try? reference?.model(), database.environment == environment, database.owner == user,
      database.shard == 0, (try? session.access.container(database.container.text)) != nil
    else { return nil }
    return database.container
  }

  private func some<Item>(of all: [Item], atMost count: Int) -> ArraySlice<Item> {
    let first = all.count > count ? Int(cloud.host.random.below(UInt64(all.count))) : 0
    return (all[first...] + all[..<first]).prefix(count)
  }

  /// Durable before it is answered; the notifier also learns of it from the change stream. A list that comes late,
  /// after its successor, changes nothing.
  func subscribe(_ subscribe: Subscribe) async throws(CaravanError) -> Empty {
    let record = SubscriptionRecord(list: try list(subscribe), epoch: epoch)
    if try await save(record) { _ = await attach(record.list, seen: []) }
    return Empty()
  }

  private func list(_ subscribe: Subscribe) throws(CaravanError) -> SubscriptionList {
    guard subscribe.subscriptions.count <= Limits.subscriptionsPerDevice else {
      throw CaravanError(
        .limitExceeded,
        "a device has \(subscribe.subscriptions.count) subscriptions: the limit is \(Limits.subscriptionsPerDevice)")
    }
    var list = SubscriptionList(generation: subscribe.generation)
    for wanted in subscribe.subscriptions {
      let zone = try zone(wanted.container, wanted.zone)
      try DefaultZone.refuse(zone, "keeps no changes to be told of")
      list.subscriptions.append(
        Subscription(
          zone: ZoneRef(zone), periodMilliseconds: wanted.periodMilliseconds, toldOnly: wanted.toldOnly,
          delayToleranceMilliseconds: wanted.delayToleranceMilliseconds))
    }
    return list
  }

  /// - Returns: false when the store has a later list.
  private func save(_ record: SubscriptionRecord) async throws(CaravanError) -> Bool {
    let zone = try SubscriptionRecord.zone(of: user, in: environment)
    for _ in 0..<SyncLimits.subscribeAttempts {
      let stored = try await storedList()
      if let stored, !record.succeeds(stored.record) { return stored.record.list == record.list }
      let base: Base = stored.map { .version($0.version) } ?? .absent
      let result = try await cloud.storage.commit(to: zone, [record.save(for: device, over: base)])
      if case .applied(let outcomes, _, _, _) = result, case .accepted? = outcomes.first { return true }
    }
    throw CaravanError(.serverBusy, "the list is being changed by another request of this device: send it again")
  }

  func acknowledge(_ ack: AckNotification) async throws(CaravanError) -> Empty {
    // Nobody waits for the notifier: what it does not hear was taken, it sends again.
    try await cloud.bus.publish(ack, to: .acks(device, partition))
    return Empty()
  }

  private func notifier(_ method: String) -> Subject { .partitioned(.notify, partition, method: method) }

  private func storedList() async throws(CaravanError) -> (record: SubscriptionRecord, version: Seq)? {
    do {
      let zone = try SubscriptionRecord.zone(of: user, in: environment)
      guard let entry = try await cloud.storage.fetch([device.token], from: zone).first, !entry.isDeleted else {
        return nil
      }
      return (try SubscriptionRecord(entry), entry.version)
    } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return nil
    }
  }

  private static let beginning = CaravanModel.ChangePosition(incarnation: 0, seq: 0)

  /// The beginning for a token that is none of this zone's: the device is told of a change once too often.
  private func position(of token: [UInt8], in subscription: Subscription) -> CaravanModel.ChangePosition {
    guard let zone = try? subscription.zone?.model(), let position = try? cloud.tokens.open(token, of: zone) else {
      return Self.beginning
    }
    return position
  }

  /// - Returns: nil when the notifier did not answer.
  private func attach(_ list: SubscriptionList, seen: [CaravanModel.ChangePosition]) async -> AttachReply? {
    let request = AttachRequest(
      device: device.text, generation: list.generation, seen: seen.map(\.seq), list: list,
      lives: seen.map(\.incarnation))
    do {
      return try await cloud.bus.call(request, to: notifier("attach"), deadline: SyncLimits.notifyDeadline)
    } catch {
      cloud.host.log.warning(
        "the notifier did not take a device", [.device: device, .partition: partition, .error: error.description])
      return nil
    }
  }
}
