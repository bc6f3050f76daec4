import CaravanModel
import CaravanStore

/// Short ways to stage and commit groups.
enum Groups {
  /// A part whose body is its mutations' names, which is all that a store's tests need of it.
  static func part(
    _ op: OpID, _ zone: ZoneID, _ number: Int, records: Int = 1, chunks: some Collection<UInt8> = [UInt8](),
    body: [UInt8] = [7]
  ) -> StagedPart {
    StagedPart(
      zone: zone, op: op, number: number, records: records, chunks: chunks.sorted().map { Sample.hash($0) }, body: body)
  }
}

extension StoreBench {
  /// Stages mutations in parts of `size`, begun before.
  @discardableResult
  func stage(_ mutations: [Mutation], of op: OpID, in zone: ZoneID, size: Int = 400) async throws -> Int {
    _ = try await store.beginGroup(op, floor: 0, in: zone)
    var count = 0
    for start in stride(from: 0, to: mutations.count, by: size) {
      let some = mutations[start..<min(start + size, mutations.count)]
      let chunks = Set(some.flatMap(\.chunks)).sorted()
      let part = StagedPart(
        zone: zone, op: op, number: count, records: some.count, chunks: chunks,
        body: Array(some.map(\.name).joined(separator: " ").utf8))
      guard case .staged = try await store.stage(part) else {
        throw CaravanError(.chunksMissing, "stage the chunks of part \(count) first")
      }
      count += 1
    }
    return count
  }

  func commit(
    group op: OpID, _ mutations: [Mutation], parts: Int, in zone: ZoneID, atomic: Bool = true, fence: LeaseProof? = nil
  ) async throws -> CommitResult {
    try await store.commit(
      Commit(zone: zone, op: op, isAtomic: atomic, mutations: mutations, parts: parts, fence: fence))
  }
}
