public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// An app's way to its device's agent: tables of rows with objects, kept here, synced behind the app's back.
///
///     try await CaravanClient.withConnection(to: "/run/caravan/agent.sock", app: "album") { client in
///       let album = try await client.createTable("photos", "name VARCHAR, taken INTEGER, photo OBJECT")
///       try await album.registerWriteSync(period: .seconds(600), delayTolerance: .seconds(60), link: .wifi)
///       try await album.write(["name": .text("Snoopy")], objects: ["photo"]) { photo in
///         try await photo.write(bytes, to: "photo", at: 0)
///       }
///       for try await row in album.rows(.init("name=?", [.text("Snoopy")])) { … }
///     }
///
/// All calls may be made from any task. A write has reached the disk when its call returns. Every call throws
/// `CaravanError`: `networkNotConnected` when the agent has gone (what was acknowledged is safe; connect again),
/// `timedOut` when it hangs and a patience was chosen.
public final class CaravanClient: Sendable {
  let connection: AppConnection

  private init(_ connection: AppConnection) { self.connection = connection }

  /// Connects, proves the app, runs `body`, and disconnects. Unfinished writes are abandoned.
  /// - Parameters:
  ///   - socket: path of the agent's socket.
  ///   - app: 1–63 of `a-z 0-9 -`; also the app's container in the cloud. The first contact binds it to this user.
  ///   - patience: how long the agent may give no sign of life while anything is awaited from it; one that is just
  ///     starting takes some seconds, and as long as one transaction takes it is silent. Then the connection ends, and
  ///     what waits throws `timedOut`: it may have happened or not. What waits for the cloud, as `syncNow` does, may
  ///     take as long as it takes: the agent is asked meanwhile whether it is there. nil: as long as its process is.
  ///   - body: what the app does while it is connected; what it returns is returned.
  /// - Throws: `notAuthenticated` when the app belongs to another user of this machine, or when it is new and the
  ///   device's owner has not allowed it (`caravan agent allow`); what `body` throws.
  public nonisolated(nonsending) static func withConnection<Result: Sendable>(
    to socket: String, app: String, within patience: Duration? = nil, _ body: (CaravanClient) async throws -> Result
  ) async throws -> Result {
    let name = try ContainerID(app)
    let connection = AppConnection(try AppSocket.connected(to: socket), within: patience)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await connection.run() }
      defer { connection.shutDown() }
      try await connection.introduce(name, AppToken(socket: socket, app: name))
      return try await body(CaravanClient(connection))
    }
  }

  // MARK: Tables

  /// Creates a table, or finds the one that is there, which gains the columns that it lacks: rows keep what they have,
  /// sent or not, and devices that do not know the new columns leave them as they are.
  /// - Parameters:
  ///   - name: of the table, which is also its zone's and its record type's in the cloud.
  ///   - schema: columns as in SQL, with `DATE`, `LOCATION`, `REFERENCE`, lists of all these as `LIST<VARCHAR>`, and
  ///     `OBJECT` for objects of any size (SIM-10).
  ///   - isLocalOnly: nothing of it leaves the device.
  ///   - properties: what the table keeps here, and how; nil: everything, or what a table that is there says.
  /// - Throws: `schemaViolation` pointing into the text; `schemaNotAdditive` when a column of the table is missing from
  ///   it, or of another kind.
  @discardableResult
  public func createTable(
    _ name: String, _ schema: String, isLocalOnly: Bool = false, properties: TableProperties? = nil
  ) async throws(CaravanError) -> Table {
    let request = CaravanWire.CreateTable(
      table: name, schema: schema, sync: isLocalOnly ? .localOnly : .full, properties: try properties?.wire())
    try await done(.createTable(request))
    return table(name)
  }

  /// The table of this name; whether it exists shows in the first call.
  public func table(_ name: String) -> Table { Table(name: name, connection: connection) }

  /// Changes what is done with the table, not what is in it (SIM-11).
  /// - Throws: `tableNotFound`; `schemaViolation` for a fetch policy of a column that holds no objects.
  public func updateTable(_ name: String, _ properties: TableProperties) async throws(CaravanError) {
    try await done(.updateTable(CaravanWire.UpdateTable(table: name, properties: try properties.wire())))
  }

  /// Ends the table's error, and has its sync start over (REC-27).
  /// - Parameters:
  ///   - name: of the table.
  ///   - choice: whether the rows here or the server's copies stand.
  ///   - discardingUnsent: what was not sent may be lost, where the server's copies are taken.
  /// - Throws: `serverBusy` while it is being synced; `invalidData`, saying how many, when changes would be lost that
  ///   the cloud does not have.
  public func resetTable(
    _ name: String, _ choice: ResetChoice, discardingUnsent: Bool = false
  ) async throws(CaravanError) {
    try await done(
      .resetTable(CaravanWire.ResetTable(table: name, choice: choice.wire, discardUnsent: discardingUnsent)))
  }

  /// Drops the table with its rows, objects and registrations; the space comes back (SIM-12).
  /// - Parameters:
  ///   - name: of the table.
  ///   - discardingUnsent: what was not sent may be lost.
  /// - Throws: `invalidData`, saying how many, when changes would be lost that the cloud does not have.
  public func dropTable(_ name: String, discardingUnsent: Bool = false) async throws(CaravanError) {
    try await done(.dropTable(CaravanWire.DropLocalTable(table: name, discardUnsent: discardingUnsent)))
  }

  // MARK: The device

  /// How the device and the app's tables stand (SIM-83).
  public func status() async throws(CaravanError) -> DeviceStatus {
    guard case .status(let status) = try await connection.request(.status(CaravanWire.Empty())) else {
      throw AppConnection.surprise("status")
    }
    return DeviceStatus(status)
  }

  /// Announces the machine's link, or simulates one; nil: none.
  /// - Parameters:
  ///   - link: what the machine is connected by.
  ///   - isMetered: its bytes cost: it counts as cellular at least.
  /// - Throws: `notAuthenticated` unless the app runs as the agent's own user, or as root.
  public func setLink(_ link: CaravanModel.LinkClass?, isMetered: Bool = false) async throws(CaravanError) {
    try await done(.setLink(CaravanWire.SetLink(link: CaravanWire.LinkClass(link), metered: isMetered)))
  }

  /// The machine's own word on its link counts again.
  /// - Throws: `invalidData` when the agent does not watch it; `notAuthenticated` as `setLink`.
  public func useDetectedLink() async throws(CaravanError) {
    try await done(.setLink(CaravanWire.SetLink(automatic: true)))
  }

  /// Sets what the user allows the device, whatever apps prefer (MOB-45, MOB-47); it is remembered.
  /// - Throws: `notAuthenticated` unless the app runs as the agent's own user, or as root.
  public func setPolicy(_ policy: NetworkPolicy) async throws(CaravanError) {
    try await done(.setPolicy(policy.wire))
  }

  /// Ends the device's own error (`DeviceStatus.refused`, REC-08): the broker is tried again at once. Nothing else
  /// changes, and without such an error nothing does.
  /// - Throws: `notAuthenticated` unless the app runs as the agent's own user, or as root.
  public func resetDevice() async throws(CaravanError) { try await done(.resetDevice(CaravanWire.Empty())) }

  /// What happened behind the app's back (SIM-23, SIM-24), also while it was away. One reader at a time. The agent
  /// merges what is not read. Who has chosen a patience has the agent asked once in it whether it is still there.
  /// - Returns: nil: the calling task was cancelled.
  /// - Throws: `networkNotConnected` when the agent has gone, `timedOut` when it hangs.
  public func nextUpcall() async throws(CaravanError) -> Upcall? {
    while let upcall = try await connection.nextUpcall() {
      if let known = Upcall(upcall) { return known }
    }
    return nil
  }

  /// `nextUpcall` as a sequence.
  public var upcalls: Upcalls { Upcalls(client: self) }

  func done(_ kind: AppRequest.Kind) async throws(CaravanError) { try await connection.done(kind) }
}

/// What happens behind the app's back, until the task is cancelled or the connection ends, which is thrown.
public struct Upcalls: AsyncSequence, Sendable {
  /// What happened to one table.
  public typealias Element = Upcall
  let client: CaravanClient

  /// Waits for upcalls, one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let client: CaravanClient
    /// The next upcall; nil: the calling task was cancelled.
    public mutating func next() async throws(CaravanError) -> Upcall? { try await client.nextUpcall() }
  }

  /// Upcalls that nobody on this connection has taken yet, then those to come.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
}

extension AppConnection {
  /// Says who the app is. On first contact the agent answers with a token; the binding is final once it has come back.
  fileprivate func introduce(_ app: ContainerID, _ token: AppToken) async throws(CaravanError) {
    var hello = CaravanWire.AppHello(app: app.text, token: token.read(), knowsLists: true)
    while true {
      guard case .welcome(let welcome) = try await request(.hello(hello)) else {
        throw Self.surprise("hello")
      }
      guard !welcome.token.isEmpty else { return letIn(knowsLists: welcome.knowsLists) }
      try token.write(welcome.token)
      hello.token = welcome.token
    }
  }

  func done(_ kind: AppRequest.Kind) async throws(CaravanError) {
    guard case .done = try await request(kind) else { throw Self.surprise("request") }
  }

  // MARK: Writes

  func open(_ request: CaravanWire.BeginWrite) async throws(CaravanError) -> WriteOpened {
    guard case .writeOpened(let opened) = try await self.request(.beginWrite(request)) else {
      throw Self.surprise("write")
    }
    return opened
  }

  /// Ends a write, if the agent has not done so at once.
  func close(_ opened: WriteOpened) async throws(CaravanError) -> WriteClosed {
    guard opened.write != 0 else { return WriteClosed(rows: opened.rows, promise: opened.promise) }
    return try await close([opened.write])
  }

  /// - Throws: why the agent refused; then nothing has happened, and the writes are open no more.
  func close(_ writes: [UInt64], isAtomic: Bool = false) async throws(CaravanError) -> WriteClosed {
    do throws(CaravanError) {
      let answer = try await request(.closeWrite(CaravanWire.CloseWrite(writes: writes, atomic: isAtomic)))
      guard case .writeClosed(let closed) = answer else { throw Self.surprise("close") }
      return closed
    } catch {
      await abandon(writes)
      throw error
    }
  }

  func abandon(_ writes: [UInt64]) async {
    guard !writes.isEmpty else { return }
    // Where the agent has gone, so have they.
    _ = try? await request(.closeWrite(CaravanWire.CloseWrite(writes: writes, abandon: true)))
  }

  static func surprise(_ what: String) -> CaravanError {
    CaravanError(.internalError, "the agent answered a \(what) with something else: do app and agent fit together?")
  }
}
