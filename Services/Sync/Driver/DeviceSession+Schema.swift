import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

extension DeviceSession {
  /// A container that is not there for the user is found out before anything of it is made. Proposals ask for
  /// themselves; names that no app's container has are refused by what they are for.
  func admit(to operation: CaravanWire.Operation) async throws(CaravanError) {
    if case .propose = operation.kind { return }
    guard !operation.container.isEmpty, let container = try? ContainerID(operation.container), container != .system
    else { return }
    // What no credentials of a server app are for, nobody is asked about: nothing tells whether it is there.
    _ = try access.container(operation.container)
    try await cloud.schema.admit(user, to: container, in: environment)
  }

  func propose(_ proposal: ProposeTable, _ account: ReplyAccount) async throws(CaravanError) -> CaravanWire.RecordType {
    let type = try required(proposal.type, "type").model()
    let database = try access.database(proposal.container)
    let registered = CaravanWire.RecordType(
      try await cloud.schema.propose(
        type, to: database.container, in: database.environment, by: user, on: device.device.text,
        isRemembered: proposal.remembered, isDeclared: proposal.declared, isPartial: proposal.partial))
    let bytes = registered.fields.reduce(registered.name.utf8.count) {
      $0 + SyncLimits.outcomeBytes + $1.name.utf8.count
    }
    guard account.settle(taken: 0, needed: bytes) else { throw Refusal.replyFull }
    return registered
  }

  /// What a developer's device asks of a container's schema: the registry judges whether it may.
  func schema(_ question: AskSchema, _ account: ReplyAccount) async throws(CaravanError) -> SchemaResult {
    let container = try access.database(question.container).container.text
    var call = try SchemaCall.decode(question.call)
    switch call.call {
    case .change(var request):
      // Reading development's is harmless; changing production takes credentials for it.
      try requireOwn(request.environment)
      (request.container, request.user, request.device) = (container, user.text, device.device.text)
      request.byOperator = false
      call.call = .change(request)
    case .list(var request):
      (request.container, request.user) = (container, user.text)
      call.call = .list(request)
    case .history(var request):
      (request.container, request.user) = (container, user.text)
      call.call = .history(request)
    case .members(var request):
      // Who has roles of production is no schema: it is shown to its own credentials only.
      try requireOwn(request.environment)
      (request.container, request.user, request.byOperator) = (container, user.text, false)
      call.call = .members(request)
    case nil:
      throw CaravanError(
        .invalidData, "a question about the schema that this release does not know: update the service")
    }
    let answer = try await cloud.schema.perform(call).encoded()
    guard account.settle(taken: 0, needed: answer.count) else { throw Refusal.replyFull }
    return SchemaResult(answer: answer)
  }

  private func requireOwn(_ name: String) throws(CaravanError) {
    guard name == environment.rawValue else {
      throw CaravanError(
        .accessDenied,
        "this device is one for \(environment.rawValue), and reaches no \(name.prefix(40)): use one for that (caravan "
          + "device add --environment)")
    }
  }
}
