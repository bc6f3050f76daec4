import CaravanModel
import CaravanStore
import CaravanTestKit

/// Clients that talk to a zone at the same time, as chance has it: what they saw is sound, whatever it is.
///
/// A call happens at one moment between its beginning and its end. Some answers are lost: such a call happens then, or
/// much later, or never.
struct RandomHistory {
  private enum Client {
    case idle
    case asked(Int)
    case answered(Int, ZoneCall.Answer)
  }

  private static let names = ["a", "b", "c", "d", "e"]

  private var zone = PlannedZone()
  private var chance: SplitMix64
  private var clients: [Client]
  private(set) var calls: [ZoneCall] = []
  private var time: UInt64 = 0
  /// Given up by their callers, and still under way.
  private var strays: [Int] = []
  private var values = 0
  /// What each client saw last of each record: no base comes from anywhere else.
  private var known: [[String: Seq]]

  init(seed: UInt64, clients: Int = 4, steps: Int = 240) {
    chance = SplitMix64(seed: seed)
    self.clients = Array(repeating: .idle, count: clients)
    known = Array(repeating: [:], count: clients)
    for _ in 0..<steps { step() }
    for (client, state) in self.clients.enumerated() {
      if case .answered(let call, let answer) = state { end(call, answer, client) }
    }
  }

  private mutating func below(_ bound: Int) -> Int { Int(chance.next() % UInt64(bound)) }

  private mutating func tick() -> UInt64 {
    time += 1
    return time
  }

  private mutating func step() {
    if !strays.isEmpty, below(20) == 0 { _ = perform(strays.remove(at: below(strays.count))) }
    let client = below(clients.count)
    switch clients[client] {
    case .idle:
      calls.append(ZoneCall("c\(client)", invoked: tick(), returned: nil, request(of: client), .unknown))
      clients[client] = .asked(calls.count - 1)
    case .asked(let call):
      switch below(12) {
      case 0:
        strays.append(call)
        clients[client] = .idle
      case 1:
        _ = perform(call)
        clients[client] = .idle
      default: clients[client] = .answered(call, perform(call))
      }
    case .answered(let call, let answer):
      end(call, answer, client)
      clients[client] = .idle
    }
  }

  private mutating func end(_ call: Int, _ answer: ZoneCall.Answer, _ client: Int) {
    calls[call].answer = answer
    calls[call].returned = tick()
    switch (calls[call].request, answer) {
    case (.commit(let changes, _), .committed(let verdicts, _)):
      for (change, verdict) in zip(changes, verdicts) {
        switch verdict {
        case .accepted(let version): known[client][change.name] = version
        case .conflict(let observation), .read(let observation): known[client][change.name] = observation?.version
        case .aborted, .refused: continue
        }
      }
    case (_, .fetched(let observations)):
      for observation in observations { known[client][observation.name] = observation.version }
    case (_, .pulled(let page)):
      for observation in page.entries { known[client][observation.name] = observation.version }
    case (_, _): return
    }
  }

  // MARK: Asking

  private mutating func request(of client: Int) -> ZoneCall.Request {
    switch below(10) {
    case 0...1: return .fetch(some())
    case 2...3: return .pull(after: Seq(below(Int(zone.seq) + 1)))
    default: return .commit(some().map { change($0, of: client) }, isAtomic: below(2) == 0)
    }
  }

  private mutating func some() -> [String] {
    let count = 1 + below(3)
    return Array(Self.names.shuffled(using: &chance).prefix(count))
  }

  private mutating func change(_ name: String, of client: Int) -> ZoneCall.Change {
    let known = known[client][name]
    let base: Base =
      switch below(4) {
      case 0: .any
      case 1: .absent
      default: known.map { .version($0) } ?? .absent
      }
    values += 1
    switch below(8) {
    case 0: return .delete(name, base)
    case 1...2: return .read(name, base)
    default: return .save(name, "v\(values)", base)
    }
  }

  // MARK: Answering

  private mutating func perform(_ call: Int) -> ZoneCall.Answer {
    switch calls[call].request {
    case .fetch(let names): return .fetched(names.compactMap { observation($0) })
    case .pull(let after): return .pulled(page(after: after))
    case .commit(let changes, let isAtomic):
      let verdicts = zone.commit(changes.map { mutation($0) }, atomic: isAtomic)
      return .committed(verdicts.map { verdict($0) }, seq: zone.seq)
    }
  }

  private func mutation(_ change: ZoneCall.Change) -> Mutation {
    let action: Mutation.Change =
      switch change.action {
      case .save(let value): .save(type: 1, body: ZoneCall.body(value), chunks: [])
      case .delete: .delete
      case .read: .read
      }
    return Mutation(name: change.name, base: change.base, change: action)
  }

  private func verdict(_ verdict: ZoneCommit.Verdict) -> ZoneCall.Verdict {
    switch verdict {
    case .accepted(let version): .accepted(version: version)
    case .conflict(let name): .conflict(observation(name))
    case .read(let name, _): .read(observation(name).flatMap { $0.content == .tombstone ? nil : $0 })
    case .aborted: .aborted
    case .merged, .refused: .refused
    }
  }

  private func observation(_ name: String) -> ZoneCall.Observation? {
    zone.entries[name].map { ZoneCall.Observation($0) }
  }

  /// As stores make pages: tombstones of what the reader cannot have seen are left out.
  private mutating func page(after: Seq) -> ZoneCall.Page {
    let newer = zone.entries.values.filter { $0.version > after }.sorted { $0.version < $1.version }
    let count = below(4) + 1
    let part = newer.prefix(count)
    let more = part.count < newer.count
    let shown = part.filter { !($0.isDeleted && $0.created > after) }
    return ZoneCall.Page(
      shown.map { ZoneCall.Observation($0) }, last: more ? part.last?.version ?? after : zone.seq,
      head: below(2) == 0 ? zone.seq : nil, more: more)
  }
}
