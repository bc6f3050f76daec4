internal import CaravanModel
internal import CaravanStore

/// Gives the devices of a backup that was made of layout 4 the names that they have in layout 5, as a migration does.
/// All of the backup is learned first.
struct ArchiveRenaming {
  private struct Writer: Hashable {
    let name: String
    let epoch: UInt64
  }

  private var names = EnrolledNames()
  private var database: DatabaseID?
  private var zone = ""
  /// Whose each zone is.
  private var owners: [Incarnation: UserID] = [:]
  /// Who has left something under a name, and with which epoch.
  private var users: [Writer: Set<UserID?>] = [:]

  mutating func learn(_ item: StoreContent) {
    follow(item)
    switch item {
    case .zone(let content): owners[content.incarnation] = database?.owner
    case .record(let record):
      let entry = record.entry
      users[Writer(name: entry.writer, epoch: record.epoch), default: []].insert(database?.owner)
      if database == EnrolledNames.registry.database, zone == EnrolledNames.registry.zone, !entry.isDeleted {
        names.learn(device: entry.name, body: entry.body)
      }
    case .op(let op):
      guard let life = op.incarnation else { return }
      users[Writer(name: op.op.writer, epoch: op.op.epoch), default: []].insert(owners[life])
    case .database, .chunk, .damaged, .quota, .head, .reach: return
    }
  }

  private mutating func follow(_ item: StoreContent) {
    switch item {
    case .database(let id): database = id
    case .zone(let content): zone = content.name
    case .chunk, .damaged, .record, .op, .quota, .head, .reach: return
    }
  }

  /// - Returns: more than one for the outcome of an op that says nothing of its zone, where users shared a name.
  mutating func renamed(_ item: StoreContent) -> [StoreContent] {
    follow(item)
    switch item {
    case .record(var record):
      let (old, owner) = (record.entry.writer, database?.owner)
      if let fields = names.fields(record.entry.fields, writer: old, in: owner) { record.entry.fields = fields }
      record.entry.writer = names.name(old, in: owner)
      return [.record(record)]
    case .op(let op):
      if let life = op.incarnation { return [.op(renamed(op, for: owners[life]))] }
      let all = users[Writer(name: op.op.writer, epoch: op.op.epoch)] ?? [nil]
      return all.sorted { $0?.text ?? "" < $1?.text ?? "" }.map { .op(renamed(op, for: $0)) }
    case .database, .chunk, .damaged, .zone, .quota, .head, .reach: return [item]
    }
  }

  private mutating func renamed(_ op: OpContent, for user: UserID?) -> OpContent {
    let id = OpID(writer: names.name(op.op.writer, in: user), epoch: op.op.epoch, number: op.op.number)
    return OpContent(op: id, floor: op.floor, outcome: op.outcome)
  }
}
