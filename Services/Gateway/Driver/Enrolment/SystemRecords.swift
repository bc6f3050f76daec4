internal import CaravanModel
internal import CaravanStorageClient
internal import CaravanWire

/// Records of the system container's public database, a zone for each kind.
struct SystemRecords: Sendable {
  let storage: StorageClient

  struct Stored: Sendable {
    let name: String
    let version: Seq
    let fields: RecordFields
  }

  static func zone(_ name: String) throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID.system(nil), name)
  }

  /// Those of the names that are there.
  func fetch(_ names: [String], from zone: String) async throws(CaravanError) -> [Stored] {
    do {
      var found: [Stored] = []
      for entry in try await storage.fetch(names, from: Self.zone(zone)) where !entry.isDeleted {
        found.append(Stored(name: entry.name, version: entry.version, fields: try RecordFields(body: entry.body)))
      }
      return found
    } catch {
      // Before the first record the zone is not there.
      guard error.code == .zoneDoesNotExist else { throw error }
      return []
    }
  }

  /// - Parameter lifetime: milliseconds after which the record goes by itself; nil: it stays.
  /// - Returns: false when somebody else has changed it meanwhile.
  func save(
    _ fields: RecordFields, as name: String, in zone: String, base: Base, lifetime: Int64? = nil
  ) async throws(CaravanError) -> Bool {
    let terms = lifetime.map { WriteTerms(expiry: .after($0)) }
    return try await change(
      name, base: base, .save(type: 0, body: fields.body, chunks: []), terms, in: Self.zone(zone))
  }

  /// - Returns: false when somebody else has changed it meanwhile.
  func delete(_ name: String, version: Seq, from zone: ZoneID) async throws(CaravanError) -> Bool {
    try await change(name, base: .version(version), .delete, in: zone)
  }

  private func change(
    _ name: String, base: Base, _ change: CaravanModel.Mutation.Change, _ terms: WriteTerms? = nil, in zone: ZoneID
  ) async throws(CaravanError) -> Bool {
    let mutation = CaravanModel.Mutation(name: name, base: base, change: change, terms: terms)
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, [mutation]) else {
      throw CaravanError(.internalError, "storage did not apply a record of the gateway")
    }
    if case .accepted = outcomes.first { return true }
    return false
  }
}
