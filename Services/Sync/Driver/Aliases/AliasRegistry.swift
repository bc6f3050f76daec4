package import CaravanCrypto
package import CaravanModel
package import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTokens

/// Which aliases users and devices have (CK-02): made at their first use in a container, and the same ever after,
/// because public records are their creator's by them. Storage has them; this remembers what it was asked.
package final class AliasRegistry: Sendable {
  private struct Key: Hashable {
    let device: EnrolledDevice
    let container: ContainerID
  }

  private struct Known {
    let alias: Alias
    var confirmed: Instant
  }

  let store: AliasStore
  private let host: Host
  private let legacy: UserAlias?
  private let known = Mutex(BoundedCache<Key, Known>(capacity: SyncLimits.aliasesKnown))

  /// - Parameter legacy: the key from which releases of before derived aliases; nil: it is lost, or there was none.
  package init(_ store: AliasStore, legacy: TicketKey?, host: Host) {
    self.store = store
    self.host = host
    self.legacy = legacy.map { UserAlias(key: $0) }
  }

  /// What was asked before is confirmed now and then, by one who asks while others go on with it: a restored store may
  /// lack it, and gets it back, so that no user is called otherwise because of the restore.
  package func alias(of device: EnrolledDevice, in container: ContainerID) async throws(CaravanError) -> Alias {
    let key = Key(device: device, container: container)
    guard let (known, isDue) = find(key) else { return try await settle(key, keeping: nil) }
    guard isDue else { return known }
    do { return try await settle(key, keeping: known) } catch {
      host.log.debug("an alias could not be confirmed", [.device: device, .error: error])
      return known
    }
  }

  private func find(_ key: Key) -> (alias: Alias, isDue: Bool)? {
    let now = host.clock.now
    return known.withLock { cache in
      guard var known = cache.value(for: key) else { return nil }
      guard now - known.confirmed >= SyncLimits.aliasFreshness else { return (known.alias, false) }
      known.confirmed = now
      cache.insert(known, for: key)
      return (known.alias, true)
    }
  }

  private func settle(_ key: Key, keeping known: Alias?) async throws(CaravanError) -> Alias {
    let place = AliasStore.Place(container: key.container, environment: key.device.environment)
    let aliases = try await settle([key.device], at: place, keeping: known)
    guard let alias = aliases[key.device] else {
      throw CaravanError(.internalError, "a device that was asked for has got no alias")
    }
    let now = host.clock.now
    self.known.withLock { $0.insert(Known(alias: alias, confirmed: now), for: key) }
    return alias
  }

  /// What these devices, which are of the place's environment, are called, as storage has it from now on.
  /// - Parameter known: what the device has been called so far, where storage does not say.
  func settle(
    _ devices: [EnrolledDevice], at place: AliasStore.Place, keeping known: Alias? = nil
  ) async throws(CaravanError) -> [EnrolledDevice: Alias] {
    var known = known
    for _ in 0..<SyncLimits.aliasAttempts {
      let found = try await store.look(devices, at: place)
      var aliases: [EnrolledDevice: Alias] = [:]
      for device in devices { aliases[device] = found.alias(of: device) }
      guard aliases.count < devices.count else { return aliases }
      let derived = try await derivation(in: place.environment)
      // Devices of one user have one alias for them, also where all of it is new.
      var users: [UserID: String] = [:]
      for device in devices where aliases[device] == nil {
        let user =
          found.alias(of: device.user) ?? users[device.user] ?? known?.user ?? derived?.user(
            device.user, in: place.container)
          ?? Alias.random(host)
        users[device.user] = user
        let own: String? = found.alias(of: device)
        let name = own ?? known?.device ?? derived?.device(device, in: place.container) ?? Alias.random(host)
        aliases[device] = Alias(user: user, device: name)
      }
      if try await store.add(aliases, to: found, at: place) { return aliases }
      // Somebody was first, and what they wrote counts.
      known = nil
    }
    throw CaravanError(.serverBusy, "aliases were written by others as often as they were looked for")
  }

  /// What makes new aliases; nil: chance, as always in production. In development, before what earlier releases derived
  /// was written down, whoever comes may be somebody who was there, and is called as before.
  /// - Throws: `invalidData` when that cannot be known any more.
  private func derivation(in environment: CaravanModel.Environment) async throws(CaravanError) -> UserAlias? {
    if environment == .production { return nil }
    if try await store.isMigrated() { return nil }
    if let legacy { return legacy }
    guard try await DeviceList(store.storage).page(after: nil).devices.isEmpty else {
      throw CaravanError(
        .invalidData,
        "users' aliases are not written down yet, and the key is lost that they came from: give --alias-key "
          + "KEYS/alias.key")
    }
    return nil
  }
}
