public import CaravanModel

/// What accounts without a quota of their own may hold.
public struct DefaultQuotas: Sendable, Hashable {
  public var user: Quota
  public var container: Quota

  public init(user: Quota = .unlimited, container: Quota = .unlimited) {
    self.user = user
    self.container = container
  }

  public static let unlimited = DefaultQuotas()

  public subscript(account: Account) -> Quota {
    switch account {
    case .user: user
    case .container: container
    }
  }
}
