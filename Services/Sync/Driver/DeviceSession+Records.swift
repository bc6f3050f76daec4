import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

// Records and zones by name, for clients that keep no copy of a zone.
extension DeviceSession {
  /// Linearizable (CK-22): what was acknowledged before is in the answer. As many as fit what is left of the frame.
  func read(_ read: ReadRecords, _ account: ReplyAccount) async throws(CaravanError) -> RecordsResult {
    let zone = try zone(read.container, read.zone, read.database)
    try PushCheck.batch(read.names)
    let found = try await fetch(read.names, fields: read.fields, from: zone)
    let entries = try await ofType(read.type, try await visible(found, in: zone.database), in: zone.database)
    let sizes = entries.map { Outcome(verdict: .read, server: $0).copyBytes }
    let needed = sizes.reduce(0, +)
    guard let granted = account.settle(taken: 0, needed: needed, least: sizes.first ?? 0) else {
      throw Refusal.replyFull
    }
    var (used, count) = (0, 0)
    while count < entries.count, used + sizes[count] <= granted {
      used += sizes[count]
      count += 1
    }
    let answered = count < entries.count ? read.names.firstIndex(of: entries[count].name) ?? 0 : read.names.count
    return RecordsResult(entries: Array(entries.prefix(count)), answered: UInt32(answered))
  }

  /// In the order of `names`. Of the default zone each shard is asked for its own, all at once.
  private func fetch(
    _ names: [String], fields: [UInt32], from zone: ZoneID
  ) async throws(CaravanError) -> [CaravanWire.Entry] {
    guard zone.name == DefaultZone.name else {
      return try await cloud.storage.fetch(names, fields: fields, from: zone).map { CaravanWire.Entry($0) }
    }
    let count = try await cloud.schema.shardsSaid(of: zone.database)
    let byShard = Dictionary(grouping: names) { DefaultZone.shard(of: $0, among: count) }
    let answers = await withTaskGroup(of: Swift.Result<[CaravanModel.Entry], CaravanError>.self) { group in
      for (shard, names) in byShard {
        group.addTask {
          do throws(CaravanError) {
            let home = try ZoneID(zone.database.shard(shard), zone.name)
            return .success(try await cloud.storage.fetch(names, fields: fields, from: home))
          } catch {
            return .failure(error)
          }
        }
      }
      var answers: [Swift.Result<[CaravanModel.Entry], CaravanError>] = []
      for await answer in group { answers.append(answer) }
      return answers
    }
    var found: [String: CaravanWire.Entry] = [:]
    for answer in answers { for entry in try answer.get() { found[entry.name] = CaravanWire.Entry(entry) } }
    return names.compactMap { found[$0] }
  }

  func zones(_ list: ListZones, _ account: ReplyAccount) async throws(CaravanError) -> ZonesResult {
    let database = try database(list.container, list.database)
    var states: [ZoneState] = []
    for head in try await cloud.storage.zones(of: database) where access.isZone(head.zone?.zone ?? "", in: database) {
      states.append(ZoneState(zone: head.zone?.zone ?? "", seq: head.seq, incarnation: head.incarnation))
    }
    let bytes = states.reduce(0) { $0 + SyncLimits.outcomeBytes + $1.zone.utf8.count }
    guard account.settle(taken: 0, needed: bytes) else { throw Refusal.replyFull }
    return ZonesResult(zones: states)
  }

  func create(_ create: CreateZone) async throws(CaravanError) -> ZoneState {
    let zone = try zone(create.container, create.zone)
    try DefaultZone.refuse(zone, "is always there")
    let head = try await cloud.storage.create(zone, writer: device.text)
    return ZoneState(zone: zone.name, seq: head.seq, incarnation: head.incarnation)
  }

  func whoAmI(_ question: WhoAmI) async throws(CaravanError) -> Person {
    let database = try database(question.container, .private)
    return Person(user: try await cloud.aliases.alias(of: device, in: database.container).user)
  }

  // MARK: Databases and zones

  func database(_ container: String, _ scope: DatabaseScope) throws(CaravanError) -> DatabaseID {
    try access.database(container, isPublic: scope == .public)
  }

  func zone(_ container: String, _ name: String, _ scope: DatabaseScope = .private) throws(CaravanError) -> ZoneID {
    try access.zone(name, in: database(container, scope))
  }

  /// Where a record lies: in the zone, or in its shard of the default zone (CK-10).
  /// - Parameter isLook: nothing will be written there, so nothing is said of shards.
  func home(of record: String, in zone: ZoneID, isLook: Bool = false) async throws(CaravanError) -> ZoneID {
    guard zone.name == DefaultZone.name else { return zone }
    let count =
      isLook
      ? try await cloud.schema.shardsSaid(of: zone.database)
      : try await cloud.schema.shards(of: zone.database, for: user)
    let shard = DefaultZone.shard(of: record, among: count)
    return try ZoneID(zone.database.shard(shard), zone.name)
  }

  /// Who the device is to those who can see its writes: in a database that is not its user's alone, nobody they know
  /// from elsewhere (CK-02).
  func writer(in database: DatabaseID) async throws(CaravanError) -> String {
    guard database.owner == nil else { return device.text }
    return try await cloud.aliases.alias(of: device, in: database.container).writer
  }
}
