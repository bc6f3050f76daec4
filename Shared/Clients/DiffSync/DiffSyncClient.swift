public import CaravanBus
public import CaravanCrypto
public import CaravanDiffSync
public import CaravanModel
public import CaravanRuntime
internal import CaravanSQLite

/// A client of ITA's diff sync (requirements part 3): objects of typed fields in a zone of its own user, with all of
/// them and every change on the disk here, whether there is a connection or not. Needs no agent; native devices may
/// work on the same zone.
///
///     let notes = try DiffSyncClient(configuration, bus: bus, host: host)
///     try await notes.signIn(["note": [FieldDefinition(id: 0, name: "text", kind: .text)]])
///     try await notes.create("n-1", "note", ["text": .text("milk")])
///     try await notes.sync()
///
/// One process owns the directory. Local calls never wait for the network; each is durable when it returns.
public actor DiffSyncClient {
  public struct Configuration: Sendable {
    /// An app's name.
    public var container: ContainerID
    public var zone: String
    /// As the device's credentials say.
    public var device: EnrolledDevice
    public var directory: String
    /// False: a power cut may take the newest changes; for tests.
    public var isDurable = true

    public init(container: ContainerID, zone: String, device: EnrolledDevice, directory: String) {
      self.container = container
      self.zone = zone
      self.device = device
      self.directory = directory
    }

    /// Who the client is, as a device's credentials say: the bus is to be connected with the same.
    /// - Throws: `notAuthenticated` when they are no device's.
    public init(
      container: ContainerID, zone: String, credentials: Credentials, directory: String
    ) throws(CaravanError) {
      let claims = credentials.jwt.claims
      guard EnrolledDevice.isNumbered(claims.name) || claims.userTag == nil else {
        throw CaravanError(
          .notAuthenticated, "the credentials of '\(claims.name)' are from before release 0.2: enrol the device again")
      }
      self.init(
        container: container, zone: zone, device: try EnrolledDevice(credentials: claims.name, user: claims.userTag),
        directory: directory)
    }
  }

  private nonisolated let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  let configuration: Configuration
  let bus: any MessageBus
  let host: Host
  private var lock: DirectoryLock?
  private let file: ReplicaFile
  /// Without objects: they are read when they are needed.
  private(set) var replica: Replica
  private var types: [String: RecordType]
  var isSyncing = false
  /// Objects that the present sync has put aside.
  var foundAside = 0

  /// Opens the client's file, or makes it.
  /// - Throws: `unavailable` when another process has the directory; `storageFull`.
  public init(_ configuration: Configuration, bus: any MessageBus, host: Host) throws(CaravanError) {
    self.configuration = configuration
    self.bus = bus
    self.host = host
    executor = host.executors.makeInline()
    lock = try DirectoryLock(configuration.directory)
    file = try ReplicaFile(
      "\(configuration.directory)/diffsync.db", isDurable: configuration.isDurable,
      newEpoch: UInt64(max(0, host.clock.wallTime.milliseconds)) << 16 | host.random.below(1 << 16))
    replica = Replica(log: try file.log(), standing: try file.standing())
    types = try file.types()
  }

  /// Nothing may be called afterwards.
  public func close() {
    file.close()
    lock = nil
  }

  // MARK: Types

  /// Agrees with the server on the fields of an objtype (DIF-04), whose conflicts are merged field by field.
  /// - Throws: `schemaNotAdditive` when it is known with other fields.
  @discardableResult
  public func agree(on objtype: String, _ fields: [FieldDefinition]) async throws(CaravanError) -> RecordType {
    let wanted = RecordType(
      id: 0, definition: 0, name: objtype, fields: fields, settings: TypeSettings(conflicts: .fieldMerge))
    let agreed = try await propose(wanted)
    try file.save(agreed)
    types[objtype] = agreed
    return agreed
  }

  /// The server was restored from a backup that may be older than what was agreed on.
  func agreeAgain() async throws(CaravanError) {
    for (name, type) in types.sorted(by: { $0.key < $1.key }) {
      let fields = type.fields.map { field in
        var field = field
        field.id = 0
        return field
      }
      try await agree(on: name, fields)
    }
  }

  // MARK: Objects

  public func object(_ uuid: String) throws(CaravanError) -> Object? { try file.objects([uuid])[uuid] }

  /// All of a type, by uuid.
  public func objects(of objtype: String) throws(CaravanError) -> [String: Object] { try file.objects(of: objtype) }

  /// By uuid: what had not been sent of objects that were deleted elsewhere, when the server no longer knew of the
  /// deletion, for this client had been away for longer than it is remembered. The objects stay deleted; make new ones
  /// of what is still wanted, and discard these.
  public func setAsideObjects() throws(CaravanError) -> [String: UnsentObject] { try file.aside() }

  public func discardAside(_ uuid: String) throws(CaravanError) { try file.discardAside(uuid) }

  func requireRoomAside() throws(CaravanError) {
    guard try file.countAside() < DiffLimits.setAsideObjects else {
      throw CaravanError(
        .limitExceeded,
        "\(DiffLimits.setAsideObjects) objects with unsent edits are put aside: look at objectsAside, and discard them")
    }
  }

  /// - Throws: `objectExists`, `limitExceeded`, `tableNotFound` before the type is agreed on, `schemaViolation`.
  public func create(_ uuid: String, _ objtype: String, _ fields: [String: Value]) throws(CaravanError) {
    for (field, value) in fields { try check(field, value, of: objtype) }
    if fields.isEmpty { _ = try type(objtype) }
    let wall = wall
    try change([uuid]) { (replica) throws(CaravanError) in
      try replica.create(uuid, objtype, fields, at: wall)
    }
  }

  /// - Parameter value: `.null` empties the field.
  /// - Throws: `noSuchObject`, `invalidData`, `limitExceeded`, `schemaViolation`.
  public func update(_ uuid: String, _ field: String, _ value: Value) throws(CaravanError) {
    if field != Diff.uuidField, let object = try object(uuid) { try check(field, value, of: object.objtype) }
    let wall = wall
    try change([uuid]) { (replica) throws(CaravanError) in try replica.update(uuid, field, value, at: wall) }
  }

  /// - Throws: `noSuchObject`.
  public func delete(_ uuid: String) throws(CaravanError) {
    let wall = wall
    try change([uuid]) { (replica) throws(CaravanError) in try replica.delete(uuid, at: wall) }
  }

  /// Whether all that the server had when a sync ended is here: not on a device that never got through its first.
  public var isComplete: Bool { replica.standing.isComplete }
  /// Diffs that are not at the server yet.
  public var pending: [Diff] { replica.log }
  /// `last_sync_height`.
  public var height: Seq { replica.standing.height }
  /// Which life of the client's file this is: the server knows its ops by it.
  var epoch: UInt64 { file.epoch }

  private var wall: Int64 { host.clock.wallTime.milliseconds }

  private func type(_ objtype: String) throws(CaravanError) -> RecordType {
    guard let type = types[objtype] else {
      throw CaravanError(.tableNotFound, "'\(objtype)' is not agreed on with the server: call agree(on:) first")
    }
    return type
  }

  private func check(_ field: String, _ value: Value, of objtype: String) throws(CaravanError) {
    guard let definition = try type(objtype).field(named: field), definition.isDiffable else {
      throw CaravanError(
        .schemaViolation, "'\(objtype)' has no field '\(field)' that diffs carry: agree on it first")
    }
    try definition.check(value)
  }

  // MARK: One transaction

  /// What the app does: a diff more in the log.
  private func change(
    _ touched: Set<String>, _ body: (inout Replica) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    var next = replica
    next.objects = try file.objects(touched)
    try body(&next)
    try file.save(next, touched: touched, logged: Array(next.log[replica.log.count...]))
    keep(next)
  }

  func hear(_ answer: BeginAnswer) throws(CaravanError) -> Step {
    var next = replica
    var touched = replica.touched(by: answer)
    if replica.givesBack(answer), let first = replica.standing.lost.first {
      touched.formUnion(try file.stale(since: first.after))
    }
    next.objects = try file.objects(touched)
    let step = next.hear(answer, at: wall)
    try file.save(next, touched: touched, after: replica)
    keep(next)
    return step
  }

  func hear(_ answer: ContinueAnswer) throws(CaravanError) -> Step {
    var next = replica
    let touched = replica.touched(by: answer)
    next.objects = try file.objects(touched)
    let step = next.hear(answer)
    try file.save(next, touched: touched, after: replica)
    keep(next)
    return step
  }

  private func keep(_ next: Replica) {
    foundAside += next.aside.count
    replica = next
    (replica.objects, replica.aside) = ([:], [:])
  }
}
