import CaravanModel
import CaravanTestKit

@testable import CaravanDiffSync

/// A random history of some devices and one server, over a network that loses questions and answers, with clients that
/// die between any two messages.
struct RandomHistory {
  private var random: SplitMix64
  private(set) var server = ModelServer()
  private(set) var devices: [Replica]
  private let skews: [Int64]
  /// Milliseconds; every event has its own, so no two stamps are equal.
  private var now: UInt64 = 1_000
  private(set) var oracle = Oracle()
  private var created = 0
  private let hasRestores: Bool
  private var backup: ModelServer?
  /// Syncs that met each fault, to see that all happen.
  private(set) var faults: [String: Int] = [:]

  init(seed: UInt64, isSkewed: Bool, hasRestores: Bool = false) {
    self.hasRestores = hasRestores
    random = SplitMix64(seed: seed)
    let count = 2 + Int(random.next() % 3)
    devices = Array(repeating: Replica(), count: count)
    var skews = [Int64](repeating: 0, count: count)
    if isSkewed { for index in skews.indices { skews[index] = Int64(random.next() % 5_000) - 1_000 } }
    self.skews = skews
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func wall(_ device: Int) -> Int64 {
    now += 1
    return Int64(now) + skews[device]
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      let device = below(devices.count)
      switch below(10) {
      case 0...6: try edit(device)
      case 7, 8: try sync(device, withFaults: true)
      default: happen()
      }
    }
  }

  private mutating func happen() {
    guard hasRestores else {
      switch below(4) {
      case 0: return server.purge()
      case 1: return server.loseKey()
      default: return server.expireTurn()
      }
    }
    switch below(4) {
    case 0:
      // Who has not been there since a restore would have to be away longer than deletions are remembered.
      let isSettled = devices.allSatisfy {
        $0.standing.incarnation == server.incarnation && !$0.standing.isRestarting && $0.log.isEmpty
      }
      if server.lost.isEmpty || isSettled { server.purge() }
    case 1: server.expireTurn()
    default:
      guard let backup, below(2) == 0 else { return backup = server }
      self.backup = nil
      server.restore(backup)
      oracle.restore(server, devices)
      note("restored")
    }
  }

  /// Everybody syncs until nothing is new: once to send, and once more for what the others sent.
  mutating func quiesce() throws {
    for _ in 0..<2 {
      for device in devices.indices {
        server.expireTurn()
        try sync(device, withFaults: false)
      }
    }
  }

  // MARK: The apps

  private mutating func edit(_ device: Int) throws {
    let uuids = devices[device].objects.keys.sorted()
    let choice = below(10)
    let wall = wall(device)
    if uuids.isEmpty || choice < 3 {
      created += 1
      let uuid = "o\(created)"
      let value = Value.integer(Int64(now))
      try devices[device].create(uuid, "note", ["a": value, "b": value], at: wall)
    } else if choice < 9 {
      let field = ["a", "b", "c"][below(3)]
      let value: Value = below(8) == 0 ? .null : .integer(Int64(now))
      try devices[device].update(uuids[below(uuids.count)], field, value, at: wall)
    } else {
      try devices[device].delete(uuids[below(uuids.count)], at: wall)
    }
    if let diff = devices[device].log.last { oracle.record(diff) }
  }

  // MARK: Syncs

  private mutating func sync(_ device: Int, withFaults: Bool) throws {
    for _ in 0..<200 {
      if withFaults, below(6) == 0 { return note("vanished") }
      let (step, isHeard) = try ask(device, withFaults: withFaults)
      guard isHeard else {
        note("lost")
        if below(2) == 0 { kill(device) }
        return
      }
      switch step {
      case .again: continue
      case .later: return note("busy")
      case .finished: return note("finished")
      case .failed(let refusal): throw CaravanError(.internalError, "device \(device) is stuck: \(refusal)")
      }
    }
    throw CaravanError(.internalError, "device \(device) does not come to an end")
  }

  private mutating func note(_ fault: String) { faults[fault, default: 0] += 1 }

  /// Memory is gone, the file is not.
  private mutating func kill(_ device: Int) {
    let old = devices[device]
    devices[device] = Replica(log: old.log, standing: old.standing)
    devices[device].objects = old.objects
  }

  private mutating func ask(_ device: Int, withFaults: Bool) throws -> (Step, isHeard: Bool) {
    let isLost = withFaults && below(8) == 0
    let reaches = !isLost || below(2) == 0
    let question = devices[device].question
    now += 1
    let begin: BeginAnswer
    switch question {
    case .begin:
      guard reaches else { return (.again, false) }
      begin = server.begin(question, of: "d\(device)", now: now)
      guard !isLost else { return (.again, false) }
      return (devices[device].hear(begin, at: wall(device)), true)
    case .continue(let attempt):
      // The app does not wait for the network.
      if withFaults, below(3) == 0 { try edit(device) }
      if withFaults, below(12) == 0 { server.expireTurn() }
      guard reaches else { return (.again, false) }
      let answer = server.continue(attempt, of: "d\(device)", now: now)
      guard !isLost else { return (.again, false) }
      return (devices[device].hear(answer), true)
    }
  }
}

/// What everybody must end with, by the order of times alone: an object that anybody deleted is gone, and of every
/// field the latest value is left (DIF-29).
struct Oracle {
  private var deleted: Set<String> = []
  private var fields: [String: [String: Stamped]] = [:]

  mutating func record(_ diff: Diff) {
    switch diff.change {
    case .create(let values): fields[diff.uuid] = values
    case .update(let field, let value):
      if let known = fields[diff.uuid]?[field], known.timestamp > diff.timestamp { return }
      fields[diff.uuid, default: [:]][field] = Stamped(value, at: diff.timestamp)
    case .delete: deleted.insert(diff.uuid)
    }
  }

  /// What is left of it: what the server has, and what clients have of what it lost.
  mutating func restore(_ server: ModelServer, _ devices: [Replica]) {
    deleted.formUnion(fields.keys)
    fields = [:]
    for (uuid, object) in server.objects where !object.isDeleted {
      fields[uuid] = object.fields.mapValues { Stamped($0.value, at: $0.timestamp) }
    }
    for device in devices {
      for (uuid, object) in device.objects {
        let isOld = server.objects[uuid].map { !$0.isDeleted } ?? false
        let created = server.lost.creation(of: object)
        guard isOld || created.map({ $0 > server.objects[uuid]?.version ?? 0 }) ?? false || device.creates(uuid)
        else { continue }
        for (field, stamp) in object.stamps where stamp > fields[uuid]?[field]?.timestamp ?? HybridStamp(rawValue: 0) {
          fields[uuid, default: [:]][field] = Stamped(object.fields[field] ?? .null, at: stamp)
        }
        fields[uuid, default: [:]] = fields[uuid] ?? [:]
      }
      // What waits is sent, or was, unheard of; its stamps are not those of the object yet.
      for diff in device.log where diff.isUpdate && fields[diff.uuid] != nil { record(diff) }
    }
    deleted.subtract(fields.keys)
    deleted.formUnion(devices.flatMap { $0.log.filter(\.isDelete).map(\.uuid) })
  }

  var state: [String: [String: Value]] {
    fields.filter { !deleted.contains($0.key) }.mapValues { $0.mapValues(\.value).filter { $0.value != .null } }
  }

  /// Whatever the clocks say.
  var live: Set<String> { Set(fields.keys).subtracting(deleted) }
}

extension Diff {
  fileprivate var isUpdate: Bool { if case .update = change { true } else { false } }
}

extension Replica {
  fileprivate func creates(_ uuid: String) -> Bool { log.contains { $0.isCreate && $0.uuid == uuid } }
}
