import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: each record of a default zone is linearizable, however many shards and however many syncs there are (CK-10,
/// CK-22). Method: devices of several users read and write the same few records at once, through two syncs that do not
/// know of each other, and repeat some of what they did; what they saw is held against `ZoneHistory`, shard by shard.
@Suite(.timeLimit(.minutes(2))) struct DefaultZoneHistoryTests {
  private static let names = (0..<6).map { "r\($0)" }
  private static let rounds = 60
  private static let users = 3

  private struct Client {
    let device: Device
    let type: CaravanModel.RecordType
    let recorder: CallRecorder
    /// Which of the records its user's devices write more than others do: who made one changes it, and no other user.
    let part: Int
    var chance: SplitMix64
    var op: UInt64 = 0
    var known: [String: Seq] = [:]

    mutating func below(_ bound: UInt64) -> UInt64 { chance.next() % bound }

    mutating func act() async throws {
      let own = names.enumerated().filter { $0.offset % users == part }.map(\.element)
      let some = below(5) == 0 ? names : own
      let name = some[Int(below(UInt64(some.count)))]
      if below(3) == 0 { try await read(name) } else { try await write(name) }
    }

    mutating func read(_ name: String) async throws {
      let call = recorder.begin(device.name.text, .fetch([name]))
      let entries = try await device.read([name], zone: DefaultZone.name, database: .public).entries.map { $0.model() }
      recorder.end(call, ZoneCall.Answer(fetched: entries))
      known[name] = entries.first.flatMap { $0.isDeleted ? nil : $0.version }
    }

    private mutating func write(_ name: String) async throws {
      op += 1
      let base: Base = below(6) == 0 ? .any : known[name].map { .version($0) } ?? .absent
      let isDeletion = below(8) == 0
      let value = "\(device.name).\(op)"
      let change = ZoneCall.Change(name, base, isDeletion ? .delete : .save(value))
      let mutation =
        isDeletion
        ? CaravanModel.Mutation(name: name, base: base, change: .delete)
        : CaravanModel.Mutation.save(name, [1: .text(value)], type: type, base: base)
      var push = Push.of(op, [mutation], to: DefaultZone.name)
      push.database = .public
      let call = recorder.begin(device.name.text, .commit([change], isAtomic: false))
      let times = below(4) == 0 ? 2 : 1
      var answer = ZoneCall.Answer.unknown
      // As after an answer that was lost.
      for _ in 0..<times {
        let result = try await device.ask(.push(push))
        guard case .commit(let reply) = result else { throw Unexpected(result: result) }
        answer = ZoneCall.Answer(try reply.model())
      }
      recorder.end(call, answer, isRetried: times > 1)
      guard case .committed(let verdicts, _) = answer else { return }
      switch verdicts.first {
      case .accepted(let version)?: known[name] = isDeletion ? nil : version
      case .conflict(let sight)?: known[name] = sight.flatMap { $0.content == .tombstone ? nil : $0.version }
      case .read, .aborted, .refused, nil: break
      }
    }
  }

  @Test("CK-10, CK-22: every record of a default zone is linearizable", arguments: [1, 3, 8] as [UInt32])
  func linearizability(shards: UInt32) async throws {
    try await CloudCluster.with { cloud in
      let second = try cloud.sync()
      try await withThrowingTaskGroup(of: Void.self) { services in
        services.addTask { try await second.run() }
        defer { second.shutDown() }
        let settings = CaravanModel.ContainerSettings(publicShards: shards)
        let operators = SchemaClient(bus: cloud.hub.connect(as: "operator"))
        _ = try await operators.settings(of: ContainerID(unchecked: "album"), in: .development, saying: settings)
        let first = try cloud.device("d0", of: "u0")
        let type = try await first.agree([("value", .text)])
        let recorder = CallRecorder()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<6 {
            let device = number == 0 ? first : try cloud.device("d\(number)", of: "u\(number % Self.users)")
            group.addTask {
              let chance = SplitMix64(seed: UInt64(shards) * 100 + UInt64(number))
              let part = number % Self.users
              var client = Client(device: device, type: type, recorder: recorder, part: part, chance: chance)
              for _ in 0..<Self.rounds { try await client.act() }
              for name in Self.names { try await client.read(name) }
            }
          }
          try await group.waitForAll()
        }
        Self.check(recorder.calls, shards)
      }
    }
  }

  /// Versions count within a shard.
  private static func check(_ calls: [ZoneCall], _ shards: UInt32) {
    let byShard = Dictionary(grouping: calls) { call in
      switch call.request {
      case .fetch(let names): DefaultZone.shard(of: names[0], among: shards)
      case .commit(let changes, _): DefaultZone.shard(of: changes[0].name, among: shards)
      case .pull: UInt32.max
      }
    }
    #expect(byShard.count == Set(names.map { DefaultZone.shard(of: $0, among: shards) }).count)
    for (shard, calls) in byShard {
      let findings = ZoneHistory(calls).findings(isSerialisable: false)
      #expect(findings.isEmpty, "shard \(shard) of \(shards): \(findings.prefix(3))")
    }
    let conflicts = calls.count { call in
      guard case .committed(let verdicts, _) = call.answer, case .conflict? = verdicts.first else { return false }
      return true
    }
    let refusals = calls.count { call in
      guard case .committed(let verdicts, _) = call.answer else { return false }
      return verdicts.first == .refused
    }
    #expect(refusals > 5, "they met what others had made: \(refusals)")
    #expect(conflicts > 20 && conflicts < calls.count / 2, "they met one another, and not always: \(conflicts)")
  }
}
