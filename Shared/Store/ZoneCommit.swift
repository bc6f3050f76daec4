public import Model

/// What the store knows of a record before a commit touches it.
public struct RecordHead: Sendable, Hashable {
  public var version: Seq
  public var created: Seq
  public var isDeleted: Bool
  /// Whether its body names chunks, so that replacing it gives references back.
  public var holdsChunks: Bool

  public init(version: Seq, created: Seq, isDeleted: Bool = false, holdsChunks: Bool = false) {
    self.version = version
    self.created = created
    self.isDeleted = isDeleted
    self.holdsChunks = holdsChunks
  }
}

/// Decides a commit: from the zone's head, the heads of the records it touches and the chunks the store lacks, to what
/// is to be written and what is answered. Pure; every store carries its plans out.
public struct ZoneCommit: Sendable {
  public var zoneSeq: Seq
  /// Heads of the touched records that exist or left a tombstone, by name.
  public var heads: [String: RecordHead]
  /// Those chunks named by the commit that the database lacks.
  public var lacking: Set<ChunkHash>

  public init(zoneSeq: Seq, heads: [String: RecordHead], lacking: Set<ChunkHash> = []) {
    self.zoneSeq = zoneSeq
    self.heads = heads
    self.lacking = lacking
  }

  /// One entry to write: a record's only one, in the place of `replaced`.
  public struct Write: Sendable, Hashable {
    /// Which mutation of the commit.
    public let mutation: Int
    public let version: Seq
    public let created: Seq
    public let isDeleted: Bool
    public let replaced: RecordHead?
    /// The last of its batch: pages like to end here.
    public let endsBatch: Bool
  }

  public enum Verdict: Sendable, Hashable {
    case accepted(version: Seq)
    /// Of the record of this name; the answer shows what the store holds when it is given.
    case conflict(name: String)
    case aborted
  }

  public enum Plan: Sendable, Hashable {
    /// Nothing is to be written, nor the outcome kept.
    case missing([ChunkHash])
    /// - Parameter zoneSeq: after the writes.
    case decided(writes: [Write], verdicts: [Verdict], zoneSeq: Seq)
  }

  public func plan(_ commit: Commit) -> Plan {
    var heads = heads
    var seq = zoneSeq
    var writes: [Write] = []
    var verdicts: [Verdict] = []
    writes.reserveCapacity(commit.mutations.count)
    verdicts.reserveCapacity(commit.mutations.count)
    for (index, mutation) in commit.mutations.enumerated() {
      let head = heads[mutation.name]
      switch Self.judge(mutation, against: head) {
      case .conflict: verdicts.append(.conflict(name: mutation.name))
      case .nothingToDo(let version): verdicts.append(.accepted(version: version))
      case .apply:
        seq += 1
        let write = Self.write(index, mutation, version: seq, head: head)
        heads[mutation.name] = RecordHead(
          version: seq, created: write.created, isDeleted: write.isDeleted, holdsChunks: mutation.holdsChunks)
        writes.append(write)
        verdicts.append(.accepted(version: seq))
      }
    }
    if commit.isAtomic, verdicts.contains(where: \.isConflict) {
      return .decided(writes: [], verdicts: verdicts.map { $0.isConflict ? $0 : .aborted }, zoneSeq: zoneSeq)
    }
    let missing = missingChunks(of: writes, in: commit)
    guard missing.isEmpty else { return .missing(missing) }
    if let last = writes.popLast() { writes.append(last.endingBatch()) }
    return .decided(writes: writes, verdicts: verdicts, zoneSeq: seq)
  }

  private enum Judgement {
    case apply
    case nothingToDo(version: Seq)
    case conflict
  }

  private static func judge(_ mutation: Mutation, against head: RecordHead?) -> Judgement {
    let isLive = head.map { !$0.isDeleted } ?? false
    let baseFits =
      switch mutation.base {
      case .any: true
      case .absent: !isLive
      case .version(let version): head?.version == version
      }
    guard baseFits else { return .conflict }
    switch mutation.change {
    case .save: return .apply
    case .delete: return isLive ? .apply : .nothingToDo(version: head?.version ?? 0)
    }
  }

  /// `created` passes from a tombstone to the record made anew under its name (E11): a device may hold the old record
  /// and nothing of what came after, and the next tombstone must still reach it.
  private static func write(_ index: Int, _ mutation: Mutation, version: Seq, head: RecordHead?) -> Write {
    let isDeleted =
      switch mutation.change {
      case .save: false
      case .delete: true
      }
    return Write(
      mutation: index, version: version, created: head?.created ?? version, isDeleted: isDeleted, replaced: head,
      endsBatch: false)
  }

  /// Only of what would be written: a device does not upload for a row that is in conflict.
  private func missingChunks(of writes: [Write], in commit: Commit) -> [ChunkHash] {
    guard !lacking.isEmpty else { return [] }
    var seen: Set<ChunkHash> = []
    var list: [ChunkHash] = []
    for write in writes {
      for hash in commit.mutations[write.mutation].chunks where lacking.contains(hash) && seen.insert(hash).inserted {
        list.append(hash)
      }
    }
    return list
  }
}

extension ZoneCommit.Verdict {
  var isConflict: Bool {
    switch self {
    case .conflict: true
    case .accepted, .aborted: false
    }
  }
}

extension ZoneCommit.Write {
  func endingBatch() -> Self {
    Self(
      mutation: mutation, version: version, created: created, isDeleted: isDeleted, replaced: replaced, endsBatch: true)
  }
}
