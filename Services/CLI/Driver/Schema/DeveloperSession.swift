internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSyncClient
internal import CaravanWire

/// Says what a container's developer says of its record types, and asks about them, with the credentials of a device of
/// theirs.
struct DeveloperSession: Sendable {
  private let session: BusSession
  private let device: EnrolledDevice
  private let host: Host
  private static let deadline: Duration = .seconds(10)

  /// - Parameter environment: that the caller means; nil: the one of the credentials.
  init(
    _ file: String, _ options: Options, _ environment: CaravanModel.Environment?, _ host: Host
  ) throws(CaravanError) {
    let claims = try Credentials.reading(file).jwt.claims
    device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    guard environment == nil || environment == device.environment else {
      throw CaravanError(
        .invalidData,
        "'\(file)' is of a device for \(device.environment.rawValue): enrol another one (caravan device add "
          + "--environment), or leave --environment out")
    }
    session = try Deployment(options: options, host: host).bus(credentials: file)
    self.host = host
  }

  /// Registers what is new of the type, and then what is said of how its records behave, and of who may do what.
  /// - Parameter change: to settings and grants as they are.
  func declare(
    _ type: CaravanModel.RecordType, in container: ContainerID,
    _ change: @Sendable (inout CaravanModel.RecordType) throws(CaravanError) -> Void
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    try await session.with(host) { bus throws(CaravanError) in
      let registered = try await propose(type, in: container, over: bus)
      var changed = registered
      try change(&changed)
      let isAsBefore =
        changed.settings == registered.settings ?? TypeSettings()
        && (changed.grants ?? .standard) == (registered.grants ?? .standard)
      guard !isAsBefore else { return registered }
      var wanted = type
      (wanted.settings, wanted.grants) = (changed.settings, changed.grants)
      return try await propose(wanted, in: container, over: bus)
    }
  }

  /// Runs `body` with a way to ask about the schema.
  func asking<R: Sendable>(
    about container: ContainerID,
    _ body:
      @Sendable (
        _ perform: @escaping @Sendable (SchemaCall) async throws(CaravanError) -> SchemaAnswer
      ) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    try await session.with(host) { bus throws(CaravanError) in
      let sync = SyncClient(bus: bus, device: device, epoch: host.random.next() >> 1)
      return try await body { (call) throws(CaravanError) in
        let question = AskSchema(container: container.text, call: call.encoded())
        guard case .schema(let result) = try await sync.ask(.schema(question), deadline: Self.deadline) else {
          throw SchemaSession.otherAnswer
        }
        return try SchemaAnswer.decode(result.answer)
      }
    }
  }

  private func propose(
    _ type: CaravanModel.RecordType, in container: ContainerID, over bus: any MessageBus
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let proposal = ProposeTable(container: container.text, type: CaravanWire.RecordType(type), declared: true)
    let sync = SyncClient(bus: bus, device: device, epoch: host.random.next() >> 1)
    guard case .type(let agreed) = try await sync.ask(.propose(proposal), deadline: Self.deadline) else {
      throw CaravanError(.internalError, "a proposal was answered with something else: update this program")
    }
    return try agreed.model()
  }
}
