public import CaravanModel

// What every store asks of a commit and its parts.

extension Commit {
  /// What the zone's index now holds of its writes: of a record it wrote twice, the last.
  /// - Parameter naming: says who a writer is that has a number.
  public func entries(
    _ writes: [ZoneCommit.Write], naming: (Int64) throws(CaravanError) -> String = { _ in "" }
  ) throws(CaravanError) -> [Entry] {
    let superseded = Set(writes.compactMap(\.replaced?.version))
    return try writes.filter { !superseded.contains($0.version) }.map { (write) throws(CaravanError) in
      Entry(
        name: write.name, version: write.version, created: write.created, isDeleted: write.isDeleted,
        type: write.content.type, body: write.content.body, writer: op.writer, expires: write.expires,
        fields: write.fields, authorship: try write.authorship(by: op.writer, naming))
    }
  }

  /// About what it adds to a store.
  public var byteCount: Int { mutations.reduce(0) { $0 + $1.byteCount } }

  /// Which chunks its writer may name, besides those of the records that it changes.
  public var view: ChunkView { ChunkView(of: op.writer, in: zone.database) }
}

extension ZoneCommit.Write {
  /// - Parameter naming: says who a writer is that has a number.
  public func authorship(
    by writer: String, _ naming: (Int64) throws(CaravanError) -> String = { _ in "" }
  ) throws(CaravanError) -> Authorship {
    guard let origin else { return Authorship(modified: time, created: time, creator: writer) }
    guard origin.time > 0 else { return Authorship(modified: time, created: 0, creator: "") }
    let creator =
      switch origin.writer {
      case .name(let name): name
      case .number(let number): try naming(number)
      }
    return Authorship(modified: time, created: origin.time, creator: creator)
  }
}

extension Store {
  public func commit(
    _ commit: Commit, bringing chunks: [ChunkBytes]
  ) async throws(CaravanError) -> CommitResult {
    if !chunks.isEmpty { try await stage(chunks, in: commit.zone.database, as: commit.view) }
    return try await self.commit(commit)
  }

  public func commit(_ commits: [Commit]) async -> [Result<CommitResult, CaravanError>] {
    await withTaskGroup(of: [(Int, Result<CommitResult, CaravanError>)].self) { group in
      for (index, commit) in commits.enumerated() {
        group.addTask {
          do throws(CaravanError) { return [(index, .success(try await self.commit(commit)))] } catch {
            return [(index, .failure(error))]
          }
        }
      }
      return await group.inOrder(count: commits.count)
    }
  }
}

extension TaskGroup {
  /// What its tasks found, each with the place it belongs to; every place below `count` is found once.
  package mutating func inOrder<Value: Sendable>(count: Int) async -> [Value] where ChildTaskResult == [(Int, Value)] {
    var found = [Value?](repeating: nil, count: count)
    for await some in self { for (place, value) in some { found[place] = value } }
    return found.compactMap { $0 }
  }
}

extension Mutation {
  /// Hashes its body names; none for what is no save.
  public var chunks: [ChunkHash] {
    switch change {
    case .save(_, _, let chunks): chunks
    case .delete, .read: []
    }
  }

  /// Each hash its body names, once, in order of first use.
  public var distinctChunks: [ChunkHash] {
    guard chunks.count > 1 else { return chunks }
    var seen: Set<ChunkHash> = []
    return chunks.filter { seen.insert($0).inserted }
  }

  /// About what it adds to a store.
  public var byteCount: Int {
    let fixed = 64 + name.utf8.count
    switch change {
    case .save(_, let body, let chunks): return fixed + body.count + chunks.count * ChunkHash.byteCount
    case .delete, .read: return fixed
    }
  }
}

extension OpID {
  /// - Parameters:
  ///   - floor: below which its writer says it has heard everything.
  ///   - stored: the low watermark the store knows of.
  /// - Throws: `invalidData` when the op's number is too high, or lies below the low watermark.
  public func check(floor: UInt64, stored: UInt64) throws(CaravanError) {
    guard max(number, floor) <= StoreLimits.highestNumber else {
      throw CaravanError(.invalidData, "op \(self) has a number beyond \(StoreLimits.highestNumber)")
    }
    guard number >= stored else {
      throw CaravanError(.invalidData, "op \(self) lies below its writer's floor \(stored): it was answered long ago")
    }
  }

  /// What to say when the op's outcome is one of another zone.
  public func foreign(to zone: ZoneID) -> CaravanError {
    CaravanError(.invalidData, "op \(self) was made in another zone than \(zone): every op has its own number")
  }
}
