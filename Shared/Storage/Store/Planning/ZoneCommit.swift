public import CaravanModel

/// Decides a commit: from what a zone holds to what is to be written and what is answered. Pure; every store finds out
/// what a `ZoneInquiry` asks, and carries the plan out.
///
///     var inquiry = ZoneInquiry(commit, now: now)
///     var facts = ZoneFacts()
///     while let questions = inquiry.next(knowing: facts) { answer(questions, &facts) }
///     ZoneCommit(zoneSeq: seq, now: now, facts: facts).plan(commit)
public struct ZoneCommit: Sendable {
  public var zoneSeq: Seq
  /// Unix milliseconds on the store's clock.
  public var now: Int64
  /// When the zone's records change, for those who read them: `now`, or the time of the zone's previous commit, if the
  /// clock was ahead then.
  public var time: Int64
  public var facts: ZoneFacts

  /// - Parameter previous: when the zone was last written to.
  public init(zoneSeq: Seq, now: Int64 = 0, previous: Int64 = 0, facts: ZoneFacts = ZoneFacts()) {
    self.zoneSeq = zoneSeq
    self.now = now
    time = max(now, previous)
    self.facts = facts
  }

  /// What a live record is.
  public struct Content: Sendable, Hashable {
    public var type: UInt32
    /// Encoded `Fields`.
    public var body: [UInt8]
    /// Each hash its objects name, once.
    public var chunks: [ChunkHash]

    public init(type: UInt32 = 0, body: [UInt8] = [], chunks: [ChunkHash] = []) {
      self.type = type
      self.body = body
      self.chunks = chunks
    }
  }

  /// One entry to write: a record's only one, in the place of `replaced`.
  public struct Write: Sendable, Hashable {
    public let name: String
    public let version: Seq
    public let created: Seq
    public internal(set) var flags: EntryFlags
    public let replaced: RecordHead?
    /// Empty for a tombstone.
    public let content: Content
    /// What the index of references holds of this record from now on, in the place of what it held.
    public let references: [Reference]
    /// Unix milliseconds; 0: never.
    public let expires: Int64
    /// Encoded `FieldVersions`, or empty.
    public let fields: [UInt8]

    /// What its account is charged for it.
    public let bytes: Int64
    /// When it is written.
    public let time: Int64
    /// When and by whom its record was made; nil: this write makes it.
    public let origin: RecordOrigin?
    /// By how much its account's use changes.
    public var growth: Usage {
      let before = replaced?.usage ?? Usage()
      return Usage(records: (isDeleted ? 0 : 1) - before.records, bytes: bytes - before.bytes)
    }

    public var isDeleted: Bool { flags.contains(.deleted) }
    public var endsBatch: Bool { flags.contains(.endsBatch) }
  }

  public enum Verdict: Sendable, Hashable {
    case accepted(version: Seq)
    /// Of the record of this name; the answer shows what the store holds when it is given.
    case conflict(name: String)
    case aborted
    /// Settled by a policy; the answer shows the record of this name.
    case merged(name: String)
    /// The record as the commit leaves it, at this version, a tombstone's too; 0: there is none.
    case read(name: String, version: Seq)
    case refused(CaravanError)
  }

  public enum Plan: Sendable, Hashable {
    /// Nothing is to be written, nor the outcome kept.
    case missing([ChunkHash])
    /// - Parameter zoneSeq: after the writes.
    case decided(writes: [Write], verdicts: [Verdict], zoneSeq: Seq)
  }

  public func plan(_ commit: Commit) -> Plan {
    if let refusal = DefaultZone.refusal(of: commit) {
      return .decided(writes: [], verdicts: commit.mutations.map { _ in .refused(refusal) }, zoneSeq: zoneSeq)
    }
    var draft = ZoneDraft(commit, on: self)
    var verdicts: [Verdict] = []
    verdicts.reserveCapacity(commit.mutations.count)
    for mutation in commit.mutations { verdicts.append(draft.apply(mutation)) }
    for index in verdicts.indices {
      guard case .read(let name, _) = verdicts[index] else { continue }
      verdicts[index] = .read(name: name, version: draft.shown(name))
    }
    if commit.isAtomic {
      for (index, refusal) in draft.brokenReferences() { verdicts[index] = .refused(refusal) }
      if verdicts.contains(where: \.isFailure) {
        return .decided(writes: [], verdicts: verdicts.map { $0.isFailure ? $0 : .aborted }, zoneSeq: zoneSeq)
      }
    }
    var writes = draft.writes
    let missing = missingChunks(of: writes)
    guard missing.isEmpty else { return .missing(missing) }
    if !writes.isEmpty { writes[writes.count - 1].flags.insert(.endsBatch) }
    return .decided(writes: writes, verdicts: verdicts, zoneSeq: draft.seq)
  }

  /// Only of what would be written: a device does not upload for a row that is in conflict.
  private func missingChunks(of writes: [Write]) -> [ChunkHash] {
    guard !facts.lacking.isEmpty || !facts.unstaged.isEmpty else { return [] }
    var seen: Set<ChunkHash> = []
    var list: [ChunkHash] = []
    for write in writes {
      let held = held(before: write)
      for hash in write.content.chunks where isMissing(hash, held) && seen.insert(hash).inserted { list.append(hash) }
    }
    return list
  }

  /// A hash is no permission: what its user has not staged, and the record does not have, is missing whoever else has
  /// it.
  private func isMissing(_ hash: ChunkHash, _ held: Set<ChunkHash>) -> Bool {
    facts.lacking.contains(hash) || facts.unstaged.contains(hash) && !held.contains(hash)
  }

  /// Chunks that the record had whose place the write takes: whoever may write it has seen them.
  private func held(before write: Write) -> Set<ChunkHash> {
    guard let replaced = write.replaced, replaced.isLive(at: now) else { return [] }
    assert(!replaced.isDeleted, "a tombstone has no chunks")
    return Set(facts.held[write.name] ?? [])
  }
}

extension ZoneCommit.Verdict {
  /// Whether an atomic batch fails by it.
  public var isFailure: Bool {
    switch self {
    case .conflict, .refused: true
    case .accepted, .aborted, .merged, .read: false
    }
  }
}

extension [ZoneCommit.Write] {
  public var growth: Usage { reduce(Usage()) { $0 + $1.growth } }

  /// Whether whoever asked for the commit knows all that it wrote.
  public var areKnownToWriter: Bool { !contains { $0.flags.contains(.unseen) } }
}

extension DefaultZone {
  /// Why it cannot be, where it goes to a default zone and does what that has not (CK-10).
  fileprivate static func refusal(of commit: Commit) -> CaravanError? {
    guard commit.zone.name == name else { return nil }
    do throws(CaravanError) {
      try check(
        commit.zone, records: commit.mutations.count,
        hasReferences: commit.mutations.contains { $0.terms?.references.isEmpty == false })
      return nil
    } catch { return error }
  }
}
