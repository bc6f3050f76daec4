import CaravanModel
import CaravanStore

extension StoreOperation {
  /// Groups that are larger than a batch, and the locks that they may depend on.
  static let groups: [StoreOperation] = [
    StoreOperation("beginning a group") { place throws(CaravanError) in
      "\(try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone).parts)"
    },
    StoreOperation("staging a part with an object") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
    } act: { place throws(CaravanError) in
      switch try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1])) {
      case .staged(let group): "staged, \(group.parts)"
      case .missing(let hashes): "missing \(hashes)"
      }
    },
    StoreOperation("making a group visible") { place throws(CaravanError) in
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, records: 2))
    } act: { place throws(CaravanError) in
      let mutations = [Sample.save("a"), Sample.save("b")]
      return text(
        try await place.store.commit(
          Commit(zone: place.zone, op: place.op(1), isAtomic: true, mutations: mutations, parts: 1)))
    },
    StoreOperation("forgetting a group") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1]))
    } act: { place throws(CaravanError) in
      try await place.store.removeGroup(place.op(1), in: place.zone)
      return "removed"
    },
    StoreOperation("giving up a group") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1]))
    } act: { place throws(CaravanError) in
      text(try await place.store.settle(place.op(1), in: place.zone))
    } prove: { place throws(CaravanError) in
      text(try await place.commit(group: place.op(1)))
    },
    StoreOperation("making a group visible under a lock") { place throws(CaravanError) in
      try await place.take()
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0))
    } act: { place throws(CaravanError) in
      text(try await place.commit(group: place.op(1), fence: LeaseProof(lease: "\(place.name)/lock", token: 1)))
    } prove: { place throws(CaravanError) in
      text(try await place.commit(group: place.op(1)))
    },
  ]

  static let locks: [StoreOperation] = [
    StoreOperation("taking a lock") { place throws(CaravanError) in
      text(try await place.take())
    } prove: { place throws(CaravanError) in
      try await place.whoHasIt()
    },
    StoreOperation("renewing a lock") { place throws(CaravanError) in
      try await place.take()
    } act: { place throws(CaravanError) in
      text(try await place.lock(.renew(token: 1, ttl: .seconds(120))))
    } prove: { place throws(CaravanError) in
      try await place.whoHasIt()
    },
    StoreOperation("releasing a lock") { place throws(CaravanError) in
      try await place.take()
    } act: { place throws(CaravanError) in
      text(try await place.lock(.release(token: 1)))
    } prove: { place throws(CaravanError) in
      try await place.whoHasIt()
    },
  ]

  private static func text(_ lease: Lease) -> String { "\(lease.isGranted) \(lease.token) for \(lease.remaining)" }
}

extension StoreOperation.Place {
  fileprivate func commit(group op: OpID, fence: LeaseProof? = nil) async throws(CaravanError) -> CommitResult {
    try await store.commit(
      Commit(zone: zone, op: op, isAtomic: true, mutations: [Sample.save("a")], parts: 1, fence: fence))
  }

  /// Whoever holds a lock is the writer of what is committed under it.
  fileprivate func lock(_ wish: LockWish, by holder: String? = nil) async throws(CaravanError) -> Lease {
    try await store.lock("\(name)/lock", wish, holder: holder ?? name, in: Partition(of: database))
  }

  @discardableResult
  fileprivate func take() async throws(CaravanError) -> Lease { try await lock(.take(ttl: .seconds(60))) }

  /// Another one gets the lock, or is told for how long it is held.
  fileprivate func whoHasIt() async throws(CaravanError) -> String {
    do throws(CaravanError) {
      return "nobody, now \(try await lock(.take(ttl: .seconds(1)), by: "tablet").token)"
    } catch {
      guard error.code == .lockAlreadyHeld else { throw error }
      return "held for \(error.retryAfterMilliseconds ?? 0) ms"
    }
  }
}
