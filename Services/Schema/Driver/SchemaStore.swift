import CaravanModel
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// What is registered of a container in one environment, as of one look, and what the next change is compared with.
struct RegistryState {
  /// As far as it was looked at: under one name, or under all.
  var names: [String: NameHistory] = [:]
  /// By name in lower case, where all names were looked at.
  var templates: [String: TemplateState] = [:]
  /// Types registered, under any name.
  var count: UInt32 = 0
  /// Their bytes, as far as they were counted.
  var bytes = 0
  /// How the latest schema came about; nil: the history has not begun.
  var latest: CaravanModel.SchemaChange?
  var granted = GrantedNames()
  /// Types that were removed.
  var retired: [CaravanModel.RetiredType] = []
  /// Of the records that were there.
  var bases: [String: Base] = [:]

  /// The latest schema; 0: the history has not begun.
  var schema: UInt32 { latest?.id ?? 0 }

  var registered: RegisteredSchema { RegisteredSchema(id: schema, count: count, names: names, templates: templates) }

  func base(of record: String) -> Base { bases[record] ?? .absent }
  func history(of name: String) -> NameHistory { names[name.lowercased()] ?? NameHistory() }
}

/// What a transaction of the registry writes.
struct RegistryEdit {
  let added: [CaravanModel.RecordType]
  /// Names.
  let removed: [String]
  /// By name in lower case.
  var templates: [String: TemplateState] = [:]
  let change: CaravanModel.SchemaChange
}

/// Reads and writes the registry's records through storage, like any other client of it.
struct SchemaStore: Sendable {
  let storage: StorageClient
  let database: DatabaseID
  private let zone: ZoneID
  private let historyZone: ZoneID

  init(storage: StorageClient, container: ContainerID, environment: CaravanModel.Environment) throws(CaravanError) {
    self.storage = storage
    database = DatabaseID(container: container, environment: environment, owner: nil)
    zone = try ZoneID(database, SchemaRecords.zone)
    historyZone = try ZoneID(database, SchemaRecords.historyZone)
  }

  func asking(by storage: StorageClient) -> SchemaStore { SchemaStore(self, by: storage) }

  private init(_ other: SchemaStore, by storage: StorageClient) {
    (self.storage, database, zone, historyZone) = (storage, other.database, other.zone, other.historyZone)
  }

  /// Whatever is registered under one name.
  func state(ofName name: String) async throws(CaravanError) -> RegistryState {
    let records = [
      SchemaRecords.headName(name), SchemaRecords.counter, SchemaRecords.grants, SchemaRecords.history,
      SchemaRecords.retired,
    ]
    return try await state(live(records), allTypes: nil)
  }

  /// Everything that is registered.
  func state() async throws(CaravanError) -> RegistryState {
    let all = try await everything().filter { !$0.isDeleted }
    var types: [UInt32: CaravanModel.RecordType] = [:]
    for entry in all where SchemaRecords.isType(entry) {
      let type = try SchemaRecords.type(entry)
      types[type.id] = type
    }
    return try await state(all, allTypes: types)
  }

  /// - Parameter types: nil: they are read as heads name them.
  private func state(
    _ entries: [CaravanModel.Entry], allTypes types: [UInt32: CaravanModel.RecordType]?
  ) async throws(CaravanError) -> RegistryState {
    var state = RegistryState()
    for entry in entries {
      switch entry.name {
      case SchemaRecords.counter: (state.count, state.bytes) = try SchemaRecords.counter(entry)
      case SchemaRecords.history: state.latest = try SchemaRecords.change(entry)
      case SchemaRecords.grants: state.granted = try SchemaRecords.granted(entry)
      case SchemaRecords.retired: state.retired = try SchemaRecords.retired(entry)
      default:
        if let key = SchemaRecords.key(ofTemplate: entry) {
          state.templates[key] = try SchemaRecords.template(entry)
          break
        }
        guard let key = SchemaRecords.key(ofHead: entry) else { continue }
        let (ids, isRemoved) = try SchemaRecords.versions(entry)
        let versions = if let types { ids.compactMap { types[$0] } } else { try await self.types(ids) }
        guard versions.count == ids.count else {
          throw CaravanError(.internalError, "versions of '\(key)' are missing from the registry of \(database)")
        }
        state.names[key] = NameHistory(versions, isRemoved: isRemoved)
      }
      state.bases[entry.name] = .version(entry.version)
    }
    // A release that does not know of removals may have written over what says so.
    let gone = RecordVisibility(retired: state.retired)
    for (key, history) in state.names where history.current.contains(where: { gone.isRetired($0.id) }) {
      state.names[key] = NameHistory(history.versions, isRemoved: true)
    }
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

  /// One transaction: new versions, what is removed, and what the history says of it (CK-94).
  /// - Returns: false when somebody else changed the registry since `state` was read.
  /// - Throws: `limitExceeded` for more than one transaction holds, or than there is room for.
  func write(
    _ edit: RegistryEdit, after state: RegistryState, by standing: Standing
  ) async throws(CaravanError) -> Bool {
    precondition(edit.change.id == state.schema + 1, "schema \(edit.change.id) does not follow \(state.schema)")
    func save(_ name: String, _ body: [UInt8]) -> CaravanModel.Mutation { self.save(name, state.base(of: name), body) }
    let types = edit.added.map { save(SchemaRecords.typeName($0.id), SchemaRecords.body(of: $0)) }
    let used = types.reduce(state.bytes) { $0 + $1.bodyBytes }
    guard used <= SchemaLimits.typeBytes(for: standing) else {
      throw CaravanError(
        .limitExceeded, "record types of '\(database.container)' have \(state.bytes) bytes, and no room for more")
    }
    let count = state.count + UInt32(edit.added.count)
    var saves = [
      save(SchemaRecords.history, SchemaRecords.body(of: edit.change)),
      save(SchemaRecords.counter, SchemaRecords.body(ofCounter: count, bytes: used)),
    ]
    saves += types
    for (key, history) in try heads(edit, state) {
      saves.append(
        save(
          SchemaRecords.headName(key),
          SchemaRecords.body(ofVersions: history.versions.map(\.id), isRemoved: history.isRemoved)))
    }
    for (key, template) in edit.templates.sorted(by: { $0.key < $1.key }) {
      saves.append(save(SchemaRecords.templateName(key), SchemaRecords.body(of: template)))
    }
    let granted = try state.granted.after(edit.added, removed: edit.removed)
    if granted != state.granted { saves.append(save(SchemaRecords.grants, SchemaRecords.body(of: granted))) }
    if !edit.removed.isEmpty {
      let retired = edit.removed.map { name in
        CaravanModel.RetiredType(name: name, versions: state.history(of: name).current.map(\.id))
      }
      saves.append(save(SchemaRecords.retired, SchemaRecords.body(ofRetired: state.retired + retired)))
    }
    let bytes = saves.reduce(0) { $0 + $1.bodyBytes }
    guard saves.count <= Limits.recordsPerCommit, bytes <= SchemaLimits.changeBytes,
      saves.allSatisfy({ $0.bodyBytes <= Limits.recordBytes })
    else {
      throw CaravanError(
        .limitExceeded,
        "this changes \(edit.added.count + edit.removed.count) record types and \(edit.templates.count) templates at "
          + "once, \(bytes) bytes of the registry: change fewer at a time (--type, --template)")
    }
    try await keep(state.latest)
    switch try await storage.commit(to: zone, saves) {
    case .applied(let outcomes, _, _, _):
      return outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
    case .missing, .aborted:
      throw CaravanError(.internalError, "storage did not apply a commit of the registry of \(database)")
    }
  }

  /// What stands under each name then.
  private func heads(_ edit: RegistryEdit, _ state: RegistryState) throws(CaravanError) -> [(String, NameHistory)] {
    var heads: [String: NameHistory] = [:]
    for name in edit.removed {
      heads[name.lowercased()] = NameHistory(state.history(of: name).versions, isRemoved: true)
    }
    for type in edit.added {
      let key = type.name.lowercased()
      heads[key] = (heads[key] ?? state.history(of: key)).adding(type)
    }
    return heads.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  // MARK: History

  /// Puts a change where those before the latest one are, before another one takes its place. It may be there already.
  private func keep(_ change: CaravanModel.SchemaChange?) async throws(CaravanError) {
    guard let change else { return }
    let mutation = save(SchemaRecords.changeName(change.id), .absent, SchemaRecords.body(of: change))
    _ = try await storage.commit(to: historyZone, [mutation])
  }

  /// The latest first, as many as one answer holds.
  /// - Parameter before: only older ones; 0: from the latest on.
  func changes(before: UInt32, limit: Int) async throws(CaravanError) -> [CaravanModel.SchemaChange] {
    guard let entry = try await live([SchemaRecords.history]).first else { return [] }
    let latest = try SchemaRecords.change(entry)
    var changes: [CaravanModel.SchemaChange] = []
    var bytes = 0
    var next = before == 0 ? latest.id : min(before - 1, latest.id)
    if next == latest.id {
      changes.append(latest)
      (next, bytes) = (next - 1, entry.body.count)
    }
    while next > 0, changes.count < limit, bytes <= SchemaLimits.listBytes {
      let count = min(SchemaLimits.changesPerFetch, UInt32(limit - changes.count), next)
      let names = (next - count + 1...next).map(SchemaRecords.changeName)
      for entry in try await live(names, in: historyZone) {
        bytes += entry.body.count
        changes.append(try SchemaRecords.change(entry))
      }
      next -= count
    }
    return changes.sorted { $0.id > $1.id }
  }

  /// Types whose grants are not the standard ones, each with all of its versions, and those that were removed.
  func visibility() async throws(CaravanError) -> RecordVisibility {
    var (names, retired): ([String], [CaravanModel.RetiredType]) = ([], [])
    for entry in try await live([SchemaRecords.grants, SchemaRecords.retired]) {
      if entry.name == SchemaRecords.grants {
        names = try SchemaRecords.granted(entry).types
      } else {
        retired = try SchemaRecords.retired(entry)
      }
    }
    let removed = RecordVisibility(retired: retired)
    guard !names.isEmpty else { return removed }
    var versions: [[UInt32]] = []
    for entry in try await live(names.map(SchemaRecords.headName)) {
      versions.append(try SchemaRecords.versions(entry).ids.filter { !removed.isRetired($0) })
    }
    let latest = try await types(versions.compactMap(\.last))
    guard latest.count == names.count else {
      throw CaravanError(.internalError, "grants are said of types that \(database) has no more: say them again")
    }
    let granted = latest.compactMap { type in
      versions.first { $0.last == type.id }.map { ids in
        CaravanModel.GrantedType(name: type.name, versions: ids, grants: type.grants ?? .standard)
      }
    }
    return RecordVisibility(granted: granted, retired: retired)
  }

  /// Roles of the container's own to which types grant something, in order.
  func ownRoles() async throws(CaravanError) -> [String] {
    try await live([SchemaRecords.grants]).first.map { (entry) throws(CaravanError) in
      try SchemaRecords.granted(entry).ownRoles
    } ?? []
  }

  func hasTypes() async throws(CaravanError) -> Bool { try await !live([SchemaRecords.counter]).isEmpty }

  /// nil: there is none of this name.
  func template(named name: String) async throws(CaravanError) -> CaravanModel.SubscriptionTemplate? {
    try await live([SchemaRecords.templateName(name)]).first.flatMap { (entry) throws(CaravanError) in
      try SchemaRecords.template(entry).latest
    }
  }

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

  func live(
    _ names: [String], in zone: ZoneID? = nil
  ) async throws(CaravanError) -> [CaravanModel.Entry] {
    var entries: [CaravanModel.Entry] = []
    var rest = names[...]
    while !rest.isEmpty {
      let some = rest.prefix(SchemaLimits.recordsPerFetch)
      rest = rest.dropFirst(some.count)
      do { entries += try await storage.fetch(Array(some), from: zone ?? self.zone).filter { !$0.isDeleted } } catch {
        guard error.code == .zoneDoesNotExist else { throw error }
        return []
      }
    }
    return entries
  }

  /// - Throws: `limitExceeded` beyond `SchemaLimits.registryBytes`.
  private func everything() async throws(CaravanError) -> [CaravanModel.Entry] {
    try await storage.everything(in: zone, upTo: SchemaLimits.registryBytes)
  }
}

extension CaravanModel.Mutation {
  fileprivate var bodyBytes: Int {
    if case .save(_, let body, _) = change { body.count } else { 0 }
  }
}

extension StorageClient {
  /// Every record of a zone that the registry keeps bounded.
  /// - Parameter limit: of their bytes.
  func everything(in zone: ZoneID, upTo limit: Int = .max) async throws(CaravanError) -> [CaravanModel.Entry] {
    var bytes = 0
    var entries: [CaravanModel.Entry] = []
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.recordsPerCommit), maxBytes: UInt32(Limits.pageBytes))
    while true {
      let reply: ReadChangesReply
      do { reply = try await changes(of: zone, request) } catch {
        guard error.code == .zoneDoesNotExist else { throw error }
        return []
      }
      bytes += reply.page.count
      guard bytes <= limit else {
        throw CaravanError(
          .limitExceeded,
          "the registry of '\(zone.database.container)' has more than \(limit) bytes, too many to be read at once: "
            + "ask for its record types by name")
      }
      entries += try EntryPage.decode(reply.page).entries.map { $0.model() }
      guard reply.more else { return entries }
      request.from = reply.next
    }
  }
}
