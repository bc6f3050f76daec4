import CaravanBus
public import CaravanModel
import CaravanRuntime
import CaravanWire

/// Who may use a container, and what the operator says of it.
extension SchemaClient {
  /// Who was let in is looked at again after so long.
  public static let useFreshness: Duration = .seconds(5)

  /// The container is there for the user: registered and theirs to use, or free in a suite that is open. Who was let in
  /// goes on where nobody can be asked.
  /// - Throws: `zoneDoesNotExist` where it is not there for them; `unavailable`.
  public func admit(
    _ user: UserID, to container: ContainerID, in environment: CaravanModel.Environment
  ) async throws(CaravanError) {
    let use = Use(user: user, container: container, environment: environment)
    let found = find(use, in: uses, freshFor: Self.useFreshness)
    if let found, !found.isDue { return }
    let request = ContainerRequest(container: container.text, environment: environment.rawValue, user: user.text)
    do throws(CaravanError) {
      let deadline = found == nil ? Self.deadline : Self.confirmingDeadline
      let _: ContainerReply = try await bus.call(request, to: SchemaMethod.container.subject, deadline: deadline)
    } catch {
      if found != nil, error.code != .zoneDoesNotExist { return }
      uses.withLock { $0.remove(use) }
      throw error
    }
    noteUse(use)
  }

  /// Somebody was let in, by whichever answer.
  func noteUse(_ use: Use) {
    let now = now
    uses.withLock { $0.insert(Kept(value: (), confirmed: now), for: use) }
  }

  /// Every registered container, by name.
  public func containers() async throws(CaravanError) -> [CaravanModel.RegisteredContainer] {
    var list: [CaravanModel.RegisteredContainer] = []
    while true {
      let reply = try await ask(ContainersRequest(after: list.last?.name ?? ""))
      for container in reply.containers { list.append(try container.model()) }
      guard reply.more, !reply.containers.isEmpty else { return list }
    }
  }

  /// - Throws: `noSuchObject`.
  public func container(named name: String) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await askForOne(ContainersRequest(name: name))
  }

  /// Registers a container, or says whose one is that an open suite has registered at its first use.
  /// - Throws: `invalidData` for a name that cannot be; `objectExists`; `limitExceeded`.
  public func createContainer(
    _ name: String, owner: UserID, isForMembers: Bool
  ) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await askForOne(
      ContainersRequest(name: name, create: true, owner: owner.text, membersOnly: isForMembers))
  }

  /// - Throws: `noSuchObject` for the container; `limitExceeded`.
  public func allowDeveloper(
    _ user: UserID, in name: String
  ) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await askForOne(ContainersRequest(name: name, allowDeveloper: user.text))
  }

  /// - Throws: `noSuchObject` for the container, and for who is no developer of it; `invalidData` for its owner.
  public func removeDeveloper(
    _ user: UserID, from name: String
  ) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await askForOne(ContainersRequest(name: name, removeDeveloper: user.text))
  }

  /// - Throws: `noSuchObject` for the container; `invalidData` where everybody may use it; `limitExceeded`.
  public func invite(_ user: UserID, to name: String) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    try await askForOne(ContainersRequest(name: name, invite: user.text))
  }

  /// - Throws: `noSuchObject` for the container, and for who is not invited to it.
  public func uninvite(_ user: UserID, from name: String) async throws(CaravanError) -> CaravanModel.RegisteredContainer
  {
    try await askForOne(ContainersRequest(name: name, uninvite: user.text))
  }

  private func askForOne(_ request: ContainersRequest) async throws(CaravanError) -> CaravanModel.RegisteredContainer {
    let reply = try await ask(request)
    return try required(reply.containers.first, "container").model()
  }

  private func ask(_ request: ContainersRequest) async throws(CaravanError) -> ContainersReply {
    try await bus.call(request, to: SchemaMethod.containers.subject, deadline: Self.deadline)
  }
}
