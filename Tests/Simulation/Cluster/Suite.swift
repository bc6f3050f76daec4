internal import CaravanCLIDriver
internal import CaravanChangeStream
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanNotifyDriver
internal import CaravanPushDriver
internal import CaravanQueryDriver
internal import CaravanRuntime
internal import CaravanSchemaDriver
internal import CaravanStorageDriver
internal import CaravanStore
internal import CaravanStoreSQLite
internal import CaravanSyncDriver
internal import CaravanTestKit

/// The whole suite and its devices in one cluster.
struct Suite: Sendable {
  let ground: Ground
  let scale: Scale
  /// Everything in the cloud, storage first.
  let services: [Part]
  let devices: [SimulatedDevice]
  let diffClients: [DiffClient]
  let guests = Guests()
  /// For looking at storage from outside.
  let vault = Vault()
  let keyring: Keyring
  let notifiers: Notifiers
  /// nil: nobody has anything pushed.
  let pushReceiver: PushReceiver?
  let breakage: Breakage?

  init(_ scale: Scale, on ground: Ground, breakage: Breakage?) throws {
    self.ground = ground
    self.scale = scale
    let keyring = try Keyring()
    self.keyring = keyring
    self.breakage = breakage
    let notifiers = Notifiers()
    self.notifiers = notifiers
    pushReceiver = scale.isPushed ? try PushReceiver(on: ground) : nil
    let partitions = Self.partitions(scale)
    let enrolled = scale.devices.map { EnrolledDevice($0.user, $0.name, in: .development) }
    let timing = scale.leases
    let pushes = try pushReceiver.map { try Self.pushes(ground, $0, scale) } ?? []
    services =
      [Self.storage(ground, vault, keyring, scale, breakage)]
      + ["sync-1", "sync-2"].map { name in
        Part(name, as: .holder(.sync), on: ground) {
          let bus = breakage?.wrap(sync: $0.bus) ?? $0.bus
          try await SyncService(bus: bus, host: $0.host, ticketKey: keyring.key).run()
        }
      }
      + [
        Part("schema", as: .holder(.schema), on: ground) {
          try await SchemaService(bus: $0.bus, host: $0.host, opensContainers: true).run()
        }
      ]
      + ["notify-1", "notify-2"].map { name in
        Part(name, as: .holder(.notify), on: ground) { life in
          let bus = breakage?.wrap(notify: life.bus, enrolled) ?? life.bus
          let service = NotifyService(
            bus: bus, host: life.host, ticketKey: keyring.key, timing: timing, partitions: partitions)
          notifiers.begins(service, as: name)
          try await service.run()
        }
      }
      + Self.queries(ground, scale, partitions, breakage) + pushes
    devices = scale.devices.map {
      SimulatedDevice(
        $0.name, of: $0.user, hasLargeChunks: scale.hasLargeChunks, isAmongUsers: scale.users.count > 1,
        on: ground, breakage: breakage, forgetting: scale.disk(of: $0.name, isDevice: true, breakage))
    }
    diffClients = scale.diffClients.map { DiffClient($0, of: scale.users[0], on: ground) }
  }

  /// Everything of a user lies in one partition: following the other sixty would only cost time.
  static func partitions(_ scale: Scale) -> [Partition] {
    let owners = scale.users.map { DatabaseID.system(UserID(unchecked: $0)) }
    return Set(owners.map { Partition(of: $0) }).sorted()
  }

  private static func queries(
    _ ground: Ground, _ scale: Scale, _ partitions: [Partition], _ breakage: Breakage?
  ) -> [Part] {
    (scale.isQueried ? ["query-1", "query-2"] : []).map { name in
      Part(name, as: .holder(.query), on: ground) { life in
        let bus = breakage?.wrap(query: life.bus) ?? life.bus
        try await QueryService(
          bus: bus, host: life.host, place: .directory(life.directory), timing: scale.leases, partitions: partitions,
          survivesPowerCut: false
        ).run()
      }
    }
  }

  private static func pushes(
    _ ground: Ground, _ receiver: PushReceiver, _ scale: Scale
  ) throws -> [Part] {
    let settings = PushSettings(key: try P256PrivateKey([UInt8](repeating: 5, count: P256PrivateKey.byteCount)))
    // Secrets of webhooks outlive the key of tokens.
    let key = try TicketKey([UInt8](repeating: 5, count: TicketKey.byteCount))
    return (1...scale.pushServices).map { number in
      Part("push-\(number)", as: .holder(.push), on: ground) { life in
        let lanes = [any OutboundLane](repeating: receiver, count: scale.pushLanes)
        try await PushService(settings, keys: key, bus: life.bus, host: life.host, lanes: lanes).run()
      }
    }
  }

  private static func storage(
    _ ground: Ground, _ vault: Vault, _ keyring: Keyring, _ scale: Scale, _ breakage: Breakage?
  ) -> Part {
    Part("storage", as: .holder(.storage), on: ground, forgetting: scale.disk(of: "storage", isDevice: false, breakage))
    {
      life in
      let feed = ChangeFeed()
      let observer = RecordingObserver(ground.recorder, next: feed, isCurrent: life.isCurrent)
      var options = StoreOptions.simulation(.directory(life.directory))
      options.tombstones = scale.tombstones
      (options.files, options.readersPerFile) = (scale.files, scale.readers)
      // What is synced matters only where the power fails.
      if let disk = life.disk { (options.durability, options.tap) = (StoreOptions(.memory).durability, disk) }
      let clock = TrustedClock(
        life.host.clock, life.time, file: "\(life.directory)/store-clock.json", log: life.host.log)
      let host = life.host.with(clock: clock)
      let main = try await StoreSQLite(options, host: host, observer: observer)
      let place = scale.hasMoves ? try await Self.secondPlace(beside: main, options, ground, life, host) : nil
      guard life.isCurrent() else {
        main.crash()
        place?.files.crash()
        return
      }
      let whole: any Store & AnyObject = place?.routed ?? main
      let store = breakage?.wrap(vault: whole) ?? whole
      vault.open(store, [main] + (place.map { [$0.files] } ?? []), place?.mover, clock)
      let served = breakage?.wrap(store, owner: UserID(unchecked: scale.users[0])) ?? store
      let bus = breakage?.wrap(storage: life.bus, keyring) ?? life.bus
      try await StorageService(
        store: served, feed: feed, bus: bus, host: host, ticketKey: keyring.key, moves: place?.mover, clock: clock
      ).run()
    }
  }

  /// Another store, on the same machine.
  private static func secondPlace(
    beside main: StoreSQLite, _ options: StoreOptions, _ ground: Ground, _ life: Part.Incarnation, _ host: Host
  ) async throws -> (files: StoreSQLite, routed: RoutedStore, mover: OwnerMover) {
    let bell = CommitBell()
    let observer = RecordingObserver(ground.recorder, next: bell, isElsewhere: true, isCurrent: life.isCurrent)
    var options = options
    options.location = .directory("\(life.directory)/\(secondStore)")
    let files = try await StoreSQLite(options, host: host, observer: observer)
    let routed = try await RoutedStore(home: main, [Neighbour(secondStore, files, observer: bell)], host: host)
    return (files, routed, OwnerMover(routed, host: host))
  }

  static let secondStore = "second"

  /// What all services counted under a name, over all their lives.
  func total(of counter: String) -> UInt64 {
    services.reduce(0) { sum, part in
      let series = part.machine.host.metrics.snapshot().families[counter]?.series.values.map { $0 } ?? []
      return series.reduce(sum) { if case .counter(let count) = $1 { $0 + count } else { $0 } }
    }
  }

  /// Ends everything that still runs, so that nothing of this cluster outlives it.
  func bury(_ deliveries: SimulatedTask<Void>) {
    for part in parts { crash(part, isLast: true) }
    guests.leave()
    deliveries.cancel()
    let all = parts + guests.all.map(\.part)
    try? ground.simulation.run(within: .seconds(600)) { all.allSatisfy(\.isGone) && deliveries.result != nil }
  }

  var parts: [Part] { services + people }
  /// Devices, and clients without one.
  var people: [Part] { devices.map(\.part) + diffClients.map(\.part) }

  /// - Parameter isLast: nobody comes after it.
  func crash(_ part: Part, isLast: Bool = false) {
    if let device = devices.first(where: { $0.name == part.name }) { return device.crash(isLast: isLast) }
    if let diffClient = diffClients.first(where: { $0.name == part.name }) { return diffClient.crash(isLast: isLast) }
    if part.name == "storage" { vault.crash() }
    part.crash(isLast: isLast)
  }
}

/// The key that every service reads when it starts.
final class Keyring: Sendable {
  private let held: Mutex<TicketKey>

  init() throws { held = Mutex(try Self.key(7)) }

  var key: TicketKey { held.withLock { $0 } }

  /// The key is lost: no token or ticket that it sealed counts any more.
  func renew(_ number: UInt8) {
    guard let key = try? Self.key(number) else { return }
    held.withLock { $0 = key }
  }

  private static func key(_ number: UInt8) throws -> TicketKey {
    try TicketKey(Array(repeating: number, count: TicketKey.byteCount))
  }
}

/// Holds the newest notify service of each name.
final class Notifiers: Sendable {
  private let held = Mutex<[String: NotifyService]>([:])

  func begins(_ service: NotifyService, as name: String) { held.withLock { $0[name] = service } }

  /// What they act for now, all of them together.
  var partitions: [Partition] { held.withLock { $0.values.flatMap(\.partitions) }.sorted() }
}

/// Holds the store of the storage process that is alive.
final class Vault: Sendable {
  private struct Holding {
    let store: any Store & AnyObject
    /// What it is made of.
    let files: [StoreSQLite]
    let mover: OwnerMover?
    let clock: TrustedClock
  }

  private let held = Mutex<Holding?>(nil)

  var store: (any Store & AnyObject)? { held.withLock { $0?.store } }
  var mover: OwnerMover? { held.withLock { $0?.mover } }

  var clock: TrustedClock? { held.withLock { $0?.clock } }

  func open(
    _ store: any Store & AnyObject, _ files: [StoreSQLite], _ mover: OwnerMover?, _ clock: TrustedClock
  ) {
    held.withLock { $0 = Holding(store: store, files: files, mover: mover, clock: clock) }
  }

  func crash() {
    let holding = held.withLock { held in
      defer { held = nil }
      return held
    }
    for store in holding?.files ?? [] { store.crash() }
  }
}
