internal import CaravanModel
internal import CaravanStore
internal import CaravanWire

// Items as a backup has them.

extension CaravanWire.ArchiveItem {
  init(_ item: StoreContent) {
    switch item {
    case .database(let id): self.init(kind: .database(DatabaseRef(id)))
    case .chunk(let chunk): self.init(kind: .chunk(ArchivedChunk(hash: chunk.hash.bytes, data: chunk.bytes)))
    case .damaged(let chunk):
      self.init(kind: .damaged(ArchivedDamage(hash: chunk.hash.bytes, size: UInt64(chunk.size))))
    case .zone(let zone):
      self.init(
        kind: .zone(
          CaravanWire.ArchivedZone(
            name: zone.name, seq: zone.seq, incarnation: zone.incarnation, deleted: !zone.isAlive,
            lostThrough: zone.lostThrough)))
    case .record(let record): self.init(kind: .record(CaravanWire.ArchivedRecord(record)))
    case .op(let op):
      self.init(
        kind: .op(
          CaravanWire.ArchivedOp(
            writer: op.op.writer, epoch: op.op.epoch, number: op.op.number, floor: op.floor,
            outcome: op.outcome.encoded)))
    case .quota(let account, let quota):
      self.init(kind: .quota(ArchivedQuota(account: account, maxRecords: quota.records, maxBytes: quota.bytes)))
    case .head(let partition, let head):
      self.init(kind: .head(ArchivedHead(partition: partition.number, head: head)))
    case .reach(let reach): self.init(kind: .reach(reach))
    }
  }

  /// - Parameter database: the one that the items before it belong to.
  /// - Returns: nil: what surrounds the items.
  func model(in database: DatabaseID?) throws(CaravanError) -> StoreContent? {
    switch kind {
    case .header, .manifest: return nil
    case .database(let reference): return .database(try reference.model())
    case .chunk(let chunk):
      guard let hash = ChunkHash(chunk.hash) else { throw CaravanError(.invalidData, "a chunk's hash is none") }
      return .chunk(ChunkBytes(hash: hash, bytes: chunk.data))
    case .damaged(let chunk):
      guard let hash = ChunkHash(chunk.hash), let database, let size = Int(exactly: chunk.size) else {
        throw CaravanError(.invalidData, "a damaged chunk has no hash, or is in no database")
      }
      return .damaged(DamagedChunk(database: database, hash: hash, size: size, found: 0))
    case .zone(let zone):
      return .zone(
        ZoneContent(
          name: zone.name, seq: zone.seq, incarnation: zone.incarnation, isAlive: !zone.deleted,
          lostThrough: try number(zone.lostThrough)))
    case .record(let record): return .record(try record.model())
    case .op(let op):
      return .op(
        OpContent(
          op: OpID(writer: op.writer, epoch: op.epoch, number: op.number), floor: op.floor,
          outcome: try OpOutcome(encoded: op.outcome)))
    case .quota(let quota):
      return .quota(account: quota.account, CaravanModel.Quota(records: quota.maxRecords, bytes: quota.maxBytes))
    case .head(let head): return .head(try Partition(head.partition), head.head)
    case .reach(let reach): return .reach(try number(reach))
    case nil: throw CaravanError(.invalidData, "an item is of a kind that this release does not know")
    }
  }
}

private func number(_ value: UInt64) throws(CaravanError) -> UInt64 {
  guard value <= StoreLimits.highestNumber else {
    throw CaravanError(.invalidData, "\(value) is no version: the archive is damaged")
  }
  return value
}

extension CaravanWire.ArchivedRecord {
  init(_ record: RecordContent) {
    self.init(
      entry: CaravanWire.Entry(record.entry), epoch: record.epoch, flags: UInt64(record.flags.rawValue),
      chunks: ChunkHash.joined(record.chunks),
      links: record.links.map { ArchivedLink(target: $0.target, kinds: UInt64($0.kinds.rawValue)) },
      damagedSum: record.sum ?? 0)
  }

  func model() throws(CaravanError) -> RecordContent {
    var record = RecordContent(
      entry: try required(entry, "entry").model(), flags: EntryFlags(rawValue: Int64(clamping: flags)), epoch: epoch,
      chunks: try ChunkHash.list(chunks),
      links: links.map {
        RecordContent.Link(target: $0.target, kinds: Referrer.Kinds(rawValue: Int64(clamping: $0.kinds)))
      })
    if damagedSum != 0 { record.sum = damagedSum }
    return record
  }
}

extension ArchiveManifest {
  init(_ summary: ArchiveSummary, items: UInt64, digest: [UInt8]) {
    self.init(
      zones: summary.zones.map {
        ZoneDigest(
          database: DatabaseRef($0.id.database), zone: $0.id.name, seq: $0.seq, records: $0.records, digest: $0.digest)
      },
      databases: summary.databases.map {
        DatabaseDigest(database: DatabaseRef($0.id), chunks: $0.chunks, bytes: $0.bytes, digest: $0.digest)
      }, items: items, digest: digest)
  }
}
