import CaravanCrypto
import CaravanModel
import CaravanStore
import CaravanWire

/// Short ways to say what a test commits.
enum Sample {
  static func database(_ user: String = "ada", _ app: String = "notes") -> DatabaseID {
    DatabaseID(container: ContainerID(unchecked: app), environment: .development, owner: UserID(unchecked: user))
  }

  static func zone(_ name: String = "t", of user: String = "ada") throws -> ZoneID { try ZoneID(database(user), name) }

  static func save(
    _ name: String, base: Base = .any, body: [UInt8] = [1, 2, 3], chunks: [ChunkHash] = []
  ) -> CaravanModel.Mutation {
    CaravanModel.Mutation(name: name, base: base, change: .save(type: 1, body: body, chunks: chunks))
  }

  /// A save of fields by id, with terms.
  static func save(
    _ name: String, base: Base = .any, _ fields: [UInt32: CaravanModel.Value], _ terms: WriteTerms = WriteTerms()
  ) -> CaravanModel.Mutation {
    let record = RecordFields(fields)
    return CaravanModel.Mutation(
      name: name, base: base, change: .save(type: 1, body: record.body, chunks: record.chunks), terms: terms)
  }

  /// A save of a record that refers to others.
  static func link(_ name: String, base: Base = .any, to references: [CaravanModel.Reference]) -> CaravanModel.Mutation
  {
    var fields: [UInt32: CaravanModel.Value] = [:]
    for (id, reference) in zip(UInt32(1)..., references) { fields[id] = .reference(reference) }
    return save(name, base: base, fields, WriteTerms(references: references.filter { $0.kind != .plain }))
  }

  static func read(_ name: String, base: Base = .any) -> CaravanModel.Mutation {
    CaravanModel.Mutation(name: name, base: base, change: .read)
  }

  static func delete(_ name: String, base: Base = .any, _ terms: WriteTerms? = nil) -> CaravanModel.Mutation {
    CaravanModel.Mutation(name: name, base: base, change: .delete, terms: terms)
  }

  static func hash(_ number: UInt8) -> ChunkHash {
    ChunkHash([UInt8](repeating: number, count: ChunkHash.byteCount)) ?? ChunkHash([UInt8](repeating: 0, count: 32))!
  }

  static func chunk(_ number: UInt8, size: Int = 100) -> ChunkBytes {
    ChunkBytes(hash: hash(number), bytes: [UInt8](repeating: number, count: size))
  }

  /// Of one of these, or of one whose hash is true.
  static let isWhole: @Sendable (ChunkBytes) -> Bool = { chunk in
    let number = chunk.hash.bytes[0]
    if chunk.hash == hash(number) { return !chunk.bytes.isEmpty && chunk.bytes.allSatisfy { $0 == number } }
    return SHA256.hash(chunk.bytes).bytes == chunk.hash.bytes
  }

  /// For the planner, which does not look at zone and op.
  static func commit(_ mutations: [CaravanModel.Mutation], atomic: Bool = false) -> Commit {
    let zone = (try? zone()) ?? { preconditionFailure("the sample zone is well formed") }()
    return Commit(
      zone: zone, op: OpID(writer: "phone", epoch: 1, number: 1), isAtomic: atomic, mutations: mutations)
  }
}
