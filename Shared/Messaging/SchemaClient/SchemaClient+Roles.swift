import CaravanBus
public import CaravanModel
import CaravanRuntime
import CaravanWire

/// Which roles of a container's own somebody has (CK-04).
extension SchemaClient {
  /// What somebody was known to have lets them in for so long where nobody can be asked.
  public static let rolesPatience: Duration = .seconds(10)

  struct RoleQuestion: Hashable {
    let user: UserID
    let container: ContainerID
    let environment: CaravanModel.Environment
  }

  struct KnownRoles: Sendable {
    /// Those that were asked about.
    let among: Set<String>
    let roles: Set<String>
    let read: Instant
  }

  /// As it was within the last second.
  /// - Parameter among: names of roles; at most `Limits.ownRoles`.
  /// - Throws: whatever keeps the registry from answering, once what is known is too old to let anybody in.
  public func roles(
    of user: UserID, among: Set<String>, in container: ContainerID, _ environment: CaravanModel.Environment
  ) async throws(CaravanError) -> Set<String> {
    guard !among.isEmpty else { return [] }
    let question = RoleQuestion(user: user, container: container, environment: environment)
    let found = find(question, in: userRoles).flatMap { among.isSubset(of: $0.value.among) ? $0 : nil }
    let asked = now
    let end = found.map { $0.value.read + Self.rolesPatience }
    if let found, let end, !found.isDue, asked < end { return found.value.roles.intersection(among) }
    let request = RolesRequest(
      container: container.text, environment: environment.rawValue, user: user.text, among: among.sorted())
    do throws(CaravanError) {
      let deadline = found == nil ? Self.deadline : Self.confirmingDeadline
      let reply: RolesReply = try await bus.call(request, to: SchemaMethod.roles.subject, deadline: deadline)
      let roles = Set(reply.roles).intersection(among)
      userRoles.withLock {
        $0.insert(Kept(value: KnownRoles(among: among, roles: roles, read: asked), confirmed: asked), for: question)
      }
      return roles
    } catch {
      guard let found, let end, now < end else { throw error }
      return found.value.roles.intersection(among)
    }
  }

  /// Somebody was found to have other ones.
  public func forgetRoles(of user: UserID, in container: ContainerID, _ environment: CaravanModel.Environment) {
    let question = RoleQuestion(user: user, container: container, environment: environment)
    userRoles.withLock { $0.remove(question) }
  }
}
