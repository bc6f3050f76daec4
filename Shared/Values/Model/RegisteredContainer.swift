/// A container as the suite knows it: whose it is, who says how its records behave, and who may use it.
public struct RegisteredContainer: Sendable, Hashable {
  /// Its token in databases and subjects, for ever.
  public let id: ContainerID
  /// What people call it: 1–255 of `A-Z a-z 0-9 . _ -`, unique without regard to case.
  public let name: String
  /// nil: the suite's operator.
  public var owner: UserID?
  /// Beside the owner, sorted.
  public var developers: [UserID]
  /// Where it is: in development alone while nobody but its first user has said whose it is.
  public var environments: [Environment]
  /// Whether it is for its owner, its developers and whom the operator invites; else every user of the suite may use
  /// it.
  public var isForMembers: Bool
  /// Who may use it beside them where it is for members, sorted.
  public var invited: [UserID]

  public init(
    id: ContainerID, name: String, owner: UserID?, developers: [UserID] = [],
    environments: [Environment] = Environment.allCases, isForMembers: Bool = false, invited: [UserID] = []
  ) {
    self.id = id
    self.name = name
    self.owner = owner
    self.developers = developers
    self.environments = environments
    self.isForMembers = isForMembers
    self.invited = invited
  }

  /// Whether the user says how records behave: the owner does, too.
  public func isDeveloper(_ user: UserID) -> Bool { owner == user || developers.contains(user) }

  /// Whether a device of this user is let in. Server apps are the operator's to let in, with credentials that name the
  /// container (`Principal.container`).
  public func mayUse(_ user: UserID) -> Bool {
    !isForMembers || isDeveloper(user) || invited.contains(user) || ServerApp(user) != nil
  }
}
