internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Who may be which app: what the store has bound, what packages registered, what the device's owner allowed, and whom
/// that leaves to wait (MOB-16).
final class AppRegister: Sendable {
  let admission: AppAdmission
  /// Where packages register apps, a file each.
  private let packages: String
  private let store: LocalStore
  private let log: Log
  /// Apps of which the log says already that their registration is wrong.
  private let complained = Mutex<Set<ContainerID>>([])
  private let waiting = Mutex(WaitingApps(AppLimits.waitingContacts))

  init(_ configuration: AppServer.Configuration, store: LocalStore, log: Log) {
    admission = AppAdmission(agentUser: configuration.user, isOpen: configuration.isOpen)
    packages = configuration.packages
    self.store = store
    self.log = log
  }

  /// Checks who speaks for an app.
  /// - Returns: a new token on first contact, nil when this one is the app's.
  /// - Throws: `notAuthenticated` when it is not, or when the device's owner has not allowed it yet.
  func authenticate(_ app: ContainerID, token: [UInt8], user: UInt32) async throws(CaravanError) -> [UInt8]? {
    if try await store.user(of: app) == nil { try admit(app, of: user) }
    return try await store.authenticate(app: app, token: token, user: user)
  }

  private func admit(_ app: ContainerID, of user: UInt32) throws(CaravanError) {
    switch admission.verdict(on: user, registered: registeredUser(of: app)) {
    case .welcome: return
    case .taken(let owner):
      throw CaravanError(
        .notAuthenticated,
        "app '\(app)' is registered for user \(owner) on this device, and this is user \(user): choose another name")
    case .waits:
      waiting.withLock { $0.add(app, of: user) }
      throw CaravanError(
        .notAuthenticated,
        "app '\(app)' of user \(user) is new on this device, whose owner has to allow it first: "
          + "caravan agent allow \(app) --uid \(user)")
    }
  }

  // MARK: The owner

  func list() async throws(CaravanError) -> [AppEntry] {
    let kept = try await store.apps().map { app in
      AppEntry(app: app.app.text, uid: app.user, standing: app.hasCome ? .bound : .allowed)
    }
    let waiting = waiting.withLock { $0.contacts }
    return kept + waiting.map { AppEntry(app: $0.app.text, uid: $0.user, standing: .waiting) }
  }

  func allow(_ app: ContainerID, user: UInt32) async throws(CaravanError) {
    try await store.allow(app, user: user)
    waiting.withLock { $0.remove(app, of: user) }
    log.info("the device's owner has allowed an app of user \(user)", [.app: app])
  }

  /// - Returns: how many tables of the app stay.
  func forget(_ app: ContainerID) async throws(CaravanError) -> Int {
    let tables = try await store.forget(app)
    log.info("the device's owner has forgotten an app", [.app: app])
    return tables
  }

  // MARK: Packages

  /// How the app is started; nil: it is not.
  func start(of app: ContainerID) -> AppRegistration.Start? { registration(of: app)?.start }

  /// The user that a package named for the app.
  private func registeredUser(of app: ContainerID) -> UInt32? {
    guard let registration = registration(of: app) else { return nil }
    switch registration.user {
    case .number(let number): return number
    case .name(let name):
      let users: String
      do throws(CaravanError) { users = try TextFile.read("/etc/passwd") } catch {
        complain(of: app, error)
        return nil
      }
      if let number = AppRegistration.number(of: name, in: users) { return number }
      complain(of: app, CaravanError(.invalidData, "this device has no user '\(name.prefix(80))'"))
      return nil
    }
  }

  /// What a package says of the app. A file that root could not have written says nothing.
  private func registration(of app: ContainerID) -> AppRegistration? {
    let file = "\(app).conf"
    do throws(CaravanError) {
      guard DiskFile.exists("\(packages)/\(file)") else { return nil }
      let trusted: Set<UInt32> = [0, admission.agentUser]
      let folder = try HeldDirectory.owned(packages, by: trusted)
      guard try folder.facts.mode & 0o022 == 0, let facts = try folder.facts(of: file), facts.kind == .file,
        trusted.contains(facts.owner), facts.mode & 0o022 == 0
      else { throw CaravanError(.invalidData, "others than root may write it: chmod go-w file and directory") }
      let registration = try AppRegistration(
        parsing: TextFile.read("\(packages)/\(file)", upTo: AppRegistration.maximumBytes))
      guard registration.app == app else {
        throw CaravanError(.invalidData, "it names app '\(registration.app)': name the file after that")
      }
      return registration
    } catch {
      complain(of: app, error)
      return nil
    }
  }

  /// Whoever comes again and again fills no log.
  private func complain(of app: ContainerID, _ error: CaravanError) {
    let isNews = complained.withLock { $0.count < AppLimits.countedApps && $0.insert(app).inserted }
    if isNews { log.warning("a package's registration of an app is passed over", [.app: app, .error: error]) }
  }
}
