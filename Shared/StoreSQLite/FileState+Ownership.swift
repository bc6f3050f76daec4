internal import Model
internal import SQLite
internal import Store

/// Leases and cursors; they lie in the first file, so that a cursor's write and the check of its lease are one
/// transaction.
extension FileState {
  func lease(_ names: [String], holder: String, ttl: Duration) throws(CaravanError) -> [Lease] {
    var grants: [Lease] = []
    for name in names { grants.append(try lease(name, holder: holder, milliseconds: ttl.milliseconds)) }
    return grants
  }

  private func lease(_ name: String, holder: String, milliseconds: Int64) throws(CaravanError) -> Lease {
    let now = now
    let row = try reads.lease(name)
    let isLive = row.map { $0.expires > now } ?? false
    if let row, isLive, row.holder != holder {
      return Lease(
        name: name, isGranted: false, token: row.token, holder: row.holder, remaining: .milliseconds(row.expires - now))
    }
    guard milliseconds > 0 else {
      // A release keeps the row: tokens must go on growing. Once expired, it is nobody's to release.
      if isLive { try db.run("UPDATE leases SET holder = '', expires = 0 WHERE name = ?", name) }
      return Lease(name: name, isGranted: false, token: row?.token ?? 0, holder: "", remaining: .zero)
    }
    // Within one unbroken tenure the token stays; whoever begins one, even the same holder again, gets a new one.
    let token = isLive ? row?.token ?? 1 : (row?.token ?? 0) + 1
    try db.run(
      """
      INSERT INTO leases(name, holder, token, expires) VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = excluded.token, expires = excluded.expires
      """, name, holder, token, now + milliseconds)
    return Lease(name: name, isGranted: true, token: token, holder: holder, remaining: .milliseconds(milliseconds))
  }

  func moveCursor(
    of consumer: String, in partition: UInt32, to position: UInt64, proof: LeaseProof
  ) throws(CaravanError) {
    guard let lease = try reads.lease(proof.lease), lease.expires > now, lease.token == proof.token else {
      throw CaravanError(
        .lockNotHeld,
        "the cursor of \(consumer) moves only under lease '\(proof.lease)': take it again and use its token")
    }
    try db.run(
      """
      INSERT INTO cursors(consumer, partition, position) VALUES (?, ?, ?)
      ON CONFLICT (consumer, partition) DO UPDATE SET position = excluded.position
      """, consumer, partition, position)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = Swift.min(self, StoreLimits.longestLease).components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
