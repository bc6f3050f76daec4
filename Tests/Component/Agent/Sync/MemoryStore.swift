import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime

/// A store that keeps nothing on disk and decides as little as it can: what the engine asks of it can be looked at.
final class MemoryStore: SyncStore {
  struct Row: Equatable {
    var body: [UInt8]
    var version: Seq = 0
    var isDirty = true
    var op: UInt64?
    var server: Entry?
    var chunks: [ChunkHash] = []
  }

  struct Table {
    var type: RecordType?
    var token: [UInt8] = []
    var isResyncing = false
    var rows: [String: Row] = [:]
    var refusal: String?
    var fault: TableFault?
    var resets = 0
    var pages = 0
    /// Entries that wait for chunks.
    var waiting: [Entry] = []
    var showsSnapshots = false
    /// Its dirty rows are one batch.
    var isBatch = false
  }

  struct State {
    var epoch: UInt64 = 1
    var tables: [TableID: Table] = [:]
    var plans: [UInt64: PushPlan] = [:]
    var nextOp: UInt64 = 1
    var registrations: [TableRegistration] = []
    var generation: UInt64 = 0
    var toldOnly: Set<TableID> = []
    var deferrable: Set<TableID> = []
    var chunks: [ChunkHash: [UInt8]] = [:]
    var parts: [ChunkHash: [UInt8]] = [:]
    /// Chunks the rows of a record name.
    var named: [String: [ChunkHash]] = [:]
    var isUnexplained = false
    /// Why what a plan needs cannot be read, one after the other.
    var failingReads: [CaravanError] = []
    /// What chunks that are missing may be patches of.
    var bases: [ChunkHash: [ChunkHash]] = [:]
    /// Happens before a page is taken in, with its number.
    var beforePage: (@Sendable (Int) async -> Void)?
  }

  let state = Mutex(State())

  // MARK: For tests

  func add(_ table: TableID, agreed: Bool = false) {
    state.withLock { $0.tables[table] = Table(type: agreed ? Self.type(table, id: 1) : nil) }
  }

  func write(_ name: String, _ text: String, in table: TableID, chunks: [ChunkHash] = []) {
    state.withLock { state in
      var row = state.tables[table]?.rows[name] ?? Row(body: [])
      row.body = Array(text.utf8)
      row.isDirty = true
      row.chunks = chunks
      state.tables[table]?.rows[name] = row
    }
  }

  func register(
    _ table: TableID, _ direction: Direction, period: UInt32 = 0, tolerance: UInt32 = 0, link: LinkClass = .roaming
  ) {
    state.withLock { state in
      let registration = SyncRegistration(
        periodMilliseconds: period, delayToleranceMilliseconds: tolerance, link: link)
      state.registrations.removeAll { $0.table == table && $0.direction == direction }
      state.registrations.append(TableRegistration(table: table, direction: direction, registration: registration))
      if direction == .read { state.generation += 1 }
    }
  }

  func texts(_ table: TableID) -> [String: String] {
    state.withLock { $0.tables[table]?.rows.mapValues { String(decoding: $0.body, as: UTF8.self) } ?? [:] }
  }

  func table(_ table: TableID) -> Table { state.withLock { $0.tables[table] ?? Table() } }
  func isClean(_ table: TableID) -> Bool { self.table(table).rows.values.allSatisfy { !$0.isDirty && $0.op == nil } }

  static func type(_ table: TableID, id: UInt32) -> RecordType {
    RecordType(
      id: id, definition: id, name: table.name,
      fields: [FieldDefinition(id: id == 0 ? 0 : 1, name: "photo", kind: .object)])
  }

  // MARK: SyncStore

  var epoch: UInt64 { state.withLock { $0.epoch } }
  var opFloor: UInt64 { state.withLock { $0.plans.keys.min() ?? $0.nextOp } }

  func beginEpoch() throws(CaravanError) {
    try state.withLock { state throws(CaravanError) in
      guard state.plans.isEmpty else { throw CaravanError(.invalidData, "plans in flight") }
      state.epoch += 1
      state.isUnexplained = false
    }
  }

  func syncedTables() -> [TableID] { state.withLock { $0.tables.keys.sorted() } }

  func isSynced(_ table: TableID) throws(CaravanError) -> Bool { try !syncState(of: table).isLocalOnly }

  func syncState(of table: TableID) throws(CaravanError) -> TableSyncState {
    try state.withLock { state throws(CaravanError) in
      guard let found = state.tables[table] else { throw CaravanError(.tableNotFound, "no table \(table)") }
      return TableSyncState(
        proposal: Self.type(table, id: 0), type: found.type, token: found.token,
        dirtyRows: found.rows.values.count { $0.isDirty && $0.op == nil && $0.server == nil },
        opInFlight: state.plans.values.first { $0.table == table }?.op, lacksChunks: !found.waiting.isEmpty,
        isResyncing: found.isResyncing, showsSnapshots: found.showsSnapshots, isResolving: false, fault: found.fault,
        refused: found.refusal ?? "")
    }
  }

  func agree(on type: RecordType, for table: TableID) { state.withLock { $0.tables[table]?.type = type } }
  func note(refusal: String?, fault: TableFault?, of table: TableID) {
    state.withLock { state in
      state.tables[table]?.refusal = refusal
      if let fault { state.tables[table]?.fault = fault }
    }
  }

  func repairDamage() {}

  /// It plans only when asked.
  func planAtOnce(_ tables: Set<TableID>) {}

  func collect(
    _ table: TableID, maximumRows: Int, maximumBytes: Int, onlyDeletions: Bool, room: Int?, retriesRefused: Bool
  ) -> PushPlan? {
    guard !onlyDeletions else { return nil }
    return state.withLock { state in
      guard let found = state.tables[table], let type = found.type,
        !state.plans.values.contains(where: { $0.table == table })
      else { return nil }
      let dirty = found.rows.filter { $0.value.isDirty && $0.value.server == nil }.sorted { $0.key < $1.key }
      guard !dirty.isEmpty else { return nil }
      let op = state.nextOp
      state.nextOp += 1
      let mutations = dirty.prefix(found.isBatch ? dirty.count : maximumRows).map { name, row in
        Mutation(
          name: name, base: row.version == 0 ? .absent : .version(row.version),
          change: .save(type: type.id, body: row.body, chunks: row.chunks))
      }
      for mutation in mutations {
        state.tables[table]?.rows[mutation.name]?.isDirty = false
        state.tables[table]?.rows[mutation.name]?.op = op
      }
      let plan = PushPlan(
        op: op, epoch: state.epoch, table: table, type: type.id, mutations: mutations, isAtomic: found.isBatch)
      state.plans[op] = plan
      return plan
    }
  }

  func plansInFlight() -> [PushPlan] { state.withLock { $0.plans.values.sorted { $0.op < $1.op } } }

  func record(_ outcomes: [Outcome], of op: UInt64, by stamp: CommitStamp?) -> PushSummary {
    state.withLock { state in
      var summary = PushSummary()
      guard let plan = state.plans.removeValue(forKey: op) else { return summary }
      for (mutation, outcome) in zip(plan.mutations, outcomes) {
        state.tables[plan.table]?.rows[mutation.name]?.op = nil
        switch outcome {
        case .accepted(let version):
          state.tables[plan.table]?.rows[mutation.name]?.version = version
          summary.accepted += 1
        case .conflict(let server):
          state.tables[plan.table]?.rows[mutation.name]?.isDirty = true
          state.tables[plan.table]?.rows[mutation.name]?.server = server
          summary.conflicts += 1
        case .aborted, .refused, .read:
          state.tables[plan.table]?.rows[mutation.name]?.isDirty = true
          if case .refused(let error) = outcome { summary.refusal = error }
        case .merged: break
        }
      }
      return summary
    }
  }

  func abort(_ op: UInt64) {
    state.withLock { state in
      guard let plan = state.plans.removeValue(forKey: op) else { return }
      for mutation in plan.mutations {
        state.tables[plan.table]?.rows[mutation.name]?.op = nil
        state.tables[plan.table]?.rows[mutation.name]?.isDirty = true
      }
    }
  }

  func chunks(_ hashes: [ChunkHash], maximumBytes: Int) -> [LocalChunk] {
    state.withLock { state in
      var room = maximumBytes
      var chunks: [LocalChunk] = []
      for hash in hashes {
        guard let bytes = state.chunks[hash] else { continue }
        guard chunks.isEmpty || bytes.count <= room else { break }
        room -= bytes.count
        chunks.append(LocalChunk(hash: hash, bytes: bytes))
      }
      return chunks
    }
  }

  func held(_ hashes: [ChunkHash]) -> [ChunkHash] {
    state.withLock { state in hashes.filter { state.chunks[$0] != nil } }
  }

  func chunksBeingWritten(_ hashes: [ChunkHash]) -> [LocalChunk] { [] }

  /// Its rows wait for what they lack.
  func chunks(lackedBy page: [IncomingEntry], of table: TableID) -> [ChunkNeed] { [] }

  func apply(
    _ page: [IncomingEntry], with chunks: [LocalChunk], to table: TableID, token: [UInt8], end: PageEnd, point: Seq?
  ) async -> PullSummary {
    let (before, number) = state.withLock { ($0.beforePage, ($0.tables[table]?.pages ?? 0) + 1) }
    await before?(number)
    return state.withLock { state in
      var summary = PullSummary()
      summary.isUnexplained = state.isUnexplained
      state.tables[table]?.token = token
      if end == .last { state.tables[table]?.isResyncing = false }
      state.tables[table]?.pages += 1
      state.tables[table]?.waiting += page.filter { !$0.isOwn }.map(\.entry)
      settleWaiting(&state, table, &summary)
      return summary
    }
  }

  private func settleWaiting(_ state: inout State, _ table: TableID, _ summary: inout PullSummary) {
    var kept: [Entry] = []
    for entry in state.tables[table]?.waiting ?? [] {
      let isComplete = (state.named[entry.name] ?? []).allSatisfy { state.chunks[$0] != nil }
      guard isComplete else {
        kept.append(entry)
        continue
      }
      if let row = state.tables[table]?.rows[entry.name], row.isDirty || row.version >= entry.version {
        if row.isDirty { state.tables[table]?.rows[entry.name]?.server = entry }
        continue
      }
      summary.applied += 1
      state.tables[table]?.rows[entry.name] =
        entry.isDeleted ? nil : Row(body: entry.body, version: entry.version, isDirty: false)
    }
    summary.staged = kept.count
    state.tables[table]?.waiting = kept
  }

  func unsentChunks(of op: UInt64) throws(CaravanError) -> [ChunkNeed] {
    try state.withLock { state throws(CaravanError) in
      guard state.failingReads.isEmpty else { throw state.failingReads.removeFirst() }
      return (state.plans[op]?.chunks ?? []).map { ChunkNeed(hash: $0, length: state.chunks[$0]?.count ?? 0) }
    }
  }

  func missingChunks(of table: TableID, limit: Int) -> [ChunkNeed] {
    state.withLock { state in
      let wanted = (state.tables[table]?.waiting ?? []).flatMap { state.named[$0.name] ?? [] }
      return wanted.filter { state.chunks[$0] == nil }.prefix(limit).map {
        ChunkNeed(hash: $0, bases: state.bases[$0] ?? [])
      }
    }
  }

  func missingChunks(of table: TableID, limit: Int, room: Int) -> [ChunkNeed] { missingChunks(of: table, limit: limit) }

  func part(of hash: ChunkHash) -> [UInt8] { state.withLock { $0.parts[hash] ?? [] } }
  func keep(part: [UInt8], of hash: ChunkHash, from start: Int) {
    state.withLock { $0.parts[hash, default: []] += part }
  }
  func dropPart(of hash: ChunkHash) { state.withLock { $0.parts[hash] = nil } }

  func stage(_ chunks: [LocalChunk], for table: TableID) -> PullSummary {
    state.withLock { state in
      for chunk in chunks { state.chunks[chunk.hash] = chunk.bytes }
      var summary = PullSummary()
      settleWaiting(&state, table, &summary)
      return summary
    }
  }

  func reset(_ table: TableID, _ choice: CaravanAgentCore.ResetChoice, discardingUnsent: Bool) throws(CaravanError) {
    try reset(table, lost: [], token: [])
    state.withLock { state in
      state.tables[table]?.fault = nil
      state.tables[table]?.refusal = nil
    }
  }

  /// Damage at the cloud is for tests with real stores.
  func isDamaged(atCloud rows: [CloudDamage], of table: TableID) {}

  func reset(_ table: TableID, lost: [LostRange], token: [UInt8]) throws(CaravanError) {
    try state.withLock { state throws(CaravanError) in
      guard !state.plans.values.contains(where: { $0.table == table }) else {
        throw CaravanError(.invalidData, "a plan of \(table) is in flight")
      }
      state.tables[table]?.token = token
      state.tables[table]?.isResyncing = true
      state.tables[table]?.resets += 1
      for name in (state.tables[table]?.rows ?? [:]).keys { state.tables[table]?.rows[name]?.version = 0 }
    }
  }

  func networkRecord() -> NetworkRecord { NetworkRecord() }
  func save(_ policy: CaravanAgentCore.NetworkPolicy) {}
  func save(_ refusal: Admission.Refusal?) {}
  func save(grant bytes: UInt64, over link: CaravanModel.LinkClass, on day: Int64) {}
  func save(_ usage: UsageLedger.Unsaved) {}

  func zoneIsGone(_ table: TableID) -> ZoneVerdict { .neverThere }
  func zoneIsThere(_ table: TableID) {}

  func loseTolerated(of table: TableID, to place: LossPlace) -> UInt64 { 0 }

  func registrations() -> [TableRegistration] {
    state.withLock { state in
      state.registrations.sorted { ($0.table, $0.direction) < ($1.table, $1.direction) }
    }
  }

  func subscriptions(toldOnly: Set<TableID>?, deferrable: Set<TableID>) -> SubscriptionList {
    state.withLock { state in
      if let toldOnly, toldOnly != state.toldOnly || deferrable != state.deferrable {
        state.generation += 1
        (state.toldOnly, state.deferrable) = (toldOnly, deferrable)
      }
      return SubscriptionList(
        generation: state.generation,
        items: state.registrations.filter { $0.direction == .read }.map {
          SubscriptionList.Item(
            table: $0.table, periodMilliseconds: $0.registration.periodMilliseconds,
            isToldOnly: toldOnly?.contains($0.table) ?? false,
            toleranceMilliseconds: deferrable.contains($0.table)
              ? .max : $0.registration.delayToleranceMilliseconds)
        })
    }
  }
}
