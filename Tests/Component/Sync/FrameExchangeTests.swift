import CaravanModel
import CaravanSyncDriver
import CaravanWire
import Testing

/// Frames with many operations, and what one reply can hold.
@Suite(.timeLimit(.minutes(2))) struct FrameExchangeTests {
  @Test("SIM-94, SIM-90: one frame carries operations of many apps and zones; results stand in their order")
  func manyApps() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let apps = (0..<40).map { "app\($0)" }
      let proposals = try await a.exchange(apps.map { .propose(.type([("n\($0)", .integer)], in: $0)) })
      var types: [CaravanModel.RecordType] = []
      for case .type(let type) in proposals { types.append(try type.model()) }
      #expect(types.map { $0.fields[0].name } == apps.map { "n\($0)" })

      var operations: [CaravanWire.Operation.Kind] = []
      for (index, app) in apps.enumerated() {
        let row = CaravanModel.Mutation.save("r", [1: .integer(Int64(index))], type: types[index])
        operations.append(.push(.of(UInt64(index + 1), [row], in: app)))
        operations.append(.pull(Pull(container: app, zone: "photos")))
      }
      let results = try await a.exchange(operations)
      for index in apps.indices {
        guard case .commit(let reply) = results[2 * index] else { throw Unexpected(result: results[2 * index]) }
        #expect(try reply.model().versions == [1])
        guard case .pull(let page) = results[2 * index + 1] else { throw Unexpected(result: results[2 * index + 1]) }
        #expect(try page.entries.map(\.version) == [1], "a pull after a push of the same zone sees it")
      }
      let pulled = try await b.exchange(apps.map { .pull(Pull(container: $0, zone: "photos")) })
      for (index, result) in pulled.enumerated() {
        guard case .pull(let page) = result else { throw Unexpected(result: result) }
        #expect(try RecordFields(body: #require(page.entries.first).body)[1] == .integer(Int64(index)))
      }
    }
  }

  @Test("SIM-92: a large compressible reply is one zstd stream, a small one is not; devices may compress, too")
  func compression() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree([("name", .text)])
      let rows = (0..<100).map {
        CaravanModel.Mutation.save("row\($0)", [1: .text("the same words again")], type: type)
      }
      let push = Exchange(epoch: 1, operations: [CaravanWire.Operation(kind: .push(.of(1, rows)))]).encoded()
      let reply = try await a.send(Frame(compression: .zstd, plainBytes: UInt32(push.count), body: zstd(push)))
      guard case .commit(let commit)? = try ExchangeReply(decoding: FrameBody.open(reply)).results.first?.kind else {
        return
      }
      #expect(try commit.model().versions.count == 100)

      let pull = Exchange(
        epoch: 2, operations: [CaravanWire.Operation(kind: .pull(Pull(container: "album", zone: "photos")))]
      )
      .encoded()
      let page = try await a.send(Frame(plainBytes: UInt32(pull.count), body: pull))
      #expect(page.compression == .zstd && page.body.count * 2 < Int(page.plainBytes))
      let plain = try await a.send(Frame(plainBytes: UInt32(pull.count), body: pull, plainAnswer: true))
      #expect(plain.compression == .none && plain.plainBytes == page.plainBytes, "MOB-56: who has no zstd needs none")
      #expect(try plain.body == FrameBody.open(page))
      let empty = Exchange(epoch: 2).encoded()
      let small = try await a.send(Frame(plainBytes: UInt32(empty.count), body: empty))
      #expect(small.compression == .none)
    }
  }

  @Test("More pages than one reply holds: those that do not fit say `more` with their own token, and none is lost")
  func overflowingPulls() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("raw", .data)])
      let zones = (0..<6).map { "z\($0)" }
      for (op, zone) in zones.enumerated() {
        let rows = (0..<9).map {
          CaravanModel.Mutation.save(
            "\(zone)-\($0)", [1: .data([UInt8](repeating: UInt8($0), count: 100_000))], type: type)
        }
        #expect(try await a.push(UInt64(op + 1), rows, to: zone).versions.count == 9)
      }
      var tokens = [[UInt8]](repeating: [], count: zones.count)
      var names: [String] = []
      var open = Set(zones.indices)
      var frames = 0
      while !open.isEmpty, frames < 20 {
        let asked = open.sorted()
        let results = try await b.exchange(
          asked.map { .pull(Pull(container: "album", zone: zones[$0], token: tokens[$0])) })
        var bytes = 0
        for (index, result) in zip(asked, results) {
          guard case .pull(let pulled) = result else { throw Unexpected(result: result) }
          bytes += pulled.page.count
          names += try pulled.entries.map(\.name)
          tokens[index] = pulled.token
          if !pulled.more { open.remove(index) }
        }
        #expect(bytes <= Limits.frameBytes)
        frames += 1
      }
      #expect(names.count == 54 && Set(names).count == 54)
      #expect(frames > 2, "5.4 MB do not fit two frames of 2 MiB")
    }
  }

  @Test("More conflict copies than one reply holds: the rest is not applied, sent again, and told then")
  func overflowingConflicts() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("raw", .data)])
      for op in 0..<6 {
        let row = CaravanModel.Mutation.save("r\(op)", [1: .data([UInt8](repeating: 1, count: 900_000))], type: type)
        #expect(try await a.push(UInt64(op + 1), [row]).versions.count == 1)
      }
      var open = Set((0..<6).map { "r\($0)" })
      var op: UInt64 = 0
      while !open.isEmpty, op < 10 {
        op += 1
        let names = open.sorted()
        let result = try await b.push(op, names.map { .save($0, [1: .data([2])], type: type) })
        for (name, outcome) in zip(names, result.outcomes) {
          guard case .conflict(let server) = outcome else {
            #expect(outcome == .aborted)
            continue
          }
          #expect(server?.name == name && (server?.body.count ?? 0) > 900_000)
          open.remove(name)
        }
      }
      #expect(op == 3, "two copies of 900 kB a reply")
    }
  }

  @Test("Many frames of many devices at once, through two instances of sync")
  func concurrency() async throws {
    try await CloudCluster.with { cloud in
      let second = try cloud.sync()
      let type = try await cloud.device("first").agree([("n", .integer)])
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await second.run() }
        try await withThrowingTaskGroup(of: Void.self) { devices in
          for number in 0..<16 {
            let device = try cloud.device("d\(number)")
            devices.addTask {
              for op in 1...10 as ClosedRange<UInt64> {
                let row = CaravanModel.Mutation.save("\(number)-\(op)", [1: .integer(Int64(op))], type: type)
                guard try await device.push(op, [row]).versions.count == 1 else {
                  throw CaravanError(.internalError, "lost")
                }
              }
            }
          }
          try await devices.waitForAll()
        }
        second.shutDown()
        try await group.waitForAll()
      }
      let entries = try await cloud.device("reader").pull().entries
      #expect(entries.count == 160 && Set(entries.map(\.name)).count == 160)
      #expect(entries.map(\.version) == Array(1...160))
    }
  }
}
