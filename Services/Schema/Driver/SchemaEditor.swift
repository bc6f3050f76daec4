import CaravanModel
import CaravanRuntime
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// Changes the schema of a container as a whole, for its developers and the operator.
struct SchemaEditor: Sendable {
  let registrar: Registrar
  let containers: ContainerHandler
  let host: Host

  private typealias Change = ChangeSchemaRequest.Change

  /// Compares and sets: what somebody else changed meanwhile is looked at first (CK-96).
  func change(_ request: ChangeSchemaRequest) async throws(CaravanError) -> ChangeSchemaReply {
    let store = try registrar.store(request.container, request.environment)
    let change = try required(request.change, "change")
    let asker = try Asker(user: request.user, isOperator: request.byOperator)
    let standing = try await containers.admit(asker, to: store.database, registers: false)
    guard standing != .user else {
      throw Registry.notADeveloper(of: store.database.container)
    }
    guard store.database.container != .system else {
      throw CaravanError(.invalidData, "the container '\(ContainerID.system)' has no schema: it is Caravan's own")
    }
    let author = try asker.author(device: request.device)
    return try await registrar.insisting(store.database) { () async throws(CaravanError) in
      let state = try await registrar.whole(store)
      let (plan, source) = try await plan(change, state.registered, store)
      guard !plan.isEmpty else { return ChangeSchemaReply() }
      let made = CaravanModel.SchemaChange(
        id: state.schema + 1, parent: state.schema, milliseconds: host.wallMilliseconds, author: author,
        cause: change.cause, source: source, differences: plan.differences)
      let reply = ChangeSchemaReply(change: CaravanWire.SchemaChange(made))
      guard !request.preview else { return reply }
      let edit = RegistryEdit(
        added: plan.added, removed: plan.removed, templates: plan.templates, change: made)
      guard try await store.write(edit, after: state, by: standing) else { return nil }
      registrar.forget(plan.added.map(\.name) + plan.removed, in: store.database)
      host.log.info(
        "schema changed",
        [
          .database: store.database, .reason: made.cause.rawValue, .count: plan.differences.count,
          .user: author.user.map(\.text) ?? "operator",
        ])
      return reply
    }
  }

  /// - Returns: what to write, and the schema of the other environment that it comes from.
  private func plan(
    _ change: Change, _ schema: RegisteredSchema, _ store: SchemaStore
  ) async throws(CaravanError) -> (plan: SchemaPlan, source: UInt32) {
    let environment = store.database.environment
    let isRestored = try await store.isRestored()
    let random = host.random
    var plan = SchemaPlan(schema, in: environment) { count in
      isRestored ? TypeNumbers(afterRestore: count) { random.below($0) } : TypeNumbers(after: count)
    }
    switch change {
    case .promote(let promotion):
      guard environment == .production else { throw Self.wrongEnvironment("production takes types over") }
      let development = try await schemaOf(.development, store)
      try plan.promote(promotion.types, templates: promotion.templates, of: development)
      return (plan, development.id)
    case .reset:
      guard environment == .development else { throw Self.wrongEnvironment("development is reset") }
      let production = try await schemaOf(.production, store)
      try plan.reset(to: production)
      return (plan, production.id)
    case .importTypes(let text):
      var types: [CaravanModel.RecordType] = []
      for type in text.types { types.append(try type.model()) }
      var templates: [CaravanModel.SubscriptionTemplate] = []
      for template in text.templates { templates.append(try template.model()) }
      try plan.import(
        types, templates: templates, promotableTo: try await schemaOf(.production, store), removes: text.removes)
    case .remove(let removal):
      try plan.remove(removal.field.isEmpty ? nil : removal.field, of: removal.type)
    case .index(let indexes):
      var fields: [(name: String, indexes: FieldIndexes)] = []
      for field in indexes.fields {
        fields.append((field.name, try FieldIndexes(wire: try required(field.indexes, "indexes"))))
      }
      try plan.index(fields, of: indexes.type)
    case .setTemplate(let template): try plan.set(try template.model())
    case .removeTemplate(let removal): try plan.removeTemplate(named: removal.name)
    }
    return (plan, 0)
  }

  private func schemaOf(
    _ environment: CaravanModel.Environment, _ store: SchemaStore
  ) async throws(CaravanError) -> RegisteredSchema {
    let other = try registrar.store(store.database.container.text, environment.rawValue)
    return try await registrar.whole(other).registered
  }

  private static func wrongEnvironment(_ what: String) -> CaravanError {
    CaravanError(.invalidData, "\(what), and no other environment: leave --environment out")
  }
}

extension ChangeSchemaRequest.Change {
  fileprivate var cause: CaravanModel.SchemaChange.Cause {
    switch self {
    case .promote: .promoted
    case .reset: .reset
    case .importTypes: .imported
    case .remove, .removeTemplate: .removed
    case .index, .setTemplate: .said
    }
  }
}
