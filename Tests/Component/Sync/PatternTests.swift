import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: the ways in which apps use such a cloud (CK-37) work with what it has. Method: each as an app would do it,
/// with devices, sync, schema and a real store. Sharing is not among them: there are no shares yet.
@Suite(.timeLimit(.minutes(2))) struct PatternTests {
  private static func type(_ device: Device) async throws -> CaravanModel.RecordType {
    try await device.agree([("name", .text), ("n", .integer)])
  }

  private static func publicly(_ op: UInt64, _ row: CaravanModel.Mutation) -> Push {
    var push = Push.of(op, [row], to: DefaultZone.name)
    push.database = .public
    return push
  }

  @Test("CK-37 publish and subscribe: one publishes, everybody reads, and nobody overwrites what they have not seen")
  func publishing() async throws {
    try await CloudCluster.with { cloud in
      let (paper, reader) = (try cloud.device("paper"), try cloud.device("reader", of: "eve"))
      let type = try await Self.type(paper)
      for (number, name) in zip(UInt64(1)..., ["monday", "tuesday"]) {
        _ = try await paper.ask(.push(Self.publicly(number, .save(name, [1: .text(name)], type: type))))
      }
      let issues = try await reader.read(["monday", "tuesday"], zone: DefaultZone.name, database: .public).entries
      #expect(issues.map(\.name) == ["monday", "tuesday"])
      guard
        case .commit(let reply) = try await reader.ask(
          .push(Self.publicly(1, .save("monday", [1: .text("forged")], type: type))))
      else { throw Missing("answer to the push") }
      #expect(try reply.model().versions.isEmpty)
      let again = try await reader.read(["monday"], zone: DefaultZone.name, database: .public).entries
      #expect(again.map(\.body) == issues.prefix(1).map(\.body))
    }
  }

  @Test("CK-37 cross-device sync: a device that was off continues where it was, and where another left off")
  func handOver() async throws {
    try await CloudCluster.with { cloud in
      let (handler, phone) = (try cloud.device("desk"), try cloud.device("phone"))
      let type = try await Self.type(handler)
      _ = try await handler.push(1, [.save("draft", [1: .text("Dear")], type: type)])
      let there = try await phone.pull()
      let version = try #require(try there.entries.first).version
      let more = CaravanModel.Mutation.save("draft", [1: .text("Dear Bob")], type: type, base: .version(version))
      _ = try await phone.push(1, [more])
      _ = try await handler.push(2, [.save("other", [1: .text("x")], type: type)])
      #expect(try await phone.pull(after: there.token).entries.map(\.name) == ["draft", "other"])
      #expect(try await handler.fields("draft") == [1: .text("Dear Bob")])
    }
  }

  @Test("CK-37 bounded queue: of many who add, each takes the oldest out in the same batch; it never grows")
  func boundedByCount() async throws {
    try await CloudCluster.with { cloud in
      let devices = try ["a", "b", "c"].map { try cloud.device($0) }
      let type = try await Self.type(devices[0])
      let bound = 5
      try await withThrowingTaskGroup(of: Void.self) { group in
        for device in devices {
          group.addTask {
            var op: UInt64 = 0
            for number in 0..<8 {
              while true {
                op += 1
                let all: [CaravanWire.Entry] = try await device.pull(fresh: true).entries.filter { !$0.deleted }
                let queue = all.filter { $0.name != "tail" }
                var batch = [CaravanModel.Mutation.save("\(device.name)-\(number)", [2: .integer(1)], type: type)]
                for old in queue.prefix(max(0, queue.count - bound + 1)) {
                  batch.append(CaravanModel.Mutation(name: old.name, base: .version(old.version), change: .delete))
                }
                // Whoever adds a row changes the tail too, so that of two who saw the same queue one comes again.
                let tail = all.first { $0.name == "tail" }
                let base: Base = if let tail { .version(tail.version) } else { .absent }
                batch.append(CaravanModel.Mutation.save("tail", [2: .integer(Int64(op))], type: type, base: base))
                var push = Push.of(op, batch)
                push.atomic = true
                guard case .commit(let reply) = try await device.ask(.push(push)) else {
                  throw Missing("answer to the push")
                }
                let isDone = try reply.model().versions.contains { $0 > 0 }
                let count = try await device.pull(fresh: true).entries.filter { !$0.deleted }.count
                #expect(count <= bound + 1, "with the tail")
                if isDone { break }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let left = try await devices[0].pull(fresh: true).entries.filter { !$0.deleted && $0.name != "tail" }
      #expect(left.count == bound)
    }
  }

  @Test("CK-37 trash: what was deleted is brought back under the version that it was deleted with, until it is purged")
  func trash() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a)
      _ = try await a.push(1, [.save("r", [1: .text("kept")], type: type)])
      let token = try await b.pull().token
      let deleted = try await a.push(2, [CaravanModel.Mutation(name: "r", base: .version(1), change: .delete)])
      #expect(try await b.pull(after: token).entries.map(\.deleted) == [true])
      // Somebody who only remembers that it was once there does not bring it back by accident.
      let accident = try await b.push(1, [.save("r", [1: .text("old")], type: type, base: .version(1))])
      #expect(accident.versions.isEmpty)
      let tombstone = try #require(deleted.versions.first)
      let undo = CaravanModel.Mutation.save("r", [1: .text("kept")], type: type, base: .version(tombstone))
      #expect(try await b.push(2, [undo]).versions == [tombstone + 1])
      #expect(try await a.fields("r") == [1: .text("kept")])
    }
  }

  @Test("CK-37 cloud storage: files that never change in the default zone, and a folder that is always whole")
  func cloudStorage() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a)
      // Contents first, one by one, under names that nothing else will have.
      for (number, name) in zip(UInt64(1)..., ["f1", "f2", "f3"]) {
        _ = try await a.push(number, [.save(name, [1: .text("bytes of \(name)")], type: type)], to: DefaultZone.name)
      }
      var folder = Push.of(10, ["f1", "f2"].map { .save("entry-\($0)", [1: .text($0)], type: type) }, to: "folder")
      folder.atomic = true
      _ = try await a.ask(.push(folder))
      let page = try await b.pull(from: "folder")
      #expect(try page.entries.count == 2 && !page.more)
      // A move inside of it is one batch: no reader sees the file twice, or not at all.
      let gone = CaravanModel.Mutation(name: "entry-f1", base: .version(1), change: .delete)
      var move = Push.of(11, [gone, .save("entry-f3", [1: .text("f3")], type: type)], to: "folder")
      move.atomic = true
      _ = try await a.ask(.push(move))
      let news = try await b.pull(after: page.token, from: "folder")
      #expect(try news.entries.map(\.name) == ["entry-f1", "entry-f3"] && !news.more)
      for entry in try news.entries.filter({ !$0.deleted }) {
        guard case .text(let name) = try RecordFields(body: entry.body)[1] else {
          throw Missing("name in \(entry.name)")
        }
        #expect(try await b.read([name], zone: DefaultZone.name).entries.count == 1)
      }
    }
  }
}
