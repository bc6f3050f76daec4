package import CaravanModel

/// A notification log: that of a user in a container.
package struct LogName: Sendable, Hashable {
  package let user: UserID
  package let container: ContainerID
  package let environment: Environment

  package init(user: UserID, container: ContainerID, environment: Environment) {
    (self.user, self.container, self.environment) = (user, container, environment)
  }
}

/// Whose notifications go to a push target, and what the app calls it.
package struct TargetName: Sendable, Hashable, Comparable {
  package let log: LogName
  package let id: String

  package init(log: LogName, id: String) { (self.log, self.id) = (log, id) }

  private var text: String { "\(log.user)/\(log.container)/\(log.environment.rawValue)/\(id)" }

  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
