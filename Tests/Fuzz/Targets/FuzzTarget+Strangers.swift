import CaravanBackup
import CaravanCrypto
import CaravanDiffSync
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanSyncCore
import CaravanTokens
import CaravanWire
import Glibc

extension FuzzTarget {
  /// What comes from programs that are no agents, and from files that people bring.
  static let strangers: [FuzzTarget] = [
    FuzzTarget("decision", seeds: decisions.map { $0.encoded() }) { bytes in
      let decision = try Decision.decode(bytes)
      try hold(
        try sure { try Decision(decoding: decision.encoded()) } == decision, "a decision is read again as another")
      guard case .merged(let body) = decision.kind else { return }
      try Fields.check(body)
      _ = try PushCheck.save("r", body: body, against: Samples.type)
      _ = try sure { try RecordFields(body: body) }
    },
    FuzzTarget("diffs", seeds: [SyncContinue(container: "app", diffs: diffs.map { CaravanWire.Diff($0) }).encoded()]) {
      bytes in
      let diffs = try SyncContinue.decode(bytes).diffs.map { diff throws in try diff.model() }
      let wire = diffs.map { CaravanWire.Diff($0) }
      let again = try sure {
        try SyncContinue(decoding: SyncContinue(diffs: wire).encoded()).diffs.map { CaravanWire.Diff(try $0.model()) }
      }
      try hold(
        again.map { $0.encoded() } == wire.map { $0.encoded() }, "diffs are read again as others: \(diffs), \(again)")
      let plan = try ContinuePlan(diffs, types: [noted.name: noted], known: [:])
      try hold(plan.writes.count <= diffs.count, "\(diffs.count) diffs make \(plan.writes.count) writes")
    },
    FuzzTarget("turn", seeds: [turns.seal(turn, in: home, of: "phone")]) { bytes in
      guard let opened = turns.open(bytes, in: home, of: "phone") else { throw CaravanError(.invalidSyncToken, "no") }
      try hold(turns.seal(opened, in: home, of: "phone") == bytes, "a turn that was not sealed is opened: \(opened)")
    },
    FuzzTarget(
      "part", seeds: [StagedMutations(mutations: Samples.mutations.map { CaravanWire.Mutation($0) }).encoded()]
    ) {
      bytes in
      let mutations = try StagedMutations.decode(bytes).mutations.map { mutation throws in try mutation.model() }
      let staged = StagedMutations(mutations: mutations.map { CaravanWire.Mutation($0) }).encoded()
      let again = try sure { try StagedMutations(decoding: staged).mutations.map { try $0.model() } }
      try hold(again == mutations, "a part is read again as another")
    },
    FuzzTarget("backup", seeds: [backup]) { bytes in
      let path = try file(bytes)
      defer { DiskFile.remove(path) }
      let summary = try BackupFile.read(path)
      try hold(try sure { try BackupFile.read(path) } == summary, "a backup is read again as another")
    },
  ]

  private static let decisions = [
    Decision(kind: .merged(Samples.body)), Decision(kind: .merged(RecordFields([2: .integer(9)]).body)),
    Decision(kind: .keep(Empty())), Decision(),
  ]

  private static let noted: CaravanModel.RecordType = {
    var type = Samples.type
    type.settings = TypeSettings(conflicts: .fieldMerge)
    return type
  }()

  private static let diffs = ["u", "v"].map {
    CaravanDiffSync.Diff(
      timestamp: stamp, objtype: "t", uuid: $0,
      .create(["name": Stamped(.text("snoopy"), at: stamp), "n": Stamped(.null, at: stamp)]))
  }

  private static let stamp = HybridStamp(milliseconds: 5)

  private static let key: TicketKey = {
    do { return try TicketKey([UInt8](repeating: 9, count: TicketKey.byteCount)) } catch {
      preconditionFailure("a key of the right size: \(error)")
    }
  }()
  private static let turns = TurnSeal(key: key)
  private static let turn = SyncTurn(leaseToken: 4, height: 9, incarnation: 7)
  private static let home: ZoneID = {
    do { return try ZoneID(Samples.database, "t") } catch { preconditionFailure("a name of the right form: \(error)") }
  }()

  // MARK: Backups

  /// In memory: it is read many thousand times a second.
  private static func file(_ bytes: [UInt8]) throws(CaravanError) -> String {
    let path = "/dev/shm/caravan-fuzz-\(getpid())"
    let file = try DiskFile(path)
    defer { file.close() }
    try file.resize(to: 0)
    try file.write(bytes, at: 0)
    return path
  }

  private static var backup: [UInt8] {
    let path = "/dev/shm/caravan-fuzz-\(getpid())-seed"
    defer { DiskFile.remove(path) }
    do {
      try BackupFile.write(SampleSource(), to: path, at: WallTime(milliseconds: 5))
      let file = try DiskFile(path, isReadOnly: true)
      defer { file.close() }
      return try file.read(at: 0, count: file.usage().size)
    } catch { preconditionFailure("a backup of nothing much: \(error)") }
  }
}

/// A store with a chunk, a record, an op, a quota and a log.
private struct SampleSource: ArchiveSource {
  func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    let bytes: [UInt8] = [1, 2, 3]
    guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else { return }
    try take(.database(Samples.database))
    try take(.chunk(ChunkBytes(hash: hash, bytes: bytes)))
    try take(.zone(ZoneContent(name: "t", seq: 9, incarnation: 4, isAlive: true)))
    try take(
      .record(
        RecordContent(
          entry: Samples.entry, flags: [], epoch: 3, chunks: [hash],
          links: [RecordContent.Link(target: "other", kinds: [])])))
    let op = OpID(writer: "phone", epoch: 3, number: 8)
    let outcome = OpOutcome.decided(verdicts: [.accepted(version: 9)], zoneSeq: 9, incarnation: 4)
    try take(.op(OpContent(op: op, floor: 2, outcome: outcome)))
    try take(.quota(account: "user/ann", CaravanModel.Quota(records: 5, bytes: 500)))
    try take(.head(Partition(of: Samples.database), 12))
  }
}
