package import CaravanBus
package import CaravanModel
package import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// The registry of containers and their record types: `svc.schema.propose|type|types|template|grants|change|history`,
/// `svc.schema.roles|members` and `svc.schema.container|containers`. Its state lies in storage, so any number of
/// instances may run; each keeps for a second what changes with a restore, or when the operator says so.
package final class SchemaService: Service {
  private let service: ServiceHost

  /// - Parameters:
  ///   - opensContainers: whether a container is registered at its first use in development, for whoever uses it; else
  ///     there are those that the operator made.
  ///   - version: semantic, as discovery shows it.
  package init(
    bus: any MessageBus, host: Host, opensContainers: Bool = false, version: String = Release.version
  ) throws(CaravanError) {
    var soon = StorageClient.Policy()
    (soon.deadline, soon.attempts) = (SchemaLimits.confirmingDeadline, 1)
    let storage = StorageClient(bus: bus, host: host, writer: SchemaRecords.reader)
    let confirming = StorageClient(bus: bus, host: host, writer: SchemaRecords.reader, policy: soon)
    let containers = try ContainerHandler(storage: storage, confirming: confirming, host: host, isOpen: opensContainers)
    let registrar = Registrar(storage: storage, confirming: confirming, containers: containers, host: host)
    let editor = SchemaEditor(registrar: registrar, containers: containers, host: host)
    let roles = RoleMembers(registrar: registrar, containers: containers, host: host)
    service = ServiceHost(
      name: "caravan-schema", version: version, bus: bus, host: host,
      endpoints: [
        Self.endpoint(.propose) { (request: ProposeTypeRequest) throws(CaravanError) in
          try await registrar.propose(request)
        },
        Self.endpoint(.type) { (request: TypeRequest) throws(CaravanError) in try await registrar.type(request) },
        Self.endpoint(.types) { (request: ListTypesRequest) throws(CaravanError) in try await registrar.types(request)
        },
        Self.endpoint(.template) { (request: TemplateRequest) throws(CaravanError) in
          try await registrar.template(request)
        },
        Self.endpoint(.grants) { (request: GrantsRequest) throws(CaravanError) in try await registrar.grants(request) },
        Self.endpoint(.change) { (request: ChangeSchemaRequest) throws(CaravanError) in
          try await editor.change(request)
        },
        Self.endpoint(.history) { (request: SchemaHistoryRequest) throws(CaravanError) in
          try await registrar.history(request)
        },
        Self.endpoint(.roles) { (request: RolesRequest) throws(CaravanError) in try await roles.roles(request) },
        Self.endpoint(.members) { (request: MembersRequest) throws(CaravanError) in try await roles.members(request) },
        Self.endpoint(.container) { (request: ContainerRequest) throws(CaravanError) in
          try await registrar.container(request)
        },
        Self.endpoint(.containers) { (request: ContainersRequest) throws(CaravanError) in
          try await containers.answer(request)
        },
      ])
  }

  package func run() async throws { try await service.run() }
  package func shutDown() { service.shutDown() }

  private static func endpoint<Request: WireMessage, Reply: WireMessage>(
    _ method: SchemaMethod, _ answer: @escaping @Sendable (Request) async throws(CaravanError) -> Reply
  ) -> Endpoint {
    Endpoint(
      method.rawValue, method.pattern, group: ServiceName.schema.rawValue, maxInFlight: SchemaLimits.requestsInFlight
    ) { (request: Request, _) throws(CaravanError) in try await answer(request) }
  }
}
