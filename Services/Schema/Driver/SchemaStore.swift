import CaravanModel
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// What is registered under one name, as of one look, and what the next change is compared with.
struct NameState {
  /// Oldest first.
  var versions: [CaravanModel.RecordType] = []
  /// Types registered, under any name.
  var count: UInt32 = 0
  /// Names of types whose grants are not the standard ones.
  var granted: [String] = []
  var headBase = Base.absent
  var grantsBase = Base.absent
  var counterBase = Base.absent
}

/// Reads and writes the registry's records through storage, like any other client of it.
struct SchemaStore: Sendable {
  let storage: StorageClient
  let database: DatabaseID
  private let zone: ZoneID

  init(storage: StorageClient, container: ContainerID, environment: CaravanModel.Environment) throws(CaravanError) {
    self.storage = storage
    database = DatabaseID(container: container, environment: environment, owner: nil)
    zone = try ZoneID(database, SchemaRecords.zone)
  }

  func asking(by storage: StorageClient) -> SchemaStore { SchemaStore(storage, database, zone) }

  private init(_ storage: StorageClient, _ database: DatabaseID, _ zone: ZoneID) {
    (self.storage, self.database, self.zone) = (storage, database, zone)
  }

  func state(ofName name: String) async throws(CaravanError) -> NameState {
    var state = NameState()
    var ids: [UInt32] = []
    for entry in try await live([SchemaRecords.headName(name), SchemaRecords.counter, SchemaRecords.grants]) {
      switch entry.name {
      case SchemaRecords.counter:
        (state.count, state.counterBase) = (try SchemaRecords.counter(entry), .version(entry.version))
      case SchemaRecords.grants:
        (state.granted, state.grantsBase) = (try SchemaRecords.granted(entry), .version(entry.version))
      default: (ids, state.headBase) = (try SchemaRecords.versions(entry), .version(entry.version))
      }
    }
    state.versions = try await types(ids)
    return state
  }

  /// Whether a restore may have taken types from the registry.
  func isRestored() async throws(CaravanError) -> Bool {
    let request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 1, reader: SchemaRecords.reader)
    do { return try await !storage.changes(of: zone, request).lost.isEmpty } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return false
    }
  }

  /// - Returns: false when somebody else changed the registry since `state` was read.
  func add(_ type: CaravanModel.RecordType, to state: NameState) async throws(CaravanError) -> Bool {
    let ids = state.versions.map(\.id) + [type.id]
    var saves = [
      save(SchemaRecords.counter, state.counterBase, SchemaRecords.body(ofCounter: state.count + 1)),
      save(SchemaRecords.headName(type.name), state.headBase, SchemaRecords.body(ofVersions: ids)),
      save(SchemaRecords.typeName(type.id), .absent, SchemaRecords.body(of: type)),
    ]
    let granted = try Registry.granted(state.granted, after: type)
    if granted != state.granted {
      saves.append(save(SchemaRecords.grants, state.grantsBase, SchemaRecords.body(ofGranted: granted)))
    }
    let result = try await storage.commit(to: zone, saves)
    switch result {
    case .applied(let outcomes, _, _, _):
      return outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
    case .missing, .aborted:
      throw CaravanError(.internalError, "storage answered a commit of the registry with \(result)")
    }
  }

  /// Types whose grants are not the standard ones, each with all of its versions.
  func grantedTypes() async throws(CaravanError) -> [CaravanModel.GrantedType] {
    let names = try await live([SchemaRecords.grants]).first.map { (entry) throws(CaravanError) in
      try SchemaRecords.granted(entry)
    }
    guard let names, !names.isEmpty else { return [] }
    var versions: [[UInt32]] = []
    for entry in try await live(names.map(SchemaRecords.headName)) {
      versions.append(try SchemaRecords.versions(entry))
    }
    let latest = try await types(versions.compactMap(\.last))
    guard latest.count == names.count else {
      throw CaravanError(.internalError, "grants are said of types that \(database) has no more: say them again")
    }
    return latest.compactMap { type in
      versions.first { $0.last == type.id }.map { ids in
        CaravanModel.GrantedType(name: type.name, versions: ids, grants: type.grants ?? .standard)
      }
    }
  }

  func hasTypes() async throws(CaravanError) -> Bool { try await !live([SchemaRecords.counter]).isEmpty }

  /// In the order of `ids`.
  func types(_ ids: [UInt32]) async throws(CaravanError) -> [CaravanModel.RecordType] {
    guard !ids.isEmpty else { return [] }
    var byID: [UInt32: CaravanModel.RecordType] = [:]
    for entry in try await live(ids.map(SchemaRecords.typeName)) {
      let type = try SchemaRecords.type(entry)
      byID[type.id] = type
    }
    return ids.compactMap { byID[$0] }
  }

  /// The latest version of every name, by name.
  func latestTypes() async throws(CaravanError) -> [CaravanModel.RecordType] {
    var byID: [UInt32: CaravanModel.RecordType] = [:]
    var latest: [UInt32] = []
    for entry in try await everything() where !entry.isDeleted {
      if entry.name.hasPrefix("type.") {
        let type = try SchemaRecords.type(entry)
        byID[type.id] = type
      } else if entry.name.hasPrefix("head."), let id = try SchemaRecords.versions(entry).last {
        latest.append(id)
      }
    }
    return latest.compactMap { byID[$0] }.sorted { $0.name < $1.name }
  }

  // MARK: The container

  func settings() async throws(CaravanError) -> CaravanModel.ContainerSettings? {
    try await live([SchemaRecords.settings]).first.map { (entry) throws(CaravanError) in
      try SchemaRecords.settings(entry)
    }
  }

  /// - Returns: false when somebody else has said them.
  func add(_ settings: CaravanModel.ContainerSettings) async throws(CaravanError) -> Bool {
    let mutation = save(SchemaRecords.settings, .absent, SchemaRecords.body(of: settings))
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, [mutation]) else { return false }
    if case .accepted? = outcomes.first { return true } else { return false }
  }

  private func save(_ name: String, _ base: Base, _ body: [UInt8]) -> CaravanModel.Mutation {
    CaravanModel.Mutation(name: name, base: base, change: .save(type: 0, body: body, chunks: []))
  }

  private func live(_ names: [String]) async throws(CaravanError) -> [CaravanModel.Entry] {
    do { return try await storage.fetch(names, from: zone).filter { !$0.isDeleted } } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return []
    }
  }

  /// Bounded by `SchemaLimits.typesPerContainer`.
  private func everything() async throws(CaravanError) -> [CaravanModel.Entry] {
    try await storage.everything(in: zone)
  }
}

extension StorageClient {
  /// Every record of a zone that the registry keeps bounded.
  func everything(in zone: ZoneID) async throws(CaravanError) -> [CaravanModel.Entry] {
    var entries: [CaravanModel.Entry] = []
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.recordsPerCommit), maxBytes: UInt32(Limits.pageBytes))
    while true {
      let reply: ReadChangesReply
      do { reply = try await changes(of: zone, request) } catch {
        guard error.code == .zoneDoesNotExist else { throw error }
        return []
      }
      entries += try EntryPage.decode(reply.page).entries.map { $0.model() }
      guard reply.more else { return entries }
      request.from = reply.next
    }
  }
}
