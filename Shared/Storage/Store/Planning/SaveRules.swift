internal import CaravanModel

/// What becomes of one save with terms: from what the store holds under its name to what it will hold.
struct SaveRules {
  enum Decision {
    case conflict
    /// A policy decides for what is there.
    case keep
    /// - Parameter isMerged: a policy decided, and its writer must be told what the record is now.
    case write(ZoneDraft.Draft, isMerged: Bool)
  }

  let save: ZoneCommit.Content
  let base: Base
  let terms: WriteTerms
  /// A tombstone, too; nil: there is nothing, or the terms do not ask for it.
  let stored: Entry?
  let isLive: Bool
  /// Whether what is there is what the save is based on.
  let fits: Bool
  let writer: String
  /// What the lists of large objects name.
  let lists: [ChunkHash: [ChunkHash]]
  /// The version that the save gets.
  let version: Seq
  let now: Int64
  /// It builds on a version that a restore took back.
  let isRegained: Bool

  /// - Throws: `limitExceeded`, `invalidData` when the merged record cannot be.
  func decide() throws(CaravanError) -> Decision {
    if isLive, stored?.isDamaged ?? false, terms.scope != .whole || !terms.guards.isEmpty {
      throw .damagedRecords([stored?.name ?? ""])
    }
    guard try guardsHold() else { return .conflict }
    if fits { return .write(try written(), isMerged: false) }
    switch terms.policy {
    case .manual, .serverExtension: return .conflict
    case .fieldMerge: return try mergeFields()
    case .lastWriterWins: return try settle(terms.isLater(than: stored, now: now))
    case .deterministic: return try settle(stored.map { writer <= $0.writer } ?? true)
    }
  }

  private func settle(_ wins: Bool) throws(CaravanError) -> Decision {
    guard wins else { return .keep }
    var draft = try written()
    guard terms.scope != .whole else { return .write(draft, isMerged: false) }
    draft.isUnseen = true
    return .write(draft, isMerged: true)
  }

  private func guardsHold() throws(CaravanError) -> Bool {
    guard !terms.guards.isEmpty else { return true }
    return try parsing {
      () throws(BodyProblem) in
      let guarded = try EncodedFields(terms.guards)
      return guarded.hold(in: try EncodedFields(liveBody))
    }
  }

  private var liveBody: [UInt8] { isLive ? stored?.body ?? [] : [] }

  // MARK: Bodies

  /// The record as the save wants it.
  private func written() throws(CaravanError) -> ZoneDraft.Draft {
    var draft = draft()
    switch (terms.scope, isLive) {
    case (.whole, _), (.known, false): draft.content = save
    case (.changed, _):
      draft.content = try merged { patch, stored in stored.merging(patch) }
      draft.isUnseen = isLive && base == .any
    case (.known(let highest), true):
      draft.content = try merged { patch, stored in stored.merging(patch, dropping: { $0 <= highest }) }
      draft.isUnseen = base == .any
    }
    draft.references = try references(of: draft.content)
    draft.fields = try fields(of: draft.content)
    return draft
  }

  private func draft() -> ZoneDraft.Draft {
    var draft = ZoneDraft.Draft(nil)
    draft.expiry = terms.expiry
    draft.hidesExpired = terms.hidesExpired
    return draft
  }

  private func merged(
    _ merge: (_ patch: EncodedFields, _ stored: EncodedFields) -> [UInt8]
  ) throws(CaravanError) -> ZoneCommit.Content {
    let body = try parsing { () throws(BodyProblem) in
      merge(try EncodedFields(save.body), try EncodedFields(liveBody))
    }
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "the merged record would have \(body.count) bytes: the limit is \(Limits.recordBytes), put values in an object")
    }
    let named = try scan(body)
    // Where nothing is there to merge with, the save has named all of them, and nobody has looked into its lists.
    let hashes =
      isLive
      ? try ChunkHash.list(named.hashes) + named.lists.flatMap { lists[$0.hash] ?? [] } : save.chunks
    var seen: Set<ChunkHash> = []
    return ZoneCommit.Content(
      type: max(save.type, isLive ? stored?.type ?? 0 : 0), body: body,
      chunks: hashes.filter { seen.insert($0).inserted })
  }

  /// Of a whole record its writer has said them.
  private func references(of content: ZoneCommit.Content?) throws(CaravanError) -> [Reference] {
    guard let content, content.body != save.body else { return terms.references }
    return try scan(content.body).references
  }

  private func scan(_ body: [UInt8]) throws(CaravanError) -> BodyScanner {
    try parsing { () throws(BodyProblem) in
      var scanner = BodyScanner()
      try scanner.scan(body.span, against: nil)
      return scanner
    }
  }

  private func parsing<Value>(_ work: () throws(BodyProblem) -> Value) throws(CaravanError) -> Value {
    do throws(BodyProblem) { return try work() } catch {
      throw error.refusal(of: stored?.name ?? "", type: "type \(save.type)")
    }
  }

  // MARK: Field by field

  /// Who wrote what is there, field by field.
  private var history: FieldHistory { stored.map { FieldHistory(of: $0) } ?? FieldHistory() }

  private func fields(of content: ZoneCommit.Content?) throws(CaravanError) -> [UInt8] {
    switch terms.policy {
    case .manual, .serverExtension, .deterministic: return []
    case .lastWriterWins:
      return FieldHistory.whole(
        FieldHistory.Item(seq: version, stamp: stamp(of: FieldHistory.wholeRecord, history), writer: writer)
      ).encoded(writer: writer)
    case .fieldMerge:
      return try parsing { () throws(BodyProblem) in
        let (new, old) = (try EncodedFields(content?.body ?? []), try EncodedFields(liveBody))
        let changed = Set(new.ids).union(old.ids).filter { new[$0] != old[$0] || !isLive }
        return noting(changed).encoded(writer: writer)
      }
    }
  }

  /// The history after these fields were written.
  private func noting(_ changed: Set<UInt32>) -> FieldHistory {
    var history = isLive ? self.history : FieldHistory()
    // Made again under the name of one that was deleted, or that a restore took: `created` does not tell (E11), and
    // diff sync must (UNI-03).
    if !isLive, stored != nil || isRegained {
      history.items[FieldHistory.wholeRecord] = item(FieldHistory.wholeRecord, history)
    }
    for id in changed {
      history.items[id] = item(id, history)
    }
    return history
  }

  private func item(_ id: UInt32, _ history: FieldHistory) -> FieldHistory.Item {
    FieldHistory.Item(seq: version, stamp: stamp(of: id, history), writer: writer)
  }

  /// Later than the write it replaces, whatever the device's clock says (E16).
  private func stamp(of id: UInt32, _ history: FieldHistory) -> HybridStamp {
    let given = terms.stamp(of: id, now: now)
    guard let before = history.items[id]?.stamp, before >= given else { return given }
    return before.next
  }

  /// DIF step 6: of fields changed on both sides the later write stays, what only one side changed stays, and what was
  /// deleted stays deleted (UNI-09).
  private func mergeFields() throws(CaravanError) -> Decision {
    guard let stored else { return .conflict }
    guard isLive else { return .keep }
    let (patch, old) = try parsing { () throws(BodyProblem) in
      (try EncodedFields(save.body), try EncodedFields(stored.body))
    }
    let history = history
    let taken = Set(candidates(patch, old)).filter { patch[$0] != old[$0] && wins($0, over: stored, history) }
    guard !taken.isEmpty else { return .keep }
    var draft = draft()
    draft.content = try merged { patch, stored in
      stored.merging(patch.restricted(to: taken), dropping: { taken.contains($0) })
    }
    draft.references = try scan(draft.content?.body ?? []).references
    draft.fields = noting(taken).encoded(writer: writer)
    draft.isUnseen = true
    return .write(draft, isMerged: true)
  }

  /// Fields that the writer may have changed.
  private func candidates(_ patch: EncodedFields, _ old: EncodedFields) -> [UInt32] {
    switch terms.scope {
    case .changed: patch.ids
    case .whole: patch.ids + old.ids
    case .known(let highest): patch.ids + old.ids.filter { $0 <= highest }
    }
  }

  /// A field without history counts as written by the newest write, before all stamps.
  private func wins(_ id: UInt32, over stored: Entry, _ history: FieldHistory) -> Bool {
    let item =
      history.items[id]
      ?? FieldHistory.Item(seq: stored.version, stamp: HybridStamp(rawValue: 0), writer: stored.writer)
    // Changed here only.
    if case .version(let seen) = base, item.seq <= seen { return true }
    // A whole record does not say which fields its writer touched; only stamps of their own do.
    if case .version = base, terms.scope != .changed, terms.fieldStamps[id] == nil { return false }
    return terms.isLater(id, than: item, now: now)
  }
}

/// What becomes of one delete with terms.
struct DeleteRules {
  enum Decision {
    case conflict
    case keep
    /// - Parameter fields: the tombstone's encoded `FieldVersions`.
    case delete(fields: [UInt8])
  }

  let terms: WriteTerms
  let stored: Entry?
  let isLive: Bool
  let fits: Bool
  let writer: String
  let version: Seq
  let now: Int64

  func decide() -> Decision {
    guard guardsHold() else { return .conflict }
    switch (terms.policy, fits) {
    case (.manual, true), (.serverExtension, true), (.deterministic, true), (.fieldMerge, _): return .delete(fields: [])
    case (.manual, false), (.serverExtension, false): return .conflict
    case (.lastWriterWins, true): return .delete(fields: stamped)
    case (.lastWriterWins, false): return terms.isLater(than: stored, now: now) ? .delete(fields: stamped) : .keep
    case (.deterministic, false): return stored.map { writer <= $0.writer } ?? true ? .delete(fields: []) : .keep
    }
  }

  private func guardsHold() -> Bool {
    guard !terms.guards.isEmpty else { return true }
    guard let guarded = try? EncodedFields(terms.guards),
      let body = try? EncodedFields(isLive ? stored?.body ?? [] : [])
    else { return false }
    return guarded.hold(in: body)
  }

  /// A later save must be able to tell that it is later.
  private var stamped: [UInt8] {
    let given = terms.stamp(of: FieldHistory.wholeRecord, now: now)
    let before = stored.flatMap { FieldHistory(of: $0).items[FieldHistory.wholeRecord]?.stamp }
    let stamp = before.map { max(given, $0.next) } ?? given
    return FieldHistory.whole(FieldHistory.Item(seq: version, stamp: stamp, writer: writer)).encoded(writer: writer)
  }
}

extension FieldHistory {
  init(of entry: Entry) { self = FieldHistory(encoded: entry.fields, writer: entry.writer) ?? FieldHistory() }

  static func whole(_ item: Item) -> FieldHistory { FieldHistory([wholeRecord: item]) }
}

extension WriteTerms {
  /// When a field was edited. A clock that is ahead counts as far as the store's own: it wins now and not for ever
  /// (E16, DIF-31).
  func stamp(of id: UInt32, now: Int64) -> HybridStamp {
    let here = HybridStamp(milliseconds: now)
    return min(fieldStamps[id] ?? stamp ?? here, here)
  }

  /// Whether an edit is later than the one that left `item`. A stamp ahead of the store's own time was made by a clock
  /// of the store's that was wrong: it says nothing, and whoever comes now is later (TRU-12).
  fileprivate func isLater(_ id: UInt32, than item: FieldHistory.Item, now: Int64) -> Bool {
    item.stamp > HybridStamp(milliseconds: now + Self.tolerance) || stamp(of: id, now: now) > item.stamp
  }

  /// Milliseconds that the store's time may step back in daily use.
  private static let tolerance: Int64 = 60_000

  /// Whether a write with these terms is later than the one that made `entry`.
  fileprivate func isLater(than entry: Entry?, now: Int64) -> Bool {
    guard let entry, let item = FieldHistory(of: entry).items[FieldHistory.wholeRecord] else { return true }
    return isLater(FieldHistory.wholeRecord, than: item, now: now)
  }
}

extension HybridStamp {
  /// The next moment that can be told apart.
  var next: HybridStamp { HybridStamp(rawValue: rawValue + 1) }
}
