import CaravanEncoding
package import CaravanModel
package import CaravanObjects
package import CaravanRuntime
package import CaravanSchemaClient
import CaravanStorageCore
package import CaravanStore
import CaravanWire

/// Copies the objects of committed records to the object store, and takes away what is no more, without any device
/// (REC-10, UNI-06). What is to be done lies in the store; of the processes that share one, the one with the lease does
/// it. An object store that fails, or is slow, makes the queue longer and does nothing to a row.
package struct ObjectMover: Sendable {
  package static let lease = "storage/objects"

  private let store: any Store
  private let lanes: [any ObjectLane]
  private let schema: SchemaClient
  private let host: Host
  private let faults: FaultSwitch
  private let metrics: ObjectMetrics
  private let outage: Outage
  private let holder: String

  package init(
    store: any Store, lanes: [any ObjectLane], schema: SchemaClient, host: Host, faults: FaultSwitch = .off
  ) {
    precondition(!lanes.isEmpty, "objects need a way to go")
    self.store = store
    self.lanes = lanes
    self.schema = schema
    self.host = host
    self.faults = faults
    metrics = ObjectMetrics(host.metrics)
    outage = Outage(
      host, "the object store does not work: objects wait", over: "the object store works again",
      quiet: StorageLimits.objectPause)
    holder = "@storage/\(host.random.next())"
  }

  /// Until the task is cancelled.
  package func run() async {
    var countAt = host.clock.now
    let queue = Outage(host, "the queue of objects cannot be worked on", over: "the queue of objects is worked on")
    while !Task.isCancelled {
      var isDone = true
      do {
        isDone = try await round()
        if host.clock.now >= countAt {
          metrics.show(try await store.objectCounts(of: nil, in: nil))
          countAt = host.clock.now + StorageLimits.objectCountPause
        }
        queue.ended()
      } catch {
        queue.lasts(error)
      }
      if isDone { try? await host.clock.sleep(for: StorageLimits.objectPause) }
    }
    _ = try? await store.lease([Self.lease], holder: holder, ttl: .zero)
  }

  /// Works on what is due.
  /// - Returns: whether there is nothing to do for now.
  package func round() async throws(CaravanError) -> Bool {
    let tasks = try await store.objectTasks(atMost: StorageLimits.objectsPerRound)
    guard !tasks.isEmpty, try await isMine() else { return true }
    // Of one record in one lane, so that its versions follow one another.
    let byLane = Dictionary(grouping: tasks) { task in
      Int(UInt(bitPattern: task.name.hashValue) % UInt(lanes.count))
    }
    let results = await withTaskGroup(of: Bool.self) { group in
      for (lane, tasks) in byLane { group.addTask { await self.work(on: tasks, lanes[lane]) } }
      return await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    return results.contains(false)
  }

  private func isMine() async throws(CaravanError) -> Bool {
    try await store.lease([Self.lease], holder: holder, ttl: StorageLimits.objectTenure).contains(where: \.isGranted)
  }

  /// - Returns: false when the object store does not work: the rest waits too.
  private func work(on tasks: [ObjectTask], _ lane: any ObjectLane) async -> Bool {
    for task in tasks {
      guard !Task.isCancelled else { return false }
      var there = task.paths.map { PlacedObject(text: $0) }
      var outcome = ObjectOutcome.done
      do throws(CaravanError) { try await reconcile(task, &there, lane) } catch {
        metrics.failed.add()
        if ObjectRetry.isHopeless(error) {
          outcome = .refused(error.message)
          host.log.warning("an object cannot go to the object store", [.error: error.description])
        } else {
          outcome = .failed(error.message, retryAfter: ObjectRetry.wait(after: task.attempts))
          outage.lasts(error)
        }
      }
      do throws(CaravanError) {
        try await store.finish(task, outcome, paths: there.map(\.text))
        if case .failed = outcome { return false }
        guard try await isMine() else { return false }
      } catch {
        host.log.warning("what became of an object cannot be noted", [.error: error])
        return false
      }
    }
    return true
  }

  // MARK: One record

  /// - Parameter there: what the object store has of the record.
  private func reconcile(
    _ task: ObjectTask, _ there: inout [PlacedObject], _ lane: any ObjectLane
  ) async throws(CaravanError) {
    try faults.pass(.transfer)
    // What is there of it may be all that is left.
    if task.entry?.isDamaged ?? false { throw .damagedRecords([task.name]) }
    let wanted = try await objects(of: task)
    // A zone that was made anew has the same paths.
    var isSucceeded = false
    if task.entry == nil { isSucceeded = try await !store.fetch([task.name], in: task.zone).isEmpty }
    let plan = ObjectPlan(wanted: wanted.map(\.place), there: isSucceeded ? [] : there)
    if isSucceeded { there = [] }
    for object in wanted where plan.puts.contains(object.place) {
      try await put(object, in: task.zone.database, lane)
      there.removeAll { $0.path == object.place.path }
      there.append(object.place)
    }
    for object in plan.removals {
      try await lane.remove(object.path)
      outage.ended()
      there.removeAll { $0 == object }
      metrics.removed.add()
    }
    try faults.pass(.transfer, .after)
  }

  private struct RecordObject {
    let place: PlacedObject
    let parts: [AssetManifest.Part]
  }

  /// What the record has now.
  private func objects(of task: ObjectTask) async throws(CaravanError) -> [RecordObject] {
    guard let entry = task.entry, !entry.isDeleted else { return [] }
    let database = task.zone.database
    let type = try await schema.type(entry.type, of: database.container, in: database.environment)
    let fields = try RecordFields(body: entry.body)
    var objects: [RecordObject] = []
    for (id, value) in fields.ascending {
      let name = type.fields.first { $0.id == id }?.name ?? "field-\(id)"
      if case .list(let items) = value {
        for (index, item) in items.enumerated() {
          let path = PlacedObject.path(task.zone, record: task.name, field: name, index: index)
          if let object = try await object(item, at: path, in: database) { objects.append(object) }
        }
      } else {
        let path = PlacedObject.path(task.zone, record: task.name, field: name)
        if let object = try await object(value, at: path, in: database) { objects.append(object) }
      }
    }
    return objects
  }

  /// nil: it is no object.
  private func object(
    _ value: CaravanModel.Value, at path: String, in database: DatabaseID
  ) async throws(CaravanError) -> RecordObject? {
    let manifest: AssetManifest
    switch value {
    case .asset(let known): manifest = known
    case .assetList(let hash, let size): manifest = try await Asset.listed(bytes(of: hash, in: database), size: size)
    case .null, .text, .integer, .real, .data, .location, .reference, .list: return nil
    }
    let fingerprint = String(XXHash64.hash(ChunkHash.joined(manifest.parts.map(\.hash))), radix: 16)
    return RecordObject(place: PlacedObject(path: path, fingerprint: fingerprint), parts: manifest.parts)
  }

  private func put(
    _ object: RecordObject, in database: DatabaseID, _ lane: any ObjectLane
  ) async throws(CaravanError) {
    let start = host.clock.now
    try await lane.begin()
    var size = 0
    for part in object.parts {
      let bytes = try await bytes(of: part.hash, in: database)
      try await lane.append(bytes)
      size += bytes.count
    }
    try await lane.put(at: object.place.path)
    outage.ended()
    metrics.moved(bytes: size, in: host.clock.now - start)
  }

  private func bytes(of hash: ChunkHash, in database: DatabaseID) async throws(CaravanError) -> [UInt8] {
    guard let bytes = try await store.chunks([hash], in: database, maxBytes: Limits.chunkBytes).first?.bytes else {
      throw CaravanError(.chunksMissing, "chunk \(hash) is not here any more: its record was written anew")
    }
    return bytes
  }
}
