internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSchemaClient
internal import CaravanWire

/// One container's schema, as the operator reaches it, or a developer with credentials of a device of theirs.
struct SchemaSession: Sendable {
  let container: ContainerID
  private let perform: @Sendable (SchemaCall) async throws(CaravanError) -> SchemaAnswer

  /// - Parameter credentials: a developer's; nil: the operator's.
  static func with<R: Sendable>(
    _ container: ContainerID, credentials: String?, _ options: Options, _ host: Host,
    _ body: @Sendable (SchemaSession) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    if let credentials {
      return try await DeveloperSession(credentials, options, nil, host).asking(about: container) {
        (perform) throws(CaravanError) in
        try await body(SchemaSession(container: container, perform: perform))
      }
    }
    let bus = try Deployment(options: options, host: host).bus(.cli)
    return try await bus.with(host) { bus throws(CaravanError) in
      let schema = SchemaClient(bus: bus)
      return try await body(
        SchemaSession(container: container) { (call) throws(CaravanError) in try await schema.perform(call) })
    }
  }

  /// The latest version of every type and template, by name.
  func schema(
    in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> (types: [CaravanModel.RecordType], templates: [CaravanModel.SubscriptionTemplate]) {
    let request = ListTypesRequest(container: container.text, environment: environment.rawValue)
    guard case .list(let reply)? = try await perform(SchemaCall(call: .list(request))).answer else {
      throw Self.otherAnswer
    }
    return (try reply.models(), try reply.templateModels())
  }

  /// - Parameter isPreview: nothing is changed.
  /// - Returns: nil where everything is so already.
  func change(
    _ change: ChangeSchemaRequest.Change, in environment: CaravanModel.Environment, isPreview: Bool
  ) async throws(CaravanError) -> CaravanModel.SchemaChange? {
    let request = ChangeSchemaRequest(
      container: container.text, environment: environment.rawValue, byOperator: true, preview: isPreview,
      change: change)
    guard case .change(let reply)? = try await perform(SchemaCall(call: .change(request))).answer else {
      throw Self.otherAnswer
    }
    return try reply.change.map { (change) throws(CaravanError) in try change.model() }
  }

  /// The latest first.
  func history(
    in environment: CaravanModel.Environment, last count: Int
  ) async throws(CaravanError) -> [CaravanModel.SchemaChange] {
    var changes: [CaravanModel.SchemaChange] = []
    while changes.count < count {
      let request = SchemaHistoryRequest(
        container: container.text, environment: environment.rawValue, before: changes.last?.id ?? 0,
        limit: UInt32(count - changes.count))
      guard case .history(let reply)? = try await perform(SchemaCall(call: .history(request))).answer else {
        throw Self.otherAnswer
      }
      for change in reply.changes { changes.append(try change.model()) }
      guard reply.more, !reply.changes.isEmpty else { break }
    }
    return changes
  }

  /// Gives a user a role or takes it away.
  /// - Returns: whether it was otherwise before.
  func change(
    _ member: CaravanModel.RoleMember, isMember: Bool, in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> Bool {
    var request = MembersRequest(container: container.text, environment: environment.rawValue, byOperator: true)
    if isMember { request.give = RoleMember(member) } else { request.take = RoleMember(member) }
    return try await ask(request).changed
  }

  /// Roles to which something is granted, and who has which, by role and user.
  /// - Parameter role: nil: all.
  func members(
    of role: String?, in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> (roles: [String], members: [CaravanModel.RoleMember]) {
    var request = MembersRequest(
      container: container.text, environment: environment.rawValue, byOperator: true, role: role ?? "")
    var members: [CaravanModel.RoleMember] = []
    while true {
      let reply = try await ask(request)
      for member in reply.members { members.append(try member.model()) }
      guard reply.more, let last = reply.members.last else { return (reply.roles, members) }
      request.after = last
    }
  }

  private func ask(_ request: MembersRequest) async throws(CaravanError) -> MembersReply {
    guard case .members(let reply)? = try await perform(SchemaCall(call: .members(request))).answer else {
      throw Self.otherAnswer
    }
    return reply
  }

  static let otherAnswer = CaravanError(
    .internalError, "a question about the schema was answered with something else: update this program")
}
