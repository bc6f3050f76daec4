package import CaravanModel
package import CaravanStore

/// What a request must keep to before the store is asked.
package enum RequestRules {
  /// - Throws: `invalidData` when a database was sent to the subject of a partition it does not lie in.
  package static func check(_ database: DatabaseID, in partition: Partition) throws(CaravanError) {
    let home = Partition(of: database)
    guard home == partition else {
      throw CaravanError(.invalidData, "database \(database) lies in partition \(home), not \(partition)")
    }
  }

  /// - Throws: `invalidData` when the number in a request is not that of its subject.
  package static func check(_ number: UInt32, is partition: Partition) throws(CaravanError) {
    guard number == partition.number else {
      throw CaravanError(.invalidData, "the request is for partition \(number), its subject is partition \(partition)")
    }
  }

  package static func check(names: [String]) throws(CaravanError) {
    guard names.count <= StoreLimits.fetchedNames else {
      throw CaravanError(
        .limitExceeded, "\(names.count) records are asked for: the limit is \(StoreLimits.fetchedNames)")
    }
    for name in names { try RecordName.check(name) }
  }

  package static func check(hashes: [ChunkHash]) throws(CaravanError) {
    guard hashes.count <= StoreLimits.hashesPerRequest else {
      throw CaravanError(
        .limitExceeded, "\(hashes.count) chunks are asked about: the limit is \(StoreLimits.hashesPerRequest)")
    }
  }

  /// - Throws: `accessDenied` for a public database: who asks for chunks there without saying for whom gets none.
  package static func check(hasItsOwnUser database: DatabaseID) throws(CaravanError) {
    guard database.isPublic else { return }
    throw CaravanError(
      .accessDenied, "database \(database) is no user's own: its chunks are named by commits, and read with tickets")
  }

  package static func check(parts hashes: [ChunkHash]) throws(CaravanError) {
    guard hashes.count <= Limits.chunksPerFrame else {
      throw CaravanError(.limitExceeded, "a frame in \(hashes.count) chunks: the limit is \(Limits.chunksPerFrame)")
    }
  }

  package static func check(leases names: [String], holder: String) throws(CaravanError) {
    guard (1...StoreLimits.leasesPerRequest).contains(names.count) else {
      throw CaravanError(.limitExceeded, "\(names.count) leases in one request: 1 to \(StoreLimits.leasesPerRequest)")
    }
    for text in names + [holder] {
      guard (1...StoreLimits.leaseNameBytes).contains(text.utf8.count) else {
        throw CaravanError(
          .invalidData,
          "'\(text.prefix(40))' is no name of a lease or holder: use 1 to \(StoreLimits.leaseNameBytes) bytes")
      }
    }
  }

  /// The one filter a list of zones is asked with.
  package static func filter(
    database: DatabaseID?, owner: String, named: String, in partition: Partition
  ) throws(CaravanError) -> ZoneFilter {
    if let database {
      try check(database, in: partition)
      return .database(database)
    }
    if !owner.isEmpty {
      let user = try UserID(owner)
      // Every database of one owner lies in one partition.
      try check(DatabaseID.system(user), in: partition)
      return .owner(user)
    }
    return named.isEmpty ? .everything : .named(named)
  }

  /// 0 in a request means as many as allowed.
  package static func bounded(_ wanted: UInt32, by limit: Int) -> Int {
    precondition(limit > 0, "a limit of \(limit) answers nothing")
    return wanted == 0 ? limit : min(Int(wanted), limit)
  }
}
