public import CaravanModel
internal import CaravanSQLite
public import CaravanStore

extension StoreSQLite: HomeStore {
  public func content(of owner: UserID) async throws(CaravanError) -> OwnerContent {
    var content = OwnerContent()
    var ops: [OpID: OpContent] = [:]
    for file in files {
      let part = try await file.read { (file) throws(CaravanError) in try OwnerReads(file: file).content(of: owner) }
      content.zones += part.zones
      content.groups += part.groups
      content.reach = max(content.reach, part.reach)
      content.locks.merge(part.locks) { one, other in one.token > other.token ? one : other }
      for op in part.ops { ops[op.op] = op }
    }
    content.ops = Array(ops.values)
    return content
  }

  public func records(of zone: ZoneID, after version: Seq) async throws(CaravanError) -> [RecordContent] {
    try await file(zone.database).read { (file) throws(CaravanError) in
      try OwnerReads(file: file).records(of: zone, after: version)
    }
  }

  public func chunkHashes(
    of database: DatabaseID, after hash: ChunkHash?
  ) async throws(CaravanError) -> [ChunkHash] {
    try await file(database).read { (file) throws(CaravanError) in
      try OwnerReads(file: file).chunkHashes(of: database, after: hash)
    }
  }

  public func adopt(_ content: OwnerContent, of owner: UserID) async throws(CaravanError) {
    // A late message finds the outcome of its op beside the zone that it means, even if that has never been.
    var parts = [number(DatabaseID.system(owner)): OwnerContent()]
    for zone in content.zones { parts[number(zone.id.database), default: OwnerContent()].zones.append(zone) }
    for group in content.groups {
      parts[number(group.group.zone.database), default: OwnerContent()].groups.append(group)
    }
    for number in parts.keys.sorted() {
      guard var part = parts[number] else { continue }
      (part.ops, part.locks, part.reach) = (content.ops, content.locks, content.reach)
      let whole = part
      try await files[number].write { (file) throws(CaravanError) in try OwnerAdoption(file: file).adopt(whole) }
    }
  }

  public func adopt(_ records: [RecordContent], in zone: ZoneID) async throws(CaravanError) {
    let bytes = records.reduce(0) { $0 + $1.entry.body.count }
    try await file(zone.database).write(bytes: bytes) { (file) throws(CaravanError) in
      try OwnerAdoption(file: file).adopt(records, in: zone)
    }
  }

  public func discard(_ owner: UserID) async throws(CaravanError) {
    for file in files {
      try await file.write { (file) throws(CaravanError) in try OwnerAdoption(file: file).discard(owner) }
    }
  }

  // MARK: The log

  public func entered(from store: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    try await file(partition).read { (file) throws(CaravanError) in
      try file.cursor(of: OwnerAdoption.logCursor(of: store), in: partition.number)
    }
  }

  public func enter(
    _ commits: [LoggedCommit], from store: String, upTo position: UInt64, in partition: Partition
  ) async throws(CaravanError) {
    try await file(partition).write { (file) throws(CaravanError) in
      try OwnerAdoption(file: file).enter(commits, from: store, upTo: position, in: partition)
    }
  }
}
