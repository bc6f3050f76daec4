public import CaravanBus
public import CaravanModel
public import CaravanRuntime
internal import CaravanSyncClient
internal import CaravanWire

/// A client of the cloud that keeps no copy of its zone: it saves what has not changed, commits batches that read and
/// write, reads records and pulls changes, all by chance, through sync as devices do, and has every call written down.
public struct Witness: Sendable {
  public struct Settings: Sendable {
    public var container: ContainerID
    public var zone = "history"
    /// For one attempt.
    public var deadline: Duration = .seconds(4)
    public var attempts = 3
    /// The position that a change token holds.
    public var position: @Sendable ([UInt8]) -> Seq?

    public init(container: ContainerID, position: @escaping @Sendable ([UInt8]) -> Seq?) {
      self.container = container
      self.position = position
    }
  }

  private static let records = 6
  private static let pause: Duration = .milliseconds(200)

  public let device: EnrolledDevice
  private let settings: Settings
  private let bus: any MessageBus
  private let clock: any Clock
  private let recorder: CallRecorder
  private let epoch: UInt64
  private var chance: SplitMix64
  private var type: UInt32 = 0
  private var op: UInt64 = 0
  /// Versions as last seen; 0: nothing there.
  private var known: [String: Seq] = [:]
  private var token: [UInt8] = []

  public init(
    _ device: EnrolledDevice, _ settings: Settings, bus: any MessageBus, host: Host, recorder: CallRecorder,
    seed: UInt64
  ) {
    self.device = device
    self.settings = settings
    self.bus = bus
    clock = host.clock
    self.recorder = recorder
    chance = SplitMix64(seed: seed)
    epoch = 1 + chance.next() >> 2
  }

  // MARK: What it does

  /// One call, whatever comes of it.
  public mutating func act() async {
    guard await agree() else { return }
    switch below(10) {
    case 0...1: await fetch(some())
    case 2...3: await pull()
    default: await commit(some().map { change($0) }, isAtomic: below(3) > 0)
    }
  }

  /// Reads everything there is, until somebody answers.
  /// - Returns: false: nobody did.
  public mutating func look() async -> Bool {
    for _ in 0..<20 {
      token = []
      if await fetch((0..<Self.records).map { "r\($0)" }), await pull() { return true }
      await rest()
    }
    return false
  }

  private mutating func below(_ bound: Int) -> Int { Int(chance.next() % UInt64(bound)) }

  private func rest() async { try? await clock.sleep(for: Self.pause) }

  private mutating func some() -> [String] {
    let count = 1 + below(3)
    return Array((0..<Self.records).map { "r\($0)" }.shuffled(using: &chance).prefix(count))
  }

  private mutating func change(_ name: String) -> ZoneCall.Change {
    let version = known[name] ?? 0
    let base: Base = below(5) == 0 ? .any : version == 0 ? .absent : .version(version)
    switch below(8) {
    case 0: return ZoneCall.Change(name, base, .delete)
    case 1...2: return ZoneCall.Change(name, below(2) == 0 ? .any : base, .read)
    default:
      op += 1
      return ZoneCall.Change(name, base, .save("\(device).\(epoch % 1_000).\(op)"))
    }
  }

  // MARK: Calls

  private mutating func commit(_ changes: [ZoneCall.Change], isAtomic: Bool) async {
    op += 1
    let push = Push(
      container: settings.container.text, zone: settings.zone, op: op,
      mutations: changes.map { mutation($0) }, atomic: isAtomic)
    let call = recorder.begin(device.text, .commit(changes, isAtomic: isAtomic))
    var isRetried = false
    for _ in 0..<settings.attempts {
      switch await ask(.push(push)) {
      case .commit(let reply)?: return conclude(call, changes, reply, isRetried: isRetried)
      case .failure(let failure)? where !failure.model().isTransient:
        if !isRetried { recorder.end(call, .failed) }
        return
      default: isRetried = true
      }
      await rest()
    }
    guard below(2) == 0 else { return }
    let settle = Settle(container: settings.container.text, zone: settings.zone, op: op)
    for _ in 0..<settings.attempts {
      if case .commit(let reply)? = await ask(.settle(settle)) {
        return conclude(call, changes, reply, isRetried: true)
      }
      await rest()
    }
  }

  private mutating func conclude(
    _ call: Int, _ changes: [ZoneCall.Change], _ reply: CommitReply, isRetried: Bool
  ) {
    guard let result = try? reply.model() else { return }
    let answer = ZoneCall.Answer(result)
    recorder.end(call, answer, isRetried: isRetried)
    guard case .committed(let verdicts, _) = answer else { return }
    for (change, verdict) in zip(changes, verdicts) {
      switch verdict {
      case .accepted(let version): known[change.name] = change.action == .delete ? 0 : version
      case .conflict(let observation), .read(let observation): see(change.name, observation)
      case .aborted, .refused: continue
      }
    }
  }

  private mutating func see(_ name: String, _ observation: ZoneCall.Observation?) {
    known[name] = observation.map { $0.content == .tombstone ? 0 : $0.version } ?? 0
  }

  @discardableResult
  private mutating func fetch(_ names: [String]) async -> Bool {
    let call = recorder.begin(device.text, .fetch(names))
    let read = ReadRecords(container: settings.container.text, zone: settings.zone, names: names)
    let entries: [CaravanModel.Entry]
    switch await ask(.read(read)) {
    case .records(let result)? where Int(result.answered) == names.count: entries = result.entries.map { $0.model() }
    case .failure(let failure)? where failure.model().code == .zoneDoesNotExist: entries = []
    default: return false
    }
    recorder.end(call, ZoneCall.Answer(fetched: entries))
    for name in names { see(name, entries.first { $0.name == name }.map { ZoneCall.Observation($0) }) }
    return true
  }

  @discardableResult
  private mutating func pull() async -> Bool {
    if below(4) == 0 { token = [] }
    let after = token.isEmpty ? 0 : settings.position(token) ?? 0
    let call = recorder.begin(device.text, .pull(after: after))
    let pull = Pull(
      container: settings.container.text, zone: settings.zone, token: token, ownBodies: true)
    guard case .pull(let result)? = await ask(.pull(pull)), !result.resetRequired,
      let last = settings.position(result.token),
      let page = try? ZoneCall.Page(page: result.page, last: last, head: nil, more: result.more)
    else { return false }
    recorder.end(call, .pulled(page))
    token = result.token
    return true
  }

  // MARK: Frames

  /// Makes sure of the record type.
  private mutating func agree() async -> Bool {
    guard type == 0 else { return true }
    let field = CaravanModel.FieldDefinition(id: 0, name: "value", kind: .text)
    let wanted = CaravanModel.RecordType(id: 0, definition: 0, name: settings.zone, fields: [field])
    let proposal = ProposeTable(container: settings.container.text, type: RecordType(wanted))
    guard case .type(let agreed)? = await ask(.propose(proposal)) else { return false }
    type = agreed.id
    return true
  }

  private func mutation(_ change: ZoneCall.Change) -> CaravanWire.Mutation {
    let action: CaravanModel.Mutation.Change =
      switch change.action {
      case .save(let value): .save(type: type, body: ZoneCall.body(value), chunks: [])
      case .delete: .delete
      case .read: .read
      }
    return CaravanWire.Mutation(CaravanModel.Mutation(name: change.name, base: change.base, change: action))
  }

  /// - Returns: nil: no answer that can be read.
  private func ask(_ operation: CaravanWire.Operation.Kind) async -> CaravanWire.Result.Kind? {
    let sync = SyncClient(bus: bus, device: device, epoch: epoch)
    return try? await sync.result(of: operation, deadline: settings.deadline)
  }
}
