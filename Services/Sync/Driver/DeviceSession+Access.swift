import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

// What the device's user may see of records and do with them (CK-04).
extension DeviceSession {
  /// Roles of the container's own that the user has, as it was within the last second. Where no type grants any of them
  /// something, nobody is asked.
  func roles(_ visibility: RecordVisibility, in database: DatabaseID) async throws(CaravanError) -> Set<String> {
    guard database.isPublic, !visibility.ownRoles.isEmpty else { return [] }
    let known = Set(visibility.ownRoles.sorted().prefix(Limits.ownRoles))
    return try await cloud.schema.roles(of: user, among: known, in: database.container, database.environment)
  }

  /// A commit with the rights that its user has. Those that come from roles count while the user has the roles, which
  /// the store sees for itself: where it is otherwise than what is remembered here, that is forgotten, once. A store
  /// that says so still judges by the rights that the user has without any role, so that nobody waits for a shard that
  /// somebody else has to repair.
  func commit(
    _ request: CommitRequest, to database: DatabaseID, _ visibility: RecordVisibility
  ) async throws(CaravanError) -> CommitReply {
    func attempt(_ roles: Set<String>) async throws(CaravanError) -> CommitReply {
      var request = request
      request.rights = access.rights(visibility, roles: roles).map { CaravanWire.TypeRights($0) }
      request.roles = roles.sorted().map { OwnRole.record($0, of: user) }
      return try await cloud.storage.commit(request, in: Partition(of: database))
    }
    let roles = try await roles(visibility, in: database)
    do throws(CaravanError) { return try await attempt(roles) } catch {
      guard error.code == .leaseExpired, !roles.isEmpty else { throw error }
      cloud.schema.forgetRoles(of: user, in: database.container, database.environment)
    }
    do throws(CaravanError) { return try await attempt(self.roles(visibility, in: database)) } catch {
      guard error.code == .leaseExpired else { throw error }
      return try await attempt([])
    }
  }

  /// What the device may see: in a public database as its grants are now, and nothing of types that were removed.
  func visible(
    _ entries: [CaravanWire.Entry], in database: DatabaseID
  ) async throws(CaravanError) -> [CaravanWire.Entry] {
    guard !entries.isEmpty else { return entries }
    let visibility = try await cloud.visibility.of(database)
    let entries = entries.filter { $0.deleted || !visibility.isRetired($0.type) }
    guard !visibility.granted.isEmpty else { return entries }
    var types: [UInt32: CaravanModel.RecordType] = [:]
    for id in Set(entries.map(\.type)) where id != 0 && !visibility.hasGrants(of: id) {
      types[id] = try await cloud.schema.type(id, of: database.container, in: database.environment)
    }
    let newest = try await cloud.visibility.of(database, covering: types.values)
    let roles = try await roles(newest, in: database)
    let author = WriterName.author(try await writer(in: database))
    return entries.filter { entry in
      let creator = entry.model().authorship.creator
      let isTheirs = author != nil && WriterName.author(creator) == author
      // What was deleted does not say of which type it was.
      return entry.deleted ? isTheirs : access.mayRead(type: entry.type, isTheirs: isTheirs, newest, roles: roles)
    }
  }

  /// An answer shows what the store holds when it is given, which may have become another's, or out of sight.
  func hideInvisible(in reply: inout CommitReply, of database: DatabaseID) async throws(CaravanError) {
    let copies = reply.outcomes.compactMap(\.server)
    let seen = Set(try await visible(copies, in: database).map(\.name))
    guard seen.count < copies.count else { return }
    for index in reply.outcomes.indices {
      guard let server = reply.outcomes[index].server, !seen.contains(server.name) else { continue }
      (reply.outcomes[index].server, reply.outcomes[index].version) = (nil, 0)
    }
  }
}
