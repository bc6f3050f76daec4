import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// Carries out what `Containers` decides, and remembers registrations for a second.
final class ContainerHandler: Sendable {
  private struct Known {
    let container: CaravanModel.RegisteredContainer
    var read: Instant
  }

  private let store: ContainerStore
  private let confirming: ContainerStore
  private let host: Host
  private let isOpen: Bool
  private let known = Mutex(BoundedCache<ContainerID, Known>(capacity: SchemaLimits.cachedContainers))
  private let migrating = Limiter(permits: 1, waiters: ContainerHandler.waiters)
  /// One registration after the other, or those that come together would keep each other from it.
  private let registering = Limiter(permits: 1, waiters: ContainerHandler.waiters)
  private static let waiters = SchemaLimits.requestsInFlight * SchemaMethod.allCases.count

  /// - Parameters:
  ///   - confirming: for what is known already: answers soon or not at all.
  ///   - isOpen: whether a container is registered at its first use, in development.
  init(storage: StorageClient, confirming: StorageClient, host: Host, isOpen: Bool) throws(CaravanError) {
    store = try ContainerStore(storage)
    self.confirming = try ContainerStore(confirming)
    self.host = host
    self.isOpen = isOpen
  }

  // MARK: Use

  /// - Parameter registers: whether a container that is free becomes the asker's: they say something of it now.
  /// - Throws: as `Containers.admit`.
  func admit(
    _ asker: Asker, to database: DatabaseID, registers: Bool
  ) async throws(CaravanError) -> Standing {
    let id = database.container
    guard id != .system else { return Containers.standing(of: asker, in: Containers.found(id)) }
    let registration = try await registration(of: id)
    let hasTypes = registration == nil ? try await hasTypes(id) : false
    let facts = Containers.Facts(registration: registration, hasTypes: hasTypes, isOpen: isOpen)
    switch try Containers.admit(asker, to: id, in: database.environment, facts) {
    case .known(let container): return Containers.standing(of: asker, in: container)
    case .free:
      guard registers else { return .user }
      let new = try await register(Containers.firstUse(of: id, by: asker))
      return Containers.standing(of: asker, in: new)
    }
  }

  private func registration(of id: ContainerID) async throws(CaravanError) -> CaravanModel.RegisteredContainer? {
    if let found = find(id) {
      guard found.isDue else { return found.container }
      // Where storage does not answer, what is known counts for another while.
      guard let look = try? await confirming.look(id) else { return found.container }
      if let container = look.container {
        remember(container)
        return container
      }
      known.withLock { $0.remove(id) }
    }
    let container = try await look(id).container
    if let container { remember(container) }
    return container
  }

  private func find(_ id: ContainerID) -> (container: CaravanModel.RegisteredContainer, isDue: Bool)? {
    let now = host.clock.now
    return known.withLock { cache in
      guard var known = cache.value(for: id) else { return nil }
      guard now - known.read >= SchemaLimits.freshness else { return (known.container, false) }
      known.read = now
      cache.insert(known, for: id)
      return (known.container, true)
    }
  }

  private func remember(_ container: CaravanModel.RegisteredContainer) {
    let now = host.clock.now
    known.withLock { $0.insert(Known(container: container, read: now), for: container.id) }
  }

  private func hasTypes(_ id: ContainerID) async throws(CaravanError) -> Bool {
    for environment in CaravanModel.Environment.allCases {
      let types = try SchemaStore(storage: store.storage, container: id, environment: environment)
      if try await types.hasTypes() { return true }
    }
    return false
  }

  // MARK: Changes

  /// - Returns: the container as it is now: somebody else may have been first.
  private func register(_ new: CaravanModel.RegisteredContainer) async throws(CaravanError)
    -> CaravanModel.RegisteredContainer
  {
    try await change(new.id, name: new.name, owners: new.owner.map { [$0] } ?? []) { there in there ?? new }
  }

  /// - Parameters:
  ///   - owners: whose it is or will be.
  ///   - change: what the container shall be, from what it is.
  private func change(
    _ id: ContainerID, name: String, owners: [UserID],
    _ change: (CaravanModel.RegisteredContainer?) throws(CaravanError) -> CaravanModel.RegisteredContainer
  ) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await registering.withPermit { () async throws(CaravanError) in
      for _ in 0..<SchemaLimits.proposalAttempts {
        let look = try await look(id, name: name, owners: owners)
        let wanted = try change(look.container)
        guard wanted != look.container else { return wanted }
        if look.container == nil {
          guard look.named == nil || look.named == id else { throw Self.taken(name) }
          try Containers.checkRoom(all: look.all, owned: wanted.owner.map { look.owned[$0] ?? 0 })
        }
        guard try await store.save(wanted, after: look) else { continue }
        remember(wanted)
        host.log.info(
          look.container == nil ? "container registered" : "container changed",
          [.container: wanted.id, .user: wanted.owner.map(\.text) ?? "operator", .count: wanted.developers.count])
        return wanted
      }
      throw CaravanError(
        .serverBusy, "others are registering containers as well: ask again", retryAfterMilliseconds: 100)
    }
  }

  // MARK: What was there before

  private func look(
    _ id: ContainerID, name: String? = nil, owners: [UserID] = []
  ) async throws(CaravanError) -> ContainerStore.Look {
    let first = try await store.look(id, name: name, owners: owners)
    guard !first.isMigrated else { return first }
    try await migrating.withPermit { () async throws(CaravanError) in
      if try await !store.look(id).isMigrated { try await migrate() }
    }
    return try await store.look(id, name: name, owners: owners)
  }

  /// Registers what a release without registrations has left, before anything is answered of any container. A store
  /// that was restored from such a release's backup comes here again.
  private func migrate() async throws(CaravanError) {
    let found = try await containersWithTypes()
    for start in stride(from: 0, to: found.count, by: SchemaLimits.containersPerCommit) {
      let some = Array(found[start..<min(start + SchemaLimits.containersPerCommit, found.count)])
      var isDone = false
      for _ in 0..<SchemaLimits.proposalAttempts where !isDone { isDone = try await store.adopt(some) }
      guard isDone else {
        throw CaravanError(
          .serverBusy, "containers are being registered: ask again", retryAfterMilliseconds: 100)
      }
    }
    try await store.noteMigrated()
    if !found.isEmpty {
      host.log.info("containers of a release without registrations are the operator's", [.count: found.count])
    }
  }

  private func containersWithTypes() async throws(CaravanError) -> [ContainerID] {
    let storage = store.storage
    let partitions = Partition.all
    var found: Set<ContainerID> = []
    for start in stride(from: 0, to: partitions.count, by: SchemaLimits.partitionsInFlight) {
      let some = partitions[start..<min(start + SchemaLimits.partitionsInFlight, partitions.count)]
      let answers = await withTaskGroup(of: Swift.Result<[ContainerID], CaravanError>.self) { group in
        for partition in some {
          group.addTask {
            do throws(CaravanError) { return .success(try await Self.containers(in: partition, storage)) } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for answer in answers { found.formUnion(try answer.get()) }
    }
    return found.sorted()
  }

  private static func containers(
    in partition: Partition, _ storage: StorageClient
  ) async throws(CaravanError) -> [ContainerID] {
    let zones = try await storage.zones(named: SchemaRecords.zone, in: partition)
    guard zones.count < SchemaLimits.zonesListed else {
      throw CaravanError(
        .unavailable,
        "partition \(partition) has \(zones.count) zones called '\(SchemaRecords.zone)', more than storage lists: "
          + "containers of before cannot be registered")
    }
    var found: [ContainerID] = []
    for zone in zones {
      let database = try required(zone.zone?.database, "database").model()
      if database.owner == nil, database.container != .system { found.append(database.container) }
    }
    return found
  }
}

// MARK: The operator

extension ContainerHandler {
  func answer(_ request: ContainersRequest) async throws(CaravanError) -> ContainersReply {
    guard !request.name.isEmpty else { return try await list(after: request.after) }
    try Containers.check(name: request.name)
    if request.create { return try await reply(create(request)) }
    // Those of before are registered first, and have their names as ids.
    let some = try await look(Containers.id(for: request.name) { _ in 0 }).container
    guard let id = try await store.id(named: request.name) ?? some?.id else { throw Self.unknown(request.name) }
    let (allowed, removed) = (request.allowDeveloper, request.removeDeveloper)
    let (invited, uninvited) = (request.invite, request.uninvite)
    let container = try await change(id, name: request.name, owners: []) { (there) throws(CaravanError) in
      guard var container = there else { throw Self.unknown(request.name) }
      if !allowed.isEmpty { container = try Containers.allow(UserID(allowed), in: container) }
      if !removed.isEmpty { container = try Containers.remove(UserID(removed), from: container) }
      if !invited.isEmpty { container = try Containers.invite(UserID(invited), to: container) }
      if !uninvited.isEmpty { container = try Containers.uninvite(UserID(uninvited), from: container) }
      return container
    }
    return reply(container)
  }

  private func create(_ request: ContainersRequest) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    let owner = try UserID(request.owner)
    let id =
      if let id = try await store.id(named: request.name) { id } else {
        Containers.id(for: request.name) { host.random.below($0) }
      }
    let before = try await look(id).container?.owner
    return try await change(id, name: request.name, owners: [owner] + [before].compactMap { $0 }) {
      (there) throws(CaravanError) in
      guard let there else {
        return RegisteredContainer(
          id: id, name: request.name, owner: owner, isForMembers: request.membersOnly)
      }
      guard Containers.isUnconfirmed(there) else {
        throw Self.taken(there.name)
      }
      return Containers.confirmed(there, owner: owner, isForMembers: request.membersOnly)
    }
  }

  private func list(after: String) async throws(CaravanError) -> ContainersReply {
    _ = try await look(.system)
    var reply = ContainersReply()
    var bytes = 0
    for container in try await store.all() where Containers.key(of: container.name) > Containers.key(of: after) {
      let wire = CaravanWire.RegisteredContainer(container)
      bytes += wire.encoded().count
      guard reply.containers.count < SchemaLimits.containersPerPage, bytes <= SchemaLimits.listBytes else {
        reply.more = true
        return reply
      }
      reply.containers.append(wire)
    }
    return reply
  }

  private func reply(_ container: CaravanModel.RegisteredContainer) -> ContainersReply {
    ContainersReply(containers: [CaravanWire.RegisteredContainer(container)])
  }

  private static func taken(_ name: String) -> CaravanError {
    CaravanError(
      .objectExists, "there is a container '\(name)' already (case does not count): choose another name")
  }

  private static func unknown(_ name: String) -> CaravanError {
    CaravanError(.noSuchObject, "there is no container '\(name)': caravan container list")
  }
}
