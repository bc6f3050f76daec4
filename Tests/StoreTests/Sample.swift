import Model
import Store

/// Short ways to say what a test commits.
enum Sample {
  static func database(_ user: String = "ada", _ app: String = "notes") -> DatabaseID {
    DatabaseID(container: ContainerID(unchecked: app), owner: UserID(unchecked: user))
  }

  static func zone(_ name: String = "t", of user: String = "ada") throws -> ZoneID { try ZoneID(database(user), name) }

  static func save(_ name: String, base: Base = .any, body: [UInt8] = [1, 2, 3], chunks: [ChunkHash] = []) -> Mutation {
    Mutation(name: name, base: base, change: .save(type: 1, body: body, chunks: chunks))
  }

  static func delete(_ name: String, base: Base = .any) -> Mutation {
    Mutation(name: name, base: base, change: .delete)
  }

  static func hash(_ number: UInt8) -> ChunkHash {
    ChunkHash([UInt8](repeating: number, count: ChunkHash.byteCount)) ?? ChunkHash([UInt8](repeating: 0, count: 32))!
  }

  static func chunk(_ number: UInt8, size: Int = 100) -> ChunkBytes {
    ChunkBytes(hash: hash(number), bytes: [UInt8](repeating: number, count: size))
  }

  /// For the planner, which does not look at zone and op.
  static func commit(_ mutations: [Mutation], atomic: Bool = false) -> Commit {
    let zone = (try? zone()) ?? { preconditionFailure("the sample zone is well formed") }()
    return Commit(
      zone: zone, op: OpID(writer: "phone", epoch: 1, number: 1), isAtomic: atomic, mutations: mutations)
  }
}
