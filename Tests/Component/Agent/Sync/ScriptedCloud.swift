import CaravanAgentCore
import CaravanBus
import CaravanCompression
import CaravanModel
import CaravanRuntime
import CaravanWire

@testable import CaravanAgentNetwork
@testable import CaravanAgentStore

/// The cloud as a device sees it, in one object: zones, op outcomes, chunks, and a script of what goes wrong.
final class ScriptedCloud: Sendable {
  enum Mishap: Sendable {
    /// The frame never arrives.
    case loseFrame
    /// It is carried out, and the answer never arrives.
    case loseAnswer
    case refuseFrame(CaravanError)
    /// These operations fail, the others do not.
    case refuse(@Sendable (CaravanWire.Operation.Kind) -> CaravanError?)
    case none
  }

  struct Record: Equatable {
    var version: UInt64
    var body: [UInt8]
    var writer: String
  }

  struct State {
    var script: [Mishap] = []
    var zones: [String: [String: Record]] = [:]
    var seq: UInt64 = 0
    var incarnation: UInt64 = 1
    var outcomes: [UInt64: CommitReply] = [:]
    /// Mutations of groups, by op and part.
    var groups: [UInt64: [UInt32: [CaravanWire.Mutation]]] = [:]
    var applied: [UInt64: Int] = [:]
    /// Zones that it says do not exist, whatever is asked of them.
    var hidden: Set<String> = []
    /// Why it does not take a row as it is.
    var refusal: (@Sendable (CaravanWire.Mutation) -> Failure?)?
    var chunks: [[UInt8]: [UInt8]] = [:]
    /// Chunks that the rows of a record name: bodies here are plain text.
    var named: [String: [ChunkHash]] = [:]
    var list: Subscribe?
    var hellos: [Hello] = []
    var frames: [[CaravanWire.Operation.Kind]] = []
    var acks: [UInt64] = []
    var questions: [AskQuery] = []
    var subscribed: [AskSubscriptions] = []
    /// What every question finds.
    var found = QueryReply()
    var pageRows = 100
    var chunkMessages = 0
    /// What the next of them are answered.
    var chunkRefusals: [CaravanError] = []
    /// Pulls that had come when the device took in each page.
    var askedBeforePage: [Int] = []
    /// Of frames.
    var bytesIn = 0
    /// What is answered to who names bases for a chunk.
    var patch: (@Sendable ([UInt8], [UInt8]) -> Chunk)?
  }

  let bus: InProcessBus
  let state = Mutex(State())

  init(_ hub: InProcessHub) { bus = hub.connect(as: "cloud") }

  var frames: [[CaravanWire.Operation.Kind]] { state.withLock { $0.frames } }
  func script(_ mishaps: Mishap...) { state.withLock { $0.script += mishaps } }

  /// Somebody else writes.
  func save(_ name: String, _ text: String, in zone: String) {
    state.withLock { state in
      state.seq += 1
      state.zones[zone, default: [:]][name] = Record(version: state.seq, body: Array(text.utf8), writer: "other")
    }
  }

  func notify(_ device: EnrolledDevice, number: UInt64, generation: UInt64, bitmap: [UInt8]) async throws {
    try await bus.publish(Notification(number: number, generation: generation, bitmap: bitmap), to: .notify(device))
  }

  func run() async throws {
    let frames = try await bus.subscribe(.everyExchange, group: "sync", capacity: 100)
    let chunks = try await bus.subscribe(.everyChunks(nil), group: "storage", capacity: 100)
    let acks = try await bus.subscribe(.everyAck(nil), group: "notify", capacity: 100)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while case .message(let incoming)? = await frames.next() { try? await self.answer(incoming) }
      }
      group.addTask {
        while case .message(let incoming)? = await chunks.next() { try? await self.answerChunks(incoming) }
      }
      group.addTask {
        while case .message(let incoming)? = await acks.next() {
          guard let ack = try? AckNotification(decoding: incoming.message.payload) else { continue }
          self.state.withLock { $0.acks.append(ack.number) }
        }
      }
    }
  }

  private func answer(_ incoming: Incoming) async throws {
    guard case .exchange(let device) = incoming.subject, let address = incoming.reply else { return }
    state.withLock { $0.bytesIn += incoming.message.payload.count }
    let frame = try Frame(decoding: incoming.message.payload)
    var plain = frame.body
    if frame.compression == .zstd {
      var tool = try Decompressor()
      plain = try tool.decompress(frame.body, limit: Int(frame.plainBytes))
    }
    let exchange = try Exchange(decoding: plain)
    let (mishap, reply): (Mishap, ExchangeReply?) = state.withLock { state in
      let mishap = state.script.isEmpty ? .none : state.script.removeFirst()
      state.frames.append(exchange.operations.compactMap(\.kind))
      switch mishap {
      case .loseFrame, .refuseFrame: return (mishap, nil)
      case .loseAnswer, .refuse, .none: break
      }
      let results = exchange.operations.map { operation -> CaravanWire.Result in
        guard let kind = operation.kind else { return CaravanWire.Result() }
        if case .refuse(let refuse) = mishap, let error = refuse(kind) {
          return CaravanWire.Result(kind: .failure(Failure(error)))
        }
        return CaravanWire.Result(kind: Self.perform(kind, by: device.text, &state))
      }
      return (mishap, ExchangeReply(results: results))
    }
    switch mishap {
    case .loseFrame, .loseAnswer: return
    case .refuseFrame(let error): try await bus.reply(Message(error), to: address)
    case .refuse, .none:
      let body = reply?.encoded() ?? []
      try await bus.reply(Message(Frame(plainBytes: UInt32(body.count), body: body).encoded()), to: address)
    }
  }

  private static func perform(_ kind: CaravanWire.Operation.Kind, by device: String, _ state: inout State)
    -> CaravanWire.Result.Kind
  {
    if let table = kind.table, state.hidden.contains(table.name) {
      return .failure(Failure(CaravanError(.zoneDoesNotExist, "there is no zone '\(table.name)'")))
    }
    switch kind {
    case .hello(let hello):
      state.hellos.append(hello)
      return .hello(
        HelloResult(
          serverTimeMilliseconds: 1_700_000_000_000,
          resubscribe: state.list.map { $0.generation != hello.generation } ?? (hello.generation != 0)))
    case .propose(let proposal):
      var type = proposal.type ?? CaravanWire.RecordType()
      type.id = 1
      for index in type.fields.indices { type.fields[index].id = UInt32(index + 1) }
      return .type(type)
    case .push(let push): return .commit(commit(push, by: device, &state))
    case .settle(let settle):
      if let known = state.outcomes[settle.op] { return .commit(known) }
      let reply = CommitReply(aborted: true)
      state.outcomes[settle.op] = reply
      return .commit(reply)
    case .pull(let pull): return .pull(page(pull, for: device, state))
    case .subscribe(let list):
      state.list = list
      return .done(Empty())
    case .ack(let ack):
      state.acks.append(ack.number)
      return .done(Empty())
    case .ticket(let request):
      return .ticket(
        Ticket(upload: request.upload, bytes: 1 << 20, expiresMilliseconds: 1_700_000_900_000, partition: 3))
    case .drop: return .done(Empty())
    case .beginGroup(let begin):
      let parts = state.groups[begin.op, default: [:]].count
      state.groups[begin.op, default: [:]] = state.groups[begin.op] ?? [:]
      return .operation(OperationState(status: .notStarted, parts: UInt32(parts)))
    case .upload(let part):
      state.groups[part.op]?[part.part] = part.mutations
      return .part(PartState(operation: OperationState(status: .notStarted)))
    case .commitGroup(let group):
      let parts = (state.groups[group.op] ?? [:]).sorted { $0.key < $1.key }
      return .commit(
        commit(Push(zone: group.zone, op: group.op, mutations: parts.flatMap(\.value)), by: device, &state))
    case .subscriptions(let question):
      state.subscribed.append(question)
      return .subscriptions(SubscriptionsResult(answer: SubscriptionsReply().encoded()))
    case .query(let question):
      state.questions.append(question)
      return .query(QueryResult(answer: state.found.encoded()))
    case .read, .zones, .changedZones, .createZone, .whoAmI, .schema, .pushTargets, .lock, .unlock, .operation,
      .removeOperation,
      .syncBegin,
      .syncContinue:
      return .failure(Failure(CaravanError(.invalidData, "the agent has no use for this")))
    }
  }

  private static func commit(_ push: Push, by device: String, _ state: inout State) -> CommitReply {
    if let known = state.outcomes[push.op] { return known }
    for chunk in push.chunks where chunk.bases.isEmpty { state.chunks[chunk.hash] = chunk.data }
    let named = push.mutations.flatMap { state.named[$0.name] ?? [] }
    let missing = named.filter { state.chunks[$0.bytes] == nil }
    if !missing.isEmpty { return CommitReply(missingChunks: ChunkHash.joined(missing)) }
    state.applied[push.op, default: 0] += 1
    var outcomes: [CaravanWire.Outcome] = []
    for mutation in push.mutations {
      if let refusal = state.refusal?(mutation) {
        outcomes.append(CaravanWire.Outcome(verdict: .refused, failure: refusal))
        continue
      }
      let held = state.zones[push.zone]?[mutation.name]
      guard (held?.version ?? 0) == mutation.basedOn ?? held?.version ?? 0 else {
        outcomes.append(CaravanWire.Outcome(verdict: .conflict, server: held.map { entry(mutation.name, $0, device) }))
        continue
      }
      state.seq += 1
      state.zones[push.zone, default: [:]][mutation.name] =
        mutation.kind == .delete ? nil : Record(version: state.seq, body: mutation.body, writer: device)
      outcomes.append(CaravanWire.Outcome(verdict: .accepted, version: state.seq))
    }
    let reply = CommitReply(outcomes: outcomes, zoneSeq: state.seq, incarnation: state.incarnation)
    state.outcomes[push.op] = reply
    return reply
  }

  private static func page(_ pull: Pull, for device: String, _ state: State) -> PullResult {
    let parts = String(decoding: pull.token, as: UTF8.self).split(separator: "/").compactMap { UInt64($0) }
    guard parts.isEmpty || parts.first == state.incarnation else { return PullResult(resetRequired: true) }
    let after = parts.last ?? 0
    let rows = (state.zones[pull.zone] ?? [:]).filter { $0.value.version > after }
      .sorted { $0.value.version < $1.value.version }
    let page = rows.prefix(state.pageRows)
    let more = page.count < rows.count
    let last = more ? page.last?.value.version ?? after : max(after, rows.last?.value.version ?? 0)
    return PullResult(
      page: EntryPage(entries: page.map { entry($0.key, $0.value, device) }).encoded(),
      token: Array("\(state.incarnation)/\(last)".utf8), more: more)
  }

  private static func entry(_ name: String, _ record: Record, _ device: String) -> CaravanWire.Entry {
    CaravanWire.Entry(
      name: name, version: record.version, created: record.version, type: 1, body: record.body,
      own: record.writer == device, writer: record.writer)
  }

  private func answerChunks(_ incoming: Incoming) async throws {
    guard let address = incoming.reply else { return }
    let request = try ChunkRequest(decoding: incoming.message.payload)
    let refusal = state.withLock { state in
      state.chunkMessages += 1
      return state.chunkRefusals.isEmpty ? nil : state.chunkRefusals.removeFirst()
    }
    if let refusal { return try await bus.reply(Message(refusal), to: address) }
    let reply = state.withLock { state in
      for chunk in request.put { state.chunks[chunk.hash] = chunk.data }
      let wanted = (try? ChunkHash.list(request.get)) ?? []
      return ChunkReply(
        chunks: wanted.enumerated().map { index, hash in
          if let patch = state.patch, index < request.bases.count { return patch(hash.bytes, request.bases[index]) }
          return Chunk(hash: hash.bytes, data: state.chunks[hash.bytes] ?? [])
        },
        stored: request.put.flatMap(\.hash))
    }
    try await bus.reply(Message(reply.encoded()), to: address)
  }
}
