internal import CaravanModel

/// A zone as a commit makes it, mutation by mutation.
struct ZoneDraft {
  let facts: ZoneFacts
  let now: Int64
  private let time: Int64
  let writer: String
  /// nil: every record is the writer's to change.
  let rule: WriteRule?
  /// Names of records whose types were removed: those count as if they were not there, until they are overwritten.
  private var retired: Set<String> = []
  /// An atomic commit's references must hold at its end, others' after every mutation.
  let isAtomic: Bool
  private let start: Seq
  private(set) var seq: Seq
  private(set) var heads: [String: RecordHead]
  private(set) var writes: [ZoneCommit.Write] = []
  /// Records whose references this commit has changed, with those they have now.
  private(set) var rewritten: [String: [Reference]] = [:]
  /// By target: records among them that refer to it, or did in between.
  private(set) var pointing: [String: Set<String>] = [:]
  /// Mutations decided so far.
  private var count = 0
  /// References to be checked at the end of an atomic commit, and records that it deletes, each by its mutation.
  private(set) var added: [(mutation: Int, source: String, reference: Reference)] = []
  private(set) var deleted: [(mutation: Int, name: String)] = []
  var cascaded = 0
  /// By how much this commit's writes change what the account holds.
  private var growth = Usage()
  /// Of the mutation at hand.
  private var name = ""
  /// The lost version that it brings back, or builds on.
  private var regaining: (version: Seq, isUnchanged: Bool)?
  /// When it was made, at the latest: what is offered was there before the restore.
  private var madeBy: Int64

  init(_ commit: Commit, on zone: ZoneCommit) {
    facts = zone.facts
    now = zone.now
    time = zone.time
    madeBy = zone.now
    writer = commit.op.writer
    rule = WriteRule(commit, zone.facts)
    isAtomic = commit.isAtomic
    start = zone.zoneSeq
    seq = zone.zoneSeq
    heads = zone.facts.heads
    if !commit.retired.isEmpty {
      retired = Set(zone.facts.entries.filter { commit.retired.contains($0.value.type) }.keys)
    }
    writes.reserveCapacity(commit.mutations.count)
  }

  func isLive(_ name: String) -> Bool { !retired.contains(name) && heads[name]?.isLive(at: now) ?? false }

  /// The version that answers show; 0: none.
  func shown(_ name: String) -> Seq {
    guard let head = heads[name], head.isVisible(at: now), !retired.contains(name) else { return 0 }
    return head.version
  }

  // MARK: One mutation

  mutating func apply(_ mutation: Mutation) -> ZoneCommit.Verdict {
    defer { count += 1 }
    let head = heads[mutation.name]
    if let verdict = verdictOfHidden(mutation, head) { return verdict }
    var fits = Self.fits(mutation, head, isLive: isLive(mutation.name))
    (name, regaining, madeBy) = (mutation.name, nil, now)
    if !fits, let past = facts.past, case .version(let version) = mutation.base, mutation.mayRegain {
      if mutation.isOffer { madeBy = min(now, past.restored(version) ?? now) }
      switch Reconciliation.standing(of: version, isOffer: mutation.isOffer, head, past) {
      case .known where head?.isVisible(at: now) ?? false: return .merged(name: mutation.name)
      case .newer: (fits, regaining) = (true, (version, mutation.isOffer))
      case .known, .contested, nil: break
      }
    }
    // What it was is lost, so nothing is overwritten that anybody could be shown.
    if !fits, stored(name)?.isDamaged ?? false, mutation.savesWhole { fits = true }
    // First of all: another base, or a policy, does not make it the writer's.
    if let denial = denial(of: mutation, head) { return .refused(denial) }
    switch mutation.change {
    case .read:
      return fits ? .read(name: mutation.name, version: shown(mutation.name)) : .conflict(name: mutation.name)
    case .delete: return delete(mutation, head, fits: fits)
    case .save(let type, let body, _):
      let content = ZoneCommit.Content(type: type, body: body, chunks: mutation.distinctChunks)
      if let terms = mutation.terms { return save(mutation, content, terms, fits: fits) }
      guard fits else { return .conflict(name: mutation.name) }
      if let refusal = refusal(of: Draft(content), under: mutation.name) { return .refused(refusal) }
      return .accepted(version: write(mutation.name, Draft(content)))
    }
  }

  private static func fits(_ mutation: Mutation, _ head: RecordHead?, isLive: Bool) -> Bool {
    switch mutation.base {
    case .any: true
    // It may be what was deleted.
    case .absent: !isLive && !(mutation.isOffer && head?.flags.contains(.regained) ?? false)
    case .version(let version): head?.version == version
    }
  }

  // MARK: Saves

  private mutating func save(
    _ mutation: Mutation, _ content: ZoneCommit.Content, _ terms: WriteTerms, fits: Bool
  ) -> ZoneCommit.Verdict {
    let name = mutation.name
    do throws(CaravanError) {
      let rules = SaveRules(
        save: content, base: mutation.base, terms: terms, stored: stored(name), isLive: isLive(name), fits: fits,
        writer: writer, lists: facts.lists, version: seq + 1, now: madeBy, isRegained: regaining != nil)
      switch try rules.decide() {
      case .conflict: return .conflict(name: name)
      case .keep: return .merged(name: name)
      case .write(let draft, let isMerged):
        if let refusal = refusal(of: draft, under: name) { return .refused(refusal) }
        try refer(from: name, to: draft.references.filter { terms.references.contains($0) })
        let version = write(name, draft)
        return isMerged ? .merged(name: name) : .accepted(version: version)
      }
    } catch {
      return .refused(error)
    }
  }

  /// Why the account has no room for the save (CK-102).
  private func refusal(of draft: Draft, under name: String) -> CaravanError? {
    guard var account = facts.account else { return nil }
    account.used += growth
    let before = heads[name]?.usage ?? Usage()
    return account.refusal(of: Usage(records: 1 - before.records, bytes: draft.bytes(under: name) - before.bytes))
  }

  /// What the store holds under a name, if it was asked for or this commit wrote it.
  func stored(_ name: String) -> Entry? {
    guard let head = heads[name], !retired.contains(name) else { return nil }
    guard head.version > start else { return facts.entries[name] }
    guard let write = writes.last(where: { $0.name == name }) else {
      preconditionFailure("'\(name)' is newer than its zone and was not written")
    }
    return Entry(
      name: name, version: write.version, created: write.created, isDeleted: write.isDeleted, type: write.content.type,
      body: write.content.body, writer: writer, expires: write.expires, fields: write.fields)
  }

  /// What a record becomes.
  struct Draft {
    var content: ZoneCommit.Content?
    var references: [Reference] = []
    var expiry = WriteTerms.Expiry.keep
    var hidesExpired: Bool?
    var fields: [UInt8] = []
    var isUnseen = false

    /// - Parameter content: nil: a tombstone.
    init(_ content: ZoneCommit.Content?) { self.content = content }

    /// What its account is charged for it.
    func bytes(under name: String) -> Int64 {
      content.map { Int64(name.utf8.count + $0.body.count + fields.count) } ?? 0
    }
  }

  /// - Returns: the new version. `created` passes from a tombstone to the record made anew under its name (E11): a
  ///   device may hold the old record and nothing of what came after, and the next tombstone must still reach it. Of
  ///   what was regained it says from which version, and passes on as well.
  @discardableResult
  private mutating func write(_ name: String, _ draft: Draft) -> Seq {
    let replaced = heads[name]
    let wasLive = isLive(name)
    retired.remove(name)
    seq += 1
    var flags: EntryFlags = []
    var expires: Int64 = 0
    if let content = draft.content {
      expires = self.expires(draft.expiry, over: wasLive ? replaced : nil)
      if expires > 0 { flags.insert(.expires) }
      if draft.hidesExpired ?? replaced?.flags.contains(.hidesExpired) ?? false { flags.insert(.hidesExpired) }
      if !content.chunks.isEmpty {
        flags.insert(.holdsChunks)
      } else if BodyScanner.holdsObjects(content.body) {
        flags.insert(.holdsEmptyObjects)
      }
      if !draft.references.isEmpty { flags.insert(.holdsReferences) }
    } else {
      flags.insert(.deleted)
    }
    if draft.isUnseen { flags.insert(.unseen) }
    if replaced?.holdsReferences ?? false || !draft.references.isEmpty {
      rewritten[name] = draft.references
      for reference in draft.references { pointing[reference.target, default: []].insert(name) }
    }
    var created = replaced?.created ?? seq
    if replaced?.flags.contains(.regained) ?? false { flags.insert(.regained) }
    if let regaining, name == self.name {
      created = regaining.version
      flags.insert(.regained)
      if regaining.isUnchanged { flags.insert(.unchanged) }
    }
    let bytes = draft.bytes(under: name)
    // A tombstone keeps that of its record; whatever comes after one, or after what has expired out of sight, is made
    // anew.
    let origin = draft.content == nil || wasLive ? replaced?.origin : nil
    heads[name] = RecordHead(
      version: seq, created: created, flags: flags, expires: expires, bytes: bytes,
      origin: origin ?? RecordOrigin(time: time, writer: .name(writer)))
    let write = ZoneCommit.Write(
      name: name, version: seq, created: created, flags: flags, replaced: replaced,
      content: draft.content ?? ZoneCommit.Content(), references: draft.references, expires: expires,
      fields: draft.fields, bytes: bytes, time: time, origin: origin)
    growth += write.growth
    writes.append(write)
    return seq
  }

  private func expires(_ expiry: WriteTerms.Expiry, over replaced: RecordHead?) -> Int64 {
    switch expiry {
    case .never: return 0
    case .at(let time): return max(0, time)
    case .after(let duration): return now + max(0, duration)
    case .keep:
      return replaced?.expires ?? 0
    }
  }

  // MARK: Deletes

  private mutating func delete(_ mutation: Mutation, _ head: RecordHead?, fits: Bool) -> ZoneCommit.Verdict {
    let name = mutation.name
    var draft = Draft(nil)
    if let terms = mutation.terms {
      let rules = DeleteRules(
        terms: terms, stored: stored(name), isLive: isLive(name), fits: fits, writer: writer, version: seq + 1,
        now: now)
      switch rules.decide() {
      case .conflict: return .conflict(name: name)
      case .keep: return .merged(name: name)
      case .delete(let fields): draft.fields = fields
      }
    } else if !fits {
      return .conflict(name: name)
    }
    // What has expired out of sight is still to be deleted; and of what a restore took, others may hold a copy to
    // offer, whether or not the one who deletes it ever heard its version.
    let mayComeBack = regaining != nil || mutation.isOffer && facts.past != nil
    if head?.isDeleted ?? true, !mayComeBack { return .accepted(version: head?.version ?? 0) }
    do throws(CaravanError) {
      let owned = try owned(by: name)
      if !isAtomic { try checkReferrers(of: [name] + owned) }
      let version = write(name, draft)
      deleted.append((count, name))
      var swept = Draft(nil)
      swept.isUnseen = true
      for other in owned {
        write(other, swept)
        deleted.append((count, other))
      }
      cascaded += owned.count
      return .accepted(version: version)
    } catch {
      return .refused(error)
    }
  }

  // MARK: References

  private mutating func refer(from name: String, to references: [Reference]) throws(CaravanError) {
    for reference in references where reference.target != name {
      if isAtomic {
        added.append((count, name, reference))
      } else if !isLive(reference.target) {
        throw Self.dangling(name, reference)
      }
    }
  }
}
