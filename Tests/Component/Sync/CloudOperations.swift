import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire

/// Where an operation happens: one user, one device, one app, nobody else.
struct CloudPlace: Sendable {
  let cloud: SimulatedCloud
  let device: Device
  let container: ContainerID

  private static let attempts = 12

  /// What the store holds of it.
  func state() async throws -> String {
    let owned = [container, .system].map { DatabaseID(container: $0, environment: .development, owner: device.user) }
    var states: [String] = []
    for database in owned + [DatabaseID(container: container, environment: .development, owner: nil)] {
      let chunks = database == owned[0] ? [Chunk(Self.photo).name] : []
      // What Caravan keeps of a device names it.
      let isOurs = database.container != .system
      states.append(try await StoreState.text(of: database, in: cloud.store, chunks: chunks, hasBodies: isOurs))
    }
    return states.joined(separator: "\n").replacing(device.name.text, with: "device")
  }

  /// Asks until there is an answer that does not say "later", as a device does.
  func insist(_ operation: CaravanWire.Operation.Kind) async throws -> CaravanWire.Result.Kind {
    for _ in 0..<Self.attempts {
      if let answer = try? await device.ask(operation), !answer.isTransient { return answer }
      try await cloud.host.clock.sleep(for: .seconds(1))
    }
    throw CaravanError(.timedOut, "nobody answered")
  }

  // MARK: What is asked

  static let photo = [UInt8](repeating: 9, count: 900)

  func push(
    _ op: UInt64, _ rows: [CaravanModel.Mutation], atomic: Bool = false, chunks: [Chunk] = []
  ) -> CaravanWire.Operation.Kind {
    .push(
      Push(
        container: container.text, zone: "t", op: op, mutations: rows.map { CaravanWire.Mutation($0) }, chunks: chunks,
        atomic: atomic))
  }

  func save(_ name: String, _ text: String, base: Base = .absent, photo: [UInt8]? = nil) -> CaravanModel.Mutation {
    var fields: [UInt32: Value] = [1: .text(text)]
    if let photo {
      let part = AssetManifest.Part(hash: Chunk(photo).name, length: UInt32(photo.count))
      fields[2] = .asset(AssetManifest(parts: [part]))
    }
    let record = RecordFields(fields)
    return CaravanModel.Mutation(name: name, base: base, change: .save(type: 1, body: record.body, chunks: []))
  }

  var group: BeginGroup { BeginGroup(container: container.text, zone: "t", op: 1) }

  var part: UploadPart {
    UploadPart(
      container: container.text, zone: "t", op: 1, part: 0,
      mutations: [save("a", "x"), save("b", "y", photo: Self.photo)].map { CaravanWire.Mutation($0) },
      chunks: [Chunk(Self.photo)])
  }

  var pull: CaravanWire.Operation.Kind { .pull(Pull(container: container.text, zone: "t", ownBodies: true)) }

  func propose() -> CaravanWire.Operation.Kind {
    .propose(.type([("name", .text), ("photo", .object)], name: "t", in: container.text))
  }
}

extension Chunk {
  init(_ bytes: [UInt8]) { self.init(hash: SHA256.hash(bytes).bytes, data: bytes) }

  var name: ChunkHash {
    guard let name = ChunkHash(hash) else { preconditionFailure("a chunk of a test has a hash of 32 bytes") }
    return name
  }
}

extension CaravanWire.Result.Kind {
  var isTransient: Bool {
    guard case .failure(let failure) = self else { return false }
    return failure.model().isTransient
  }

  /// Without what differs from place to place: incarnations, tokens, seals.
  var text: String {
    switch self {
    case .failure(let failure): "failure \(failure.code)"
    case .type(let type): "type \(type.id) \(type.name)"
    case .commit(let reply):
      "\(reply.zoneSeq) \(reply.aborted) \(reply.missingChunks) "
        + reply.outcomes.map { "\($0.verdict) \($0.version) \($0.server.map { "\($0.version) \($0.body)" } ?? "-")" }
        .joined(separator: ", ")
    case .pull(let result):
      "\((try? EntryPage(decoding: result.page))?.entries.map { "\($0.name) \($0.body)" } ?? []) \(result.more)"
    case .records(let result): "\(result.entries.map { "\($0.name) \($0.version) \($0.body)" }) \(result.answered)"
    case .zones(let result): "\(result.zones.map { "\($0.zone) \($0.seq)" })"
    case .zone(let zone): "zone \(zone.zone) \(zone.seq)"
    case .hello(let result): "hello \(result.resubscribe)"
    case .operation(let state): "operation \(state.status)"
    case .part(let state): "part \(state.missingChunks)"
    case .syncBegin(let result): "diffs \(result.status) \(result.diffs.map(\.uuid))"
    case .ticket, .done, .person, .lock: "done"
    default: "something else"
    }
  }
}

/// One operation of a device, with what it begins with.
struct CloudOperation: Sendable, CustomStringConvertible {
  let name: String
  let before: @Sendable (CloudPlace) -> [CaravanWire.Operation.Kind]
  let operation: @Sendable (CloudPlace) -> CaravanWire.Operation.Kind

  var description: String { name }

  init(
    _ name: String, after before: @escaping @Sendable (CloudPlace) -> [CaravanWire.Operation.Kind] = { [$0.propose()] },
    _ operation: @escaping @Sendable (CloudPlace) -> CaravanWire.Operation.Kind
  ) {
    self.name = name
    self.before = before
    self.operation = operation
  }

  /// A type, and two rows, one with a photo.
  private static let filled: @Sendable (CloudPlace) -> [CaravanWire.Operation.Kind] = { place in
    [
      place.propose(),
      place.push(
        1, [place.save("a", "x"), place.save("b", "y", photo: CloudPlace.photo)], chunks: [Chunk(CloudPlace.photo)]),
    ]
  }

  static let all: [CloudOperation] = [
    CloudOperation("proposing a type", after: { _ in [] }) { $0.propose() },
    CloudOperation("the first push") { $0.push(1, [$0.save("a", "x"), $0.save("b", "y")]) },
    CloudOperation("a batch over what is there", after: filled) {
      $0.push(
        2,
        [$0.save("a", "z", base: .version(1)), CaravanModel.Mutation(name: "b", base: .version(2), change: .delete)],
        atomic: true)
    },
    CloudOperation("a push with a chunk") {
      $0.push(1, [$0.save("a", "x", photo: CloudPlace.photo)], chunks: [Chunk(CloudPlace.photo)])
    },
    CloudOperation("a push that lacks a chunk") { $0.push(1, [$0.save("a", "x", photo: CloudPlace.photo)]) },
    CloudOperation("a push in conflict", after: filled) { $0.push(2, [$0.save("a", "z"), $0.save("c", "z")]) },
    CloudOperation("a push that came before", after: filled) { $0.push(1, [$0.save("a", "x"), $0.save("b", "y")]) },
    CloudOperation("settling what never came") {
      .settle(Settle(container: $0.container.text, zone: "t", op: 1))
    },
    CloudOperation("settling what came", after: filled) {
      .settle(Settle(container: $0.container.text, zone: "t", op: 1))
    },
    CloudOperation("a pull", after: filled) { $0.pull },
    CloudOperation("reading records", after: filled) {
      .read(ReadRecords(container: $0.container.text, zone: "t", names: ["a", "b", "c"]))
    },
    CloudOperation("listing zones", after: filled) { .zones(ListZones(container: $0.container.text)) },
    CloudOperation("making a zone") { .createZone(CreateZone(container: $0.container.text, zone: "t")) },
    CloudOperation("dropping a zone", after: filled) { .drop(DropTable(container: $0.container.text, zone: "t")) },
    CloudOperation("beginning a group") { .beginGroup($0.group) },
    CloudOperation("uploading a part with a chunk", after: { [$0.propose(), .beginGroup($0.group)] }) {
      .upload($0.part)
    },
    CloudOperation(
      "making a group visible", after: { [$0.propose(), .beginGroup($0.group), .upload($0.part)] }
    ) {
      .commitGroup(CommitGroup(container: $0.container.text, zone: "t", op: 1, parts: 1, atomic: true))
    },
    CloudOperation("forgetting a group", after: { [$0.propose(), .beginGroup($0.group), .upload($0.part)] }) {
      .removeOperation(RemoveOperation(container: $0.container.text, zone: "t", op: 1))
    },
    CloudOperation("taking a lock") { .lock(LockDatabase(container: $0.container.text)) },
    CloudOperation("asking for diffs", after: filled) {
      .syncBegin(SyncBegin(container: $0.container.text, zone: "t"))
    },
    CloudOperation("subscribing") {
      .subscribe(
        Subscribe(
          generation: 1, subscriptions: [ZoneSubscription(container: $0.container.text, zone: "t")]))
    },
  ]
}
