import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire

/// What the push service would be: it answers as it is told, and remembers.
final class ScriptedPush: Sendable {
  typealias Script = @Sendable (DeliverRequest) throws(CaravanError) -> DeliverReply
  private let script = Mutex<Script>({ _ in DeliverReply(outcome: .taken, status: 201) })
  private let mute = Mutex(false)
  private let seen = Mutex<[(request: DeliverRequest, at: Instant)]>([])

  var requests: [DeliverRequest] { seen.withLock { $0.map(\.request) } }
  var times: [Instant] { seen.withLock { $0.map(\.at) } }
  /// Numbers of what came, in its order.
  var numbers: [Int64] { requests.map(\.number) }

  /// It answers nothing.
  var isMute: Bool {
    get { mute.withLock { $0 } }
    set { mute.withLock { $0 = newValue } }
  }

  func answer(_ answer: @escaping Script) { script.withLock { $0 = answer } }

  func serve(_ bus: any MessageBus, _ clock: any Clock) async throws {
    let requests = try await bus.subscribe(
      .exact(.service(.push, method: "deliver")), group: "push", capacity: 100)
    while case .message(let incoming)? = await requests.next() {
      let request = try DeliverRequest.decode(incoming.message.payload)
      seen.withLock { $0.append((request, clock.now)) }
      guard !isMute else { continue }
      let script = script.withLock { $0 }
      let reply: Message
      do throws(CaravanError) { reply = Message(try script(request).encoded()) } catch { reply = Message(error) }
      if let address = incoming.reply { try await bus.reply(reply, to: address) }
    }
  }
}

extension DeliverRequest {
  var number: Int64 {
    (try? RecordFields(body: notification))?[NotificationLog.Field.number.rawValue].integerValue ?? -1
  }
}

/// Notify with real storage and a push service that answers as it is told, in virtual time.
struct PushFixture {
  let cluster: Cluster
  let push = ScriptedPush()
  static let targets = DatabaseID(container: .system, environment: .development, owner: alice)

  init(_ cluster: Cluster) { self.cluster = cluster }

  init() throws {
    self.init(try Cluster())
    let (bus, push, clock) = (cluster.hub.connect(as: "push"), push, cluster.simulation.host("push").host.clock)
    _ = cluster.simulation.start { try await push.serve(bus, clock) }
  }

  /// - Parameter kept: the log has room for so many.
  func log(
    _ numbers: ClosedRange<Int64>, subscription: String = "mine", age: Int64 = 0, kept: Int64 = .max
  ) throws {
    let now = cluster.simulation.host("writer").host.clock.wallTime.milliseconds
    try cluster.simulation.run {
      for number in numbers {
        typealias Field = NotificationLog.Field
        let fields = RecordFields([
          Field.reason.rawValue: .text("enters"), Field.subscription.rawValue: .text(subscription),
          Field.source.rawValue: .integer(1), Field.number.rawValue: .integer(number),
          Field.at.rawValue: .integer(now - age),
        ])
        _ = try await self.cluster.storage.commit(
          to: zone(NotificationLog.name),
          [
            CaravanModel.Mutation(
              name: "1-\(number % kept)", base: .any, change: .save(type: 0, body: fields.body, chunks: []))
          ])
      }
    }
  }

  func save(_ id: String = "hook", registration: UInt8 = 1, _ change: (inout StoredTarget) -> Void = { _ in })
    throws
  {
    var stored = StoredTarget(
      target: PushTarget(id: id, webhook: Webhook(url: "https://hook.example.org/")), registration: [registration])
    change(&stored)
    let target = stored
    try cluster.simulation.run {
      _ = try await self.cluster.storage.commit(
        to: ZoneID(Self.targets, PushTargets.zone),
        [
          CaravanModel.Mutation(
            name: PushTargets.record(ContainerID(unchecked: "album"), id), base: .any,
            change: .save(type: 0, body: PushTargets.body(of: target), chunks: []))
        ])
    }
  }

  func remove(_ id: String) throws {
    try cluster.simulation.run {
      _ = try await self.cluster.storage.commit(
        to: ZoneID(Self.targets, PushTargets.zone),
        [
          CaravanModel.Mutation(
            name: PushTargets.record(ContainerID(unchecked: "album"), id), base: .any, change: .delete)
        ])
    }
  }

  func state(_ id: String = "hook") throws -> PushState? { try stored(id)?.state }

  private func stored(_ id: String) throws -> StoredTargetState? {
    try cluster.simulation.run {
      let entry = try await self.cluster.storage.fetch(
        [PushTargets.record(ContainerID(unchecked: "album"), id)],
        from: ZoneID(Self.targets, PushTargets.stateZone)
      ).first
      return entry.flatMap { PushTargets.value(of: $0.body) }
    }
  }

  /// As another notify service would.
  func overwriteState(_ state: PushState, of id: String = "hook") throws {
    guard var stored = try stored(id) else { return }
    stored.state = state
    let written = stored
    try cluster.simulation.run {
      _ = try await self.cluster.storage.commit(
        to: ZoneID(Self.targets, PushTargets.stateZone),
        [
          CaravanModel.Mutation(
            name: PushTargets.record(ContainerID(unchecked: "album"), id), base: .any,
            change: .save(type: 0, body: PushTargets.body(of: written), chunks: []))
        ])
    }
  }

  func until(_ seconds: Int64 = 60, _ condition: @Sendable @escaping () -> Bool) throws {
    try cluster.simulation.run(within: .seconds(seconds)) { condition() }
    // What follows from the last answer is written.
    try cluster.simulation.run(for: .milliseconds(100))
  }
}
