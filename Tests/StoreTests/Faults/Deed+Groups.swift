import Model
import Store

extension Deed {
  /// Groups that are larger than a batch, and the locks that they may depend on.
  static let groups: [Deed] = [
    Deed("beginning a group") { place throws(CaravanError) in
      "\(try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone).parts)"
    },
    Deed("staging a part with an object") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
    } act: { place throws(CaravanError) in
      switch try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1])) {
      case .staged(let group): "staged, \(group.parts)"
      case .missing(let hashes): "missing \(hashes)"
      }
    },
    Deed("making a group visible") { place throws(CaravanError) in
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, records: 2))
    } act: { place throws(CaravanError) in
      let mutations = [Sample.save("a"), Sample.save("b")]
      return text(
        try await place.store.commit(
          Commit(zone: place.zone, op: place.op(1), isAtomic: true, mutations: mutations, parts: 1)))
    },
    Deed("forgetting a group") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1]))
    } act: { place throws(CaravanError) in
      try await place.store.removeGroup(place.op(1), in: place.zone)
      return "removed"
    },
    Deed("taking a lock") { place throws(CaravanError) in
      let lease = try await place.store.lock(
        "\(place.name)/lock", .take(ttl: .seconds(60)), holder: "me", in: Partition(of: place.database))
      return "\(lease.isGranted) \(lease.token)"
    },
  ]
}
