internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Leases and cursors; they lie in the first file, so that a cursor's write and the check of its lease are one
/// transaction. Locks lie beside what they guard, for the same reason.
struct FileLeases: FilePart {
  let context: FileContext

  func lease(_ names: [String], holder: String, ttl: Duration) throws(CaravanError) -> [Lease] {
    let now = now
    var grants: [Lease] = []
    for name in names {
      let decision = LeaseHolder.decide(name, try known(name), holder: holder, ttl: ttl, now: now)
      if let next = decision.next { try write(next, name) }
      grants.append(decision.answer)
    }
    return grants
  }

  func lock(_ name: String, _ wish: LockWish, holder: String) throws(CaravanError) -> Lease {
    let decision = try LeaseHolder.decide(name, try known(name), holder: holder, wish, now: now)
    if let next = decision.next { try write(next, name) }
    return decision.answer
  }

  private func known(_ name: String) throws(CaravanError) -> LeaseHolder? {
    if let known = try reads.lease(name) { return known }
    return try reads.lease(LeaseHolder.forgotten)
  }

  /// Forgets leases that ended long ago: devices lock what they like, each under a name of its own (TRU-03).
  /// - Returns: whether there may be more.
  func collect() throws(CaravanError) -> Bool {
    let ended = try db.all(
      "SELECT name, token FROM leases WHERE expires < ? AND name <> ? LIMIT ?",
      now - StoreLimits.endedLeasesKept.components.seconds * 1_000, LeaseHolder.forgotten, FileLimits.collectedRows,
      read: { (name: $0.text(0), token: $0.unsigned(1)) })
    guard let highest = ended.map(\.token).max() else { return false }
    let before = try reads.lease(LeaseHolder.forgotten)?.token ?? 0
    try write(LeaseHolder(holder: "", token: max(before, highest), expires: 0), LeaseHolder.forgotten)
    for lease in ended { try db.run("DELETE FROM leases WHERE name = ?", lease.name) }
    return ended.count == FileLimits.collectedRows
  }

  func write(_ tenure: LeaseHolder, _ name: String) throws(CaravanError) {
    try db.run(
      """
      INSERT INTO leases(name, holder, token, expires) VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = excluded.token, expires = excluded.expires
      """, name, tenure.holder, tenure.token, tenure.expires)
  }

  func moveCursor(
    of consumer: String, in partition: UInt32, to position: UInt64, proof: LeaseProof
  ) throws(CaravanError) {
    try proof.check(reads.lease(proof.lease), now: now, for: consumer)
    try db.run(
      """
      INSERT INTO cursors(consumer, partition, position) VALUES (?, ?, ?)
      ON CONFLICT (consumer, partition) DO UPDATE SET position = excluded.position
      """, consumer, partition, position)
  }
}
