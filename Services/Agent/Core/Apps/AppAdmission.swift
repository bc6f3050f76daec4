public import CaravanModel

/// Who may be an app that nobody is yet (MOB-16, MOB-18): a name is not for whoever comes first.
public struct AppAdmission: Sendable, Hashable {
  public enum Verdict: Sendable, Hashable {
    case welcome
    /// The device's owner has to allow it first.
    case waits
    /// A package of this device registered the app for another user.
    case taken(by: UInt32)
  }

  /// The user the agent runs as.
  public let agentUser: UInt32
  /// Whoever comes first is the app.
  public let isOpen: Bool

  public init(agentUser: UInt32, isOpen: Bool = false) {
    self.agentUser = agentUser
    self.isOpen = isOpen
  }

  /// The device is this user's: root's, and that of the user the agent runs as.
  public func isOwner(_ user: UInt32) -> Bool { user == 0 || user == agentUser }

  /// - Parameter registered: the user that a package names for the app; nil: there is no such package.
  public func verdict(on user: UInt32, registered: UInt32?) -> Verdict {
    if let registered { return registered == user ? .welcome : .taken(by: registered) }
    return isOwner(user) || isOpen ? .welcome : .waits
  }
}

/// First contacts that the device's owner has not allowed, for the owner to see. They are in memory only: whoever is
/// unknown makes the agent write nothing.
public struct WaitingApps: Sendable {
  public struct Contact: Sendable, Hashable {
    public let app: ContainerID
    public let user: UInt32
  }

  private let share: AppShare
  /// The oldest first.
  public private(set) var contacts: [Contact] = []

  /// - Parameter share: contacts of one user, and of all, that are remembered; of one app of one user there is one.
  public init(_ share: AppShare) { self.share = share }

  /// Where there is no room, the oldest of the user who has most makes some: nobody displaces those of another.
  public mutating func add(_ app: ContainerID, of user: UInt32) {
    remove(app, of: user)
    let own = contacts.count { $0.user == user }
    if own >= share.user {
      removeOldest(of: user)
    } else if contacts.count >= share.all {
      let counts = contacts.reduce(into: [UInt32: Int]()) { $0[$1.user, default: 0] += 1 }
      if let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key { removeOldest(of: most) }
    }
    contacts.append(Contact(app: app, user: user))
    precondition(contacts.count <= share.all, "\(contacts.count) contacts are remembered of \(share.all)")
    assert(contacts.count { $0.user == user } <= share.user, "one user's contacts take the room of others")
    assert(Set(contacts).count == contacts.count, "an app of a user waits twice")
  }

  public mutating func remove(_ app: ContainerID, of user: UInt32) {
    contacts.removeAll { $0.app == app && $0.user == user }
  }

  private mutating func removeOldest(of user: UInt32) {
    if let index = contacts.firstIndex(where: { $0.user == user }) { contacts.remove(at: index) }
  }
}
