package import CaravanBus
package import CaravanCrypto
package import CaravanModel
package import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

/// Writes down once what releases without a registry of aliases derived: of every device that is enrolled, and its
/// user, in every container of development: of production nothing was derived. Afterwards nobody needs the key that
/// they came from.
package final class AliasMigration: Service {
  private let registry: AliasRegistry
  private let storage: StorageClient
  private let host: Host
  private let outage: Outage
  private let stop = Latch()

  /// - Parameter aliasKey: that aliases came from; nil: there is none, or it is lost.
  package init(
    bus: any MessageBus, host: Host, ticketKey: any TicketKeys, aliasKey: TicketKey?
  ) {
    let legacy = aliasKey ?? ticketKey.ring.original
    storage = StorageClient(bus: bus, host: host, writer: Cloud.writer)
    registry = AliasRegistry(AliasStore(storage: storage), legacy: legacy, host: host)
    self.host = host
    outage = Outage(
      host, "the aliases of before cannot be written down yet: they are derived until then",
      over: "the aliases of before are written down: new ones are random, and alias.key is needed no more")
  }

  /// Looks again and again, because a store that is restored may be from before.
  package func run() async {
    while !stop.isOpen && !Task.isCancelled {
      do throws(CaravanError) {
        try await migrate()
        outage.ended()
        await pause(SyncLimits.aliasMigrationLooks)
      } catch {
        outage.lasts(error)
        await pause(SyncLimits.aliasMigrationRest)
      }
    }
  }

  package func shutDown() { stop.open() }

  /// Does what is left to do; may be cut off anywhere, and done by many at once.
  package func migrate() async throws(CaravanError) {
    guard try await !registry.store.isMigrated() else { return }
    let containers = try await containers()
    let list = DeviceList(storage)
    var (devices, next) = try await list.page(after: nil)
    var count = 0
    while true {
      for container in containers where !devices.isEmpty {
        let place = AliasStore.Place(container: container, environment: .development)
        _ = try await registry.settle(devices, at: place)
      }
      count += devices.count
      guard let start = next else { break }
      (devices, next) = try await list.page(after: start)
    }
    try await registry.store.noteMigrated()
    host.log.info("the aliases of before are written down", [.count: count * containers.count])
  }

  /// Those that have a type of records in their public database's list, as every container in use has.
  private func containers() async throws(CaravanError) -> [ContainerID] {
    var found: Set<ContainerID> = []
    for partition in Partition.all {
      let heads = try await storage.zones(named: Self.typesZone, in: partition)
      guard heads.count < SyncLimits.zonesListed else {
        throw CaravanError(
          .unavailable, "partition \(partition) has \(heads.count) zones called '\(Self.typesZone)', which is too many")
      }
      for head in heads {
        let database = try required(head.zone?.database, "database").model()
        guard database.environment == .development, database.container != .system else { continue }
        found.insert(database.container)
      }
    }
    return found.sorted()
  }

  /// Where the registry of types has those of a container.
  private static let typesZone = "schema"

  private func pause(_ time: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.host.clock.sleep(for: time) }
      group.addTask { await self.stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}
