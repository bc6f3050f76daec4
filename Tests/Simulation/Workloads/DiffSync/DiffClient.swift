internal import CaravanBus
internal import CaravanDiffSync
internal import CaravanDiffSyncClient
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// A client of diff sync, without an agent: it can die, and an app writes whether it is connected or not.
struct DiffClient: Sendable {
  /// The zone of diff sync, in the private database of the first user; native devices have it as a table.
  static let container = ContainerID(unchecked: "diary")
  static let table = "entries"
  private static let fields = ["a", "b"].map { FieldDefinition(id: 0, name: $0, kind: .integer) }

  let name: String
  let part: Part
  let slot: DiffClientSlot

  init(_ name: String, of user: String, on ground: Ground) {
    let slot = DiffClientSlot()
    self.name = name
    self.slot = slot
    part = Part(name, as: .device(EnrolledDevice(user, name)), on: ground) { life in
      var configuration = DiffSyncClient.Configuration(
        container: Self.container, zone: Self.table, device: EnrolledDevice(user, name, in: .development),
        directory: life.directory)
      configuration.isDurable = false
      let client = try DiffSyncClient(configuration, bus: life.bus, host: life.host)
      guard life.isCurrent() else { return await client.close() }
      slot.open(client)
      while !Task.isCancelled { try? await life.host.clock.sleep(for: .seconds(3_600)) }
      await client.close()
    }
  }

  func crash(isLast: Bool = false) {
    let old = slot.leaveBehind()
    let clock = part.machine.host.clock
    part.crash(isLast: isLast) { [slot] in
      // Its file closes when it is cancelled, and nobody may be inside then.
      while slot.isBusy(old) { try? await clock.sleep(for: .milliseconds(10)) }
    }
  }

  /// The app of this client, until `end`.
  func live(_ ground: Ground, pause: Int, seed: UInt64, until end: Instant, clock: any Clock) async {
    var dice = Dice(seed: seed, "diarist \(name)")
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1...(2 * pause)))) != nil, clock.now < end else { return }
      let choice = dice.below(10)
      if choice < 4 { await sync(ground) } else { await write(choice, &dice, ground) }
    }
  }

  func sync(_ ground: Ground) async {
    let slot = slot
    await slot.with { (client) throws(CaravanError) in
      slot.agreed(on: try await client.agree(on: Self.table, Self.fields))
      let report = try await client.sync()
      ground.recorder.note("\(name) synced \(report.pulled) diffs down and \(report.pushed) up")
    }
  }

  /// Objects by uuid, and how many diffs are pending; nil: it is down.
  func state() async -> (objects: [String: [String: Value]], pending: Int)? {
    await slot.with { (client) throws(CaravanError) in
      (try await client.objects(of: Self.table).mapValues(\.fields), await client.pending.count)
    }
  }

  private func write(_ choice: Int, _ dice: inout Dice, _ ground: Ground) async {
    let (value, pick, field) = (Value.integer(Int64(dice.below(1_000))), dice.below(1 << 20), dice.pick(["a", "b"]))
    let fresh = "\(name)-\(dice.below(1 << 30))"
    await slot.with { (client) throws(CaravanError) in
      let known = try await client.objects(of: Self.table).keys.sorted()
      if known.isEmpty || choice < 6 {
        try await client.create(fresh, Self.table, ["a": value])
        ground.recorder.note("\(name) creates \(fresh)")
      } else if choice < 9 {
        try await client.update(known[pick % known.count], field, value)
        ground.recorder.note("\(name) updates \(known[pick % known.count])")
      } else {
        try await client.delete(known[pick % known.count])
        ground.recorder.note("\(name) deletes \(known[pick % known.count])")
      }
    }
  }
}

/// Where the client that is alive is found, and who is in it.
final class DiffClientSlot: Sendable {
  private struct State {
    var client: DiffSyncClient?
    /// Callers in each client.
    var callers: [ObjectIdentifier: Int] = [:]
    var agreed: CaravanModel.RecordType?
  }

  private let state = Mutex(State())

  /// The type of the objects, as the server last had it; nil: it does not know any.
  var agreed: CaravanModel.RecordType? { state.withLock { $0.agreed } }
  func agreed(on type: CaravanModel.RecordType) { state.withLock { $0.agreed = type } }

  func open(_ client: DiffSyncClient) { state.withLock { $0.client = client } }

  /// Nobody comes in any more.
  func leaveBehind() -> DiffSyncClient? {
    state.withLock { state in
      defer { state.client = nil }
      return state.client
    }
  }

  func isBusy(_ client: DiffSyncClient?) -> Bool {
    guard let client else { return false }
    return state.withLock { $0.callers[ObjectIdentifier(client), default: 0] > 0 }
  }

  /// nil: there is no client, or it refused.
  @discardableResult
  func with<R: Sendable>(_ body: @Sendable (DiffSyncClient) async throws(CaravanError) -> R) async -> R? {
    let found = state.withLock { state -> DiffSyncClient? in
      if let client = state.client { state.callers[ObjectIdentifier(client), default: 0] += 1 }
      return state.client
    }
    guard let client = found else { return nil }
    defer { state.withLock { $0.callers[ObjectIdentifier(client), default: 1] -= 1 } }
    do throws(CaravanError) { return try await body(client) } catch { return nil }
  }
}
