import CaravanModel
package import CaravanStorageClient
import CaravanWire

/// How aliases lie in storage, where backups have them: records of the zone `aliases.<container>` of Caravan's own
/// public database, in the environment that they are of. They are never changed. Field 1 of each is a text.
///
/// - `user:<user>`: the user's alias.
/// - `device:<user>/<device>/<enrolment>`: the device's alias.
/// - `alias:<alias>`: whose it is, as the names above begin.
///
/// In development's zone `aliases`, `@derived` is there since every alias that a release without this registry had
/// derived was written down, and new ones are random.
///
/// `AliasNames` says so; storage removes those of a user of whom everything is deleted.
package struct AliasStore: Sendable {
  private static let mark = "@derived"

  let storage: StorageClient

  package init(storage: StorageClient) { self.storage = storage }

  /// Where the aliases of a container are, in one environment.
  struct Place: Hashable, Sendable {
    let container: ContainerID
    let environment: CaravanModel.Environment
  }

  private static func zone(_ place: Place) throws(CaravanError) -> ZoneID {
    try AliasNames.zone(of: place.container, in: place.environment)
  }

  /// What is there of some users and devices.
  struct Found: Sendable {
    fileprivate var texts: [String: String] = [:]

    func alias(of user: UserID) -> String? { texts[AliasNames.name(user)] }
    func alias(of device: EnrolledDevice) -> String? { texts[AliasNames.name(device)] }
    func alias(of device: EnrolledDevice) -> Alias? {
      guard let user = alias(of: device.user), let own: String = alias(of: device) else { return nil }
      return Alias(user: user, device: own)
    }
  }

  func look(_ devices: [EnrolledDevice], at place: Place) async throws(CaravanError) -> Found {
    let names =
      Set(devices.map { AliasNames.name($0.user) }).sorted() + Set(devices).sorted().map { AliasNames.name($0) }
    var found = Found()
    for entry in try await live(names, in: Self.zone(place)) { found.texts[entry.name] = try Self.text(entry) }
    return found
  }

  /// Writes down what `found` lacks, all or nothing.
  /// - Returns: false when somebody else has written one of them since.
  func add(
    _ aliases: [EnrolledDevice: Alias], to found: Found, at place: Place
  ) async throws(CaravanError) -> Bool {
    var new: [String: String] = [:]
    for (device, alias) in aliases {
      for (name, text) in [(AliasNames.name(device.user), alias.user), (AliasNames.name(device), alias.device)]
      where found.texts[name] == nil {
        new[name] = text
        new[AliasNames.name(alias: text)] = name
      }
    }
    guard !new.isEmpty else { return true }
    return try await commit(new, to: Self.zone(place))
  }

  // MARK: What releases of before derived

  func isMigrated() async throws(CaravanError) -> Bool {
    try await !live([Self.mark], in: ZoneID(AliasNames.home(.development), "aliases")).isEmpty
  }

  func noteMigrated() async throws(CaravanError) {
    // Where another instance was first, it is noted as well.
    _ = try await commit([Self.mark: "all"], to: ZoneID(AliasNames.home(.development), "aliases"))
  }

  // MARK: Records

  private func commit(_ texts: [String: String], to zone: ZoneID) async throws(CaravanError) -> Bool {
    let mutations = texts.sorted { $0.key < $1.key }.map { name, text in
      let body = RecordFields([AliasNames.content: .text(text)]).body
      return CaravanModel.Mutation(name: name, base: .absent, change: .save(type: 0, body: body, chunks: []))
    }
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, mutations) else {
      throw CaravanError(.internalError, "storage did not apply aliases")
    }
    return outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
  }

  private func live(_ names: [String], in zone: ZoneID) async throws(CaravanError) -> [CaravanModel.Entry] {
    do { return try await storage.fetch(names, from: zone).filter { !$0.isDeleted } } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return []
    }
  }

  private static func text(_ entry: CaravanModel.Entry) throws(CaravanError) -> String {
    guard case .text(let text) = try RecordFields(body: entry.body)[AliasNames.content] else {
      throw CaravanError(.internalError, "record '\(entry.name)' of the aliases is not as sync writes it")
    }
    return text
  }
}
