import CaravanBus
public import CaravanModel
public import CaravanWire

/// A container's schema as a whole.
extension SchemaClient {
  /// The latest version of every type, by name, and which schema they are.
  public func types(
    of container: ContainerID, in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> [CaravanModel.RecordType] {
    let request = ListTypesRequest(container: container.text, environment: environment.rawValue)
    let reply: ListTypesReply = try await bus.call(request, to: SchemaMethod.types.subject, deadline: Self.deadline)
    return try reply.models()
  }

  /// The latest template of this name, in whatever case.
  /// - Throws: `noSuchObject`.
  public func template(
    named name: String, of container: ContainerID, in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> CaravanModel.SubscriptionTemplate {
    let request = TemplateRequest(container: container.text, environment: environment.rawValue, name: name)
    let reply: TemplateReply = try await bus.call(
      request, to: SchemaMethod.template.subject, deadline: Self.deadline)
    return try required(reply.found, "template").model()
  }

  /// What of the container's records is not everybody's to see, as it is now (CK-04, CK-90).
  public func visibility(
    of container: ContainerID, in environment: CaravanModel.Environment, deadline: Duration = SchemaClient.deadline
  ) async throws(CaravanError) -> RecordVisibility {
    let request = GrantsRequest(container: container.text, environment: environment.rawValue)
    let reply: GrantsReply = try await bus.call(request, to: SchemaMethod.grants.subject, deadline: deadline)
    var granted: [CaravanModel.GrantedType] = []
    for type in reply.types { granted.append(try type.model()) }
    return RecordVisibility(granted: granted, retired: reply.retired.map { $0.model() })
  }

  /// What a developer or the operator asks of the schema: the call says who.
  /// - Throws: `accessDenied` for anybody else; `schemaNotAdditive`, `schemaViolation`, `tableNotFound`,
  ///   `noSuchObject` and `limitExceeded` for changes that cannot be made.
  public func perform(_ call: SchemaCall) async throws(CaravanError) -> SchemaAnswer {
    func ask<Reply: WireMessage>(
      _ method: SchemaMethod, _ request: some WireMessage
    ) async throws(CaravanError) -> Reply {
      try await bus.call(request, to: method.subject, deadline: Self.deadline)
    }
    switch try required(call.call, "call") {
    case .change(let request): return SchemaAnswer(answer: .change(try await ask(.change, request)))
    case .list(let request): return SchemaAnswer(answer: .list(try await ask(.types, request)))
    case .history(let request): return SchemaAnswer(answer: .history(try await ask(.history, request)))
    case .members(let request): return SchemaAnswer(answer: .members(try await ask(.members, request)))
    }
  }
}
