import CaravanCompression
import CaravanModel
import CaravanWire

/// What a test expected of a result and did not get.
struct Unexpected: Error, CustomStringConvertible {
  let result: CaravanWire.Result.Kind
  var description: String { "unexpected: \(result)" }
}

enum FrameBody {
  static func open(_ frame: Frame) throws -> [UInt8] {
    switch frame.compression {
    case .none: return frame.body
    case .zstd:
      var decompressor = try Decompressor()
      return try decompressor.decompress(frame.body, limit: Limits.frameBytes)
    }
  }
}

extension Device {
  /// A type of these fields under `container`, agreed with the registry.
  func agree(
    _ fields: [(String, CaravanModel.FieldKind)], on name: String = "photos", in container: String = "album"
  ) async throws -> CaravanModel.RecordType {
    let result = try await ask(.propose(.type(fields, name: name, in: container)))
    guard case .type(let type) = result else { throw Unexpected(result: result) }
    return try type.model()
  }

  func push(
    _ op: UInt64, _ mutations: [CaravanModel.Mutation], to zone: String = "photos", in container: String = "album"
  ) async throws -> CommitResult {
    let result = try await ask(.push(.of(op, mutations, to: zone, in: container)))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return try reply.model()
  }

  func settle(_ op: UInt64, in zone: String = "photos") async throws -> CommitResult {
    let result = try await ask(.settle(Settle(container: "album", zone: zone, op: op)))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return try reply.model()
  }

  func pull(
    after token: [UInt8] = [], from zone: String = "photos", in container: String = "album", maxBytes: UInt32 = 0,
    mode: ChangeMode = .forward, snapshot: Bool = false, ownThrough: UInt64 = 0, fresh: Bool = false
  ) async throws -> PullResult {
    let pull = Pull(
      container: container, zone: zone, token: token, maxBytes: maxBytes, fresh: fresh, mode: mode,
      snapshot: snapshot, ownThrough: ownThrough)
    let result = try await ask(.pull(pull))
    guard case .pull(let pulled) = result else { throw Unexpected(result: result) }
    return pulled
  }

  func changedZones(after token: [UInt8] = [], in container: String = "album") async throws -> ChangedZones {
    let result = try await ask(.changedZones(ListChangedZones(container: container, token: token)))
    guard case .changedZones(let zones) = result else { throw Unexpected(result: result) }
    return zones
  }

  func read(
    _ names: [String], fields: [UInt32] = [], zone: String = "photos", database: DatabaseScope = .private
  ) async throws -> RecordsResult {
    let read = ReadRecords(container: "album", zone: zone, names: names, fields: fields, database: database)
    let result = try await ask(.read(read))
    guard case .records(let records) = result else { throw Unexpected(result: result) }
    return records
  }

  /// Of the operation, or of the frame that holds it.
  func refusal(_ operation: CaravanWire.Operation.Kind) async throws -> CaravanError? {
    do {
      guard case .failure(let failure) = try await ask(operation) else { return nil }
      return failure.model()
    } catch let error as CaravanError {
      return error
    }
  }
}

extension ProposeTable {
  static func type(
    _ fields: [(String, CaravanModel.FieldKind)], name: String = "photos", in container: String = "album"
  ) -> ProposeTable {
    let type = CaravanModel.RecordType(
      id: 0, definition: 0, name: name,
      fields: fields.map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) })
    return ProposeTable(container: container, type: CaravanWire.RecordType(type))
  }
}

extension Push {
  static func of(
    _ op: UInt64, _ mutations: [CaravanModel.Mutation], to zone: String = "photos", in container: String = "album"
  ) -> Push {
    Push(container: container, zone: zone, op: op, mutations: mutations.map { CaravanWire.Mutation($0) })
  }
}

extension CaravanModel.Mutation {
  static func save(
    _ name: String, _ fields: [UInt32: Value], type: CaravanModel.RecordType, base: Base = .absent
  ) -> CaravanModel.Mutation {
    let record = RecordFields(fields)
    return CaravanModel.Mutation(
      name: name, base: base, change: .save(type: type.id, body: record.body, chunks: record.chunks))
  }
}

extension PullResult {
  var entries: [CaravanWire.Entry] { get throws { try EntryPage(decoding: page).entries } }
}

extension CommitResult {
  var outcomes: [CaravanModel.Outcome] {
    if case .applied(let outcomes, _, _, _) = self { outcomes } else { [] }
  }

  var versions: [Seq] {
    outcomes.compactMap { if case .accepted(let version) = $0 { version } else { nil } }
  }
}

func zstd(_ bytes: [UInt8]) throws -> [UInt8] {
  var compressor = try Compressor()
  return try compressor.compress(bytes)
}
