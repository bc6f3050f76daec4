public import CaravanAgentStore
public import CaravanAgentSync
public import CaravanModel
public import CaravanRuntime

internal import struct Synchronization.Atomic

/// A device: its store, its engine and its one connection (SIM-40, SIM-42). The executable runs one; a simulation as
/// many as it likes, each with a directory, a host and a bus of its own.
public final class Agent: Service {
  public struct Configuration: Sendable {
    /// Where the store lies.
    public var directory: String
    public var identity: DeviceIdentity
    /// What the machine is connected by; nil: nothing, so that nothing is sent.
    public var link: LinkClass?
    public var store: LocalStoreOptions

    public init(
      directory: String, identity: DeviceIdentity, link: LinkClass?, store: LocalStoreOptions = LocalStoreOptions()
    ) {
      self.directory = directory
      self.identity = identity
      self.link = link
      self.store = store
    }
  }

  public let store: LocalStore
  public let engine: SyncEngine
  private let connection: CloudConnection
  private let sessions = Atomic<UInt64>(0)

  /// Opens the store and recovers what a crash left behind; nothing is sent before `run`.
  /// - Parameter connect: makes the bus; called again when it fails, or when the bus has closed.
  /// - Throws: as `LocalStore.open`, and `notAuthenticated` when the store is another user's, or is the other
  ///   environment's.
  public init(
    _ configuration: Configuration, host: Host, credentials: (@Sendable () -> String)? = nil,
    connect: @escaping BusMaker
  ) async throws(CaravanError) {
    let store = try await LocalStore.open(configuration.directory, host: host, options: configuration.store)
    let record: NetworkRecord
    do throws(CaravanError) {
      try await store.belong(to: configuration.identity.device)
      record = try await store.networkRecord()
    } catch {
      await store.close()
      throw error
    }
    let engine = SyncEngine(
      store: store, remembering: record, identity: configuration.identity, link: configuration.link, host: host,
      credentials: credentials)
    // The engine has the store.
    await store.whenDirtied { [weak engine] table, change in engine?.tableChanged(table, change) }
    await store.whenChunksAreCut { [weak engine] table, chunks in engine?.chunksCut(table, chunks) }
    await store.whenDamaged { [weak engine] in engine?.storeDamaged() }
    await store.whenDatabaseDamaged { [weak engine] in engine?.shutDown() }
    self.store = store
    self.engine = engine
    connection = CloudConnection(engine: engine, connect: connect)
  }

  /// An app's requests without a socket: for simulations and tests.
  public func makeSession(app: ContainerID) -> AppSession {
    // Sessions of the socket count from 1.
    let owner = 1 << 32 | sessions.wrappingAdd(1, ordering: .relaxed).newValue
    return AppSession(app: app, owner: owner, store: store, sync: engine)
  }

  /// Whether store and engine still answer; whoever hangs never says no. For whoever watches over the process.
  public func isServing() async -> Bool {
    guard (try? await store.fileBytes()) != nil else { return false }
    _ = await engine.status()
    return true
  }

  /// Syncs until `shutDown`, or until the task is cancelled, which is what a crash looks like; the store is closed
  /// then.
  public func run() async throws {
    var failure: (any Error)?
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.connection.run() }
      group.addTask { await self.store.closeCursorsInTime() }
      do { try await engine.run() } catch { failure = error }
      group.cancelAll()
    }
    let isDamaged = await store.isDatabaseDamaged
    await store.close()
    if let failure { throw failure }
    if isDamaged {
      throw CaravanError(
        .internalError, "the local store is damaged: it is set aside and salvaged when the agent starts again")
    }
  }

  public func shutDown() { engine.shutDown() }
}
