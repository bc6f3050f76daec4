internal import CaravanModel

extension Merge {
  /// Step 4. What was created elsewhere is taken over. What is here already gets its fields as updates, so that step 6
  /// decides: our own create that returns because its answer was lost, an object created on both sides, or all objects
  /// after a restart from height 0.
  mutating func applyServerCreates() {
    let creates = latestCreates()
    guard !creates.isEmpty else { return }
    server.removeAll(where: \.isCreate)
    settleLocalCreates(creates)
    let created = Set(creates.map(\.uuid))
    let present = created.filter { objects[$0] != nil }
    let pending = Set(log.lazy.compactMap(\.updatedField).filter { present.contains($0.uuid) })
    let updates = Dictionary(grouping: server.filter { created.contains($0.uuid) }, by: \.uuid)
    server.removeAll { created.contains($0.uuid) && !present.contains($0.uuid) }
    for create in creates {
      let later = updates[create.uuid] ?? []
      if present.contains(create.uuid) { compare(create, later, pending) } else { insert(create, later) }
    }
  }

  /// One an object, in the order they came.
  private func latestCreates() -> [Diff] {
    var places: [String: Int] = [:]
    var creates: [Diff] = []
    for diff in server where diff.isCreate {
      if let place = places[diff.uuid] {
        if diff.height ?? 0 >= creates[place].height ?? 0 { creates[place] = diff }
      } else {
        places[diff.uuid] = creates.count
        creates.append(diff)
      }
    }
    return creates
  }

  /// Takes creates of the same objects out of L: they have the content of the server's, or their fields become updates.
  private mutating func settleLocalCreates(_ creates: [Diff]) {
    let theirs = Dictionary(creates.map { ($0.uuid, $0.values) }) { $1 }
    var updates: [Diff] = []
    log.removeAll { own in
      guard case .create(let fields) = own.change, let values = theirs[own.uuid] else { return false }
      if own.values != values {
        conflicts.append(own.uuid)
        updates += own.updates(fields)
      }
      return true
    }
    log += updates
  }

  /// An object that was not here, with the updates of greater heights folded over it.
  private mutating func insert(_ create: Diff, _ updates: [Diff]) {
    take(create)
    let later = updates.filter { $0.height ?? 0 > create.height ?? 0 }
    for diff in later.sorted(by: { $0.height ?? 0 < $1.height ?? 0 }) { take(diff) }
  }

  /// An object that is here: each field of the create is an update, and what the create does not have is gone unless an
  /// update of ours is pending.
  private mutating func compare(_ create: Diff, _ updates: [Diff], _ pending: Set<FieldKey>) {
    guard case .create(let fields) = create.change else { return }
    objects[create.uuid]?.isStale = false
    objects[create.uuid]?.created = create.height
    let newer = Set(updates.compactMap { $0.updatedField?.field })
    server += create.updates(fields.filter { !newer.contains($0.key) })
    for field in objects[create.uuid]?.fields.keys.sorted() ?? [] where fields[field] == nil && !newer.contains(field) {
      guard !pending.contains(FieldKey(uuid: create.uuid, field: field)) else { continue }
      server.append(
        Diff(
          height: create.height, timestamp: create.timestamp, objtype: create.objtype, uuid: create.uuid,
          .update(field: field, .null)))
    }
  }
}
