public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime

// What the store keeps of the device: its owner, its apps and its network.
extension LocalStore {
  // MARK: The owner

  /// Makes the directory for a store, or sees to it that nobody else may change what is in it, or read it: one of an
  /// earlier release could be read by everybody who may enter the directory.
  /// - Throws: `invalidData` when the directory is another user's.
  public static func makePrivate(_ directory: String) throws(CaravanError) {
    try Directories.makePrivate(directory, files: "agent.")
  }

  /// Makes the store the user's whose device opens it first, and nobody else's from then on.
  /// - Throws: `notAuthenticated` when it is another user's, or the other environment's.
  public func belong(to device: EnrolledDevice) throws(CaravanError) {
    try StoreOwner(context: context).claim(for: device)
  }

  // MARK: Apps

  private var bindings: AppBindings { AppBindings(context: context) }

  /// Checks who speaks for an app, and binds it on first contact.
  /// - Returns: the new token on first contact, nil otherwise.
  /// - Throws: `notAuthenticated`, the same whatever was wrong.
  public func authenticate(app: ContainerID, token: [UInt8], user: UInt32) throws(CaravanError) -> [UInt8]? {
    try bindings.authenticate(app: app, token: token, user: user)
  }

  package func apps() throws(CaravanError) -> [AppBindings.KnownApp] { try bindings.apps() }
  package func user(of app: ContainerID) throws(CaravanError) -> UInt32? { try bindings.user(of: app) }
  package func allow(_ app: ContainerID, user: UInt32) throws(CaravanError) { try bindings.allow(app, user: user) }

  package func untold(of app: ContainerID) -> [TableID] { catalog.untold(of: app) }

  /// Ends the app's binding.
  /// - Returns: how many tables it leaves to whoever is this app next.
  package func forget(_ app: ContainerID) throws(CaravanError) -> Int {
    try bindings.forget(app)
    return tables.keys.count { $0.app == app }
  }

  // MARK: The network

  private var network: NetworkStore { NetworkStore(context: context) }

  public func networkRecord() throws(CaravanError) -> NetworkRecord { try network.record() }
  public func save(_ refusal: Admission.Refusal?) throws(CaravanError) { try network.save(refusal) }
  public func save(_ policy: NetworkPolicy) throws(CaravanError) { try network.save(policy) }
  public func save(_ usage: UsageLedger.Unsaved) throws(CaravanError) { try network.save(usage) }
  public func save(grant bytes: UInt64, over link: LinkClass, on day: Int64) throws(CaravanError) {
    try network.save(grant: bytes, over: link, on: day)
  }

  // MARK: Parts of chunks

  private var partial: PartialChunks { PartialChunks(context: context) }

  public func part(of hash: ChunkHash) throws(CaravanError) -> [UInt8] { try partial.part(of: hash) }
  public func keep(part: [UInt8], of hash: ChunkHash, from start: Int) throws(CaravanError) {
    try partial.keep(part, of: hash, from: start)
  }
  public func dropPart(of hash: ChunkHash) throws(CaravanError) { try partial.drop(hash) }
}
