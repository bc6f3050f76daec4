import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: apps of several users read and change records of their public database by name, each as its grants allow, and
/// nothing is done twice or lost without a word. Method: apps' sessions on devices with real stores, and the real
/// services behind them, in one simulated cluster.
@Suite("Records of the public database", .timeLimit(.minutes(2))) struct CloudRecordTests {
  // MARK: Roles

  @Test("CK-04, CK-65: the world reads, users make, the maker's devices change; what is out of sight is not there")
  func roles() throws {
    try RecordApps.run(seed: 61) { apps in
      let (ann, tablet) = (try await apps.app("phone", of: "ann"), try await apps.app("tablet", of: "ann"))
      let eve = try await apps.app("laptop", of: "eve")
      let made = try await ann.save("m1", ["text": .text("hello")])
      #expect(made.verdict == .done && made.version > 0 && made.modifiedMilliseconds > 0)
      let seen = try #require(try await eve.row("m1"))
      #expect(seen.value("text") == .text("hello") && seen.version == made.version)
      #expect(seen.modifiedBy == made.modifiedBy && seen.createdBy == made.modifiedBy)
      #expect(!seen.createdBy.contains("ann"), "CK-02: an alias, never the id")
      for edit in [
        RecordChange(id: "m1", basedOn: made.version, cells: [.text("text", "forged")]),
        RecordChange(id: "m1", cells: [.text("text", "forged")]), RecordChange(id: "m1", deletion: true),
      ] {
        let refused = try await eve.change(edit)
        #expect(refused.failure?.code == "accessDenied" && refused.row == nil)
      }
      let changed = try await tablet.save("m1", ["text": .text("hello again")], basedOn: made.version)
      #expect(changed.verdict == .done, "every device of the maker changes it")
      try await apps.grant([(.authenticated, [.create, .read, .write])])
      #expect(try await eve.save("m1", ["text": .text("ours")], basedOn: nil).verdict == .done)
      try await apps.grant([(.world, [])])
      #expect(try await ann.row("m1")?.value("text") == .text("ours"))
      func bytes(_ id: String) async throws -> [UInt8] { try await eve.found([id])[0].encoded() }
      let nothing = try await bytes("nothing")
      #expect(try await bytes("m1") == nothing)
      let free = try await eve.change(RecordChange(id: apps.free(like: "m1"), basedOn: 7, cells: [.text("text", "x")]))
      let taken = try await eve.change(RecordChange(id: "m1", basedOn: 7, cells: [.text("text", "x")]))
      #expect(free == taken && taken.verdict == .conflict && taken.row == nil)
      let gone = try await eve.change(RecordChange(id: "m1", deletion: true))
      #expect(gone.verdict == .done && gone.version == 0, "as where there is none")
      #expect(try await ann.row("m1") != nil)
    }
  }

  // MARK: Modes

  @Test("CK-25, CK-26: unchanged, changed keys and all keys; columns that an app does not know stay")
  func modes() throws {
    try RecordApps.run(seed: 62) { apps in
      let (ann, tablet) = (try await apps.app("phone", of: "ann"), try await apps.app("tablet", of: "ann"))
      let made = try await ann.save("m1", ["text": .text("a"), "stars": .integer(1)])
      let again = try await tablet.save("m1", ["text": .text("b")])
      #expect(again.verdict == .conflict && again.row?.version == made.version, "it must not be there")
      #expect(again.row?.value("text") == .text("a"))
      let merged = try await tablet.save("m1", ["place": .text("here")], basedOn: nil)
      #expect(merged.verdict == .done)
      let late = try await ann.save("m1", ["text": .text("c")], basedOn: made.version)
      #expect(late.verdict == .conflict && late.row?.value("place") == .text("here"))
      let kept = try await ann.save("m1", ["text": .text("c"), "stars": .null], basedOn: merged.version)
      #expect(kept.verdict == .done)
      let row = try #require(try await tablet.row("m1"))
      #expect(row.value("text") == .text("c") && row.value("place") == .text("here") && row.value("stars") == nil)
      #expect(try await ann.change(RecordChange(id: "m1", deletion: true, basedOn: made.version)).verdict == .conflict)
      let gone = try await ann.change(RecordChange(id: "m1", deletion: true, basedOn: kept.version))
      #expect(gone.verdict == .done && gone.version > kept.version)
      let lost = try await tablet.save("m1", ["text": .text("d")], basedOn: kept.version)
      #expect(lost.verdict == .conflict && lost.row == nil, "it was deleted")
    }
  }

  @Test("CK-22, CK-25: of writers at the same time one wins each round, and no increment is lost")
  func writers() throws {
    try RecordApps.run(seed: 63) { apps in
      var devices: [RecordApp] = []
      for name in ["d1", "d2", "d3"] { devices.append(try await apps.app(name, of: "ann")) }
      _ = try await devices[0].save("count", ["n": .integer(0)])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for device in devices {
          group.addTask {
            for _ in 0..<10 {
              while true {
                let row = try #require(try await device.row("count"))
                guard case .integer(let n)? = row.value("n") else { throw NotYet(what: "a number") }
                let saved = try await device.save("count", ["n": .integer(n + 1)], basedOn: row.version)
                if saved.verdict == .done { break }
                #expect(saved.verdict == .conflict)
              }
            }
          }
          group.addTask { _ = try await device.save("count", [device.name: .integer(1)], basedOn: nil) }
        }
        try await group.waitForAll()
      }
      let row = try #require(try await devices[0].row("count"))
      #expect(row.value("n") == .integer(30))
      #expect(devices.allSatisfy { row.value($0.name) == .integer(1) }, "changed keys never meet a conflict")
    }
  }

  // MARK: Once

  @Test("UNI-07: after a lost answer the same change gets the outcome that it had, whatever has happened since")
  func lostAnswer() throws {
    let lossy = LostAnswers()
    try RecordApps.run(seed: 64, policy: lossy) { apps in
      let (ann, tablet) = (try await apps.app("phone", of: "ann"), try await apps.app("tablet", of: "ann"))
      _ = try await ann.save("other", ["text": .text("x"), "n": .integer(0)])
      let numbers = try await ann.reserve(2)
      let changes = [
        RecordChange(number: numbers.first, id: "m1", basedOn: 0, cells: [.text("text", "once")]),
        RecordChange(number: numbers.first + 1, id: "m2", basedOn: 0, cells: [.text("text", "twice")]),
      ]
      lossy.loses(to: "phone")
      let error = await #expect(throws: CaravanError.self) { try await ann.send(changes, of: numbers.epoch) }
      #expect(error?.code == .timedOut && error?.isTransient == true)
      lossy.losesNothing()
      let between = try #require(try await tablet.row("m1"))
      #expect(try await tablet.save("m1", ["text": .text("edited")], basedOn: between.version).verdict == .done)
      let kept = try await ann.send(changes, of: numbers.epoch)
      #expect(kept.map(\.verdict) == [.done, .done] && kept[0].version == between.version)
      #expect(try await ann.row("m1")?.value("text") == .text("edited"), "it was not made again")
      #expect(try await ann.send(changes, of: numbers.epoch) == kept)
    }
  }

  @Test("UNI-07: numbers of another state of the device, or of too long ago, are not taken")
  func numbers() throws {
    try RecordApps.run(seed: 65) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("other", ["text": .text("x")])
      let numbers = try await ann.reserve(1)
      let change = RecordChange(number: numbers.first, id: "m1", basedOn: 0, cells: [.text("text", "x")])
      let error = await #expect(throws: CaravanError.self) { try await ann.send([change], of: numbers.epoch + 1) }
      #expect(error?.code == .noOperationId)
      var foreign = change
      foreign.number += 1
      let unknown = await #expect(throws: CaravanError.self) { try await ann.send([foreign], of: numbers.epoch) }
      #expect(unknown?.code == .noOperationId)
      #expect(try await ann.row("m1") == nil)
      #expect(try await ann.send([change], of: numbers.epoch).map(\.verdict) == [.done])
    }
  }

  // MARK: Parts and ends

  @Test("CK-24: a read brings the columns that were asked for; a column that was added since is there")
  func parts() throws {
    try RecordApps.run(seed: 66) { apps in
      let (ann, eve) = (try await apps.app("phone", of: "ann"), try await apps.app("laptop", of: "eve"))
      _ = try await ann.save("m1", ["text": .text("a"), "stars": .integer(5)])
      let part = try #require(try await eve.found(["m1"], columns: ["stars"])[0].row)
      #expect(part.cells.map(\.column) == ["stars"] && part.version > 0)
      _ = try await ann.save("m1", ["place": .text("here"), "tags": .list([.text("x")])], basedOn: nil)
      #expect(try await eve.row("m1")?.value("place") == .text("here"), "eve's device knew the type without it")
      #expect(try await eve.found(["m1"], columns: ["tags"])[0].row?.value("tags") == .list([.text("x")]))
      let refused = await #expect(throws: CaravanError.self) { try await eve.found(["m1"], columns: ["nope"]) }
      #expect(refused?.code == .schemaViolation && refused?.message.contains("'nope'") == true)
      let many = try await eve.found(["no", "m1", "\u{1}", "other"])
      #expect(many.map { $0.row?.id } == [nil, "m1", nil, nil] && many[2].failure?.code == "invalidData")
      #expect(many[0] == many[3] && many[0] == FoundRecord())
    }
  }

  @Test("CK-30: a record ends at its time, which is changed and removed later; the type says whether it is seen then")
  func ends() throws {
    try RecordApps.run(seed: 67) { apps in
      let ann = try await apps.app("phone", of: "ann")
      let saved = try await ann.save("m1", ["text": .text("a")], ttl: 60_000)
      let row = try #require(try await ann.row("m1"))
      #expect(row.expiresMilliseconds == saved.modifiedMilliseconds + 60_000)
      _ = try await ann.save("m2", ["text": .text("b")], ttl: 60_000)
      _ = try await ann.save("m3", ["text": .text("c")], ttl: 60_000)
      let longer = saved.modifiedMilliseconds + 200_000
      #expect(try await ann.change(RecordChange(id: "m2", expires: longer)).verdict == .done)
      #expect(try await ann.change(RecordChange(id: "m3", expires: 0)).verdict == .done)
      #expect(try await ann.row("m2")?.expiresMilliseconds == longer)
      #expect(try await ann.row("m3")?.expiresMilliseconds == 0)
      #expect(try await ann.row("m2")?.value("text") == .text("b"), "its columns stay")
      try await apps.hideExpired()
      // So long the device goes on with the type as it was.
      try await apps.clock.sleep(for: EngineLimits.cloudTypeFreshness)
      _ = try await ann.save("m4", ["text": .text("d")], ttl: 60_000)
      try await apps.clock.sleep(for: .seconds(70))
      #expect(try await ann.row("m4") == nil, "its type hides what has ended")
      #expect(try await ann.found(["m2", "m3"]).allSatisfy { $0.row != nil })
    }
  }

  // MARK: Bad input

  @Test("CK-07, CK-101: what does not fit is refused for its record, and the others are saved")
  func badInput() throws {
    try RecordApps.run(seed: 68) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("m1", ["text": .text("a"), "at": .integer(1)])
      let outcomes = try await ann.changeAll([
        RecordChange(id: "good", cells: [.text("text", "x")]), RecordChange(id: "kind", cells: [.integer("text", 1)]),
        RecordChange(id: "a\nb", cells: [.text("text", "x")]), RecordChange(id: "new", cells: [.text("extra", "x")]),
        RecordChange(id: "null", cells: [Cell(column: "never")]),
        RecordChange(id: "bad", cells: [.text("no name", "x")]),
        RecordChange(id: "last", cells: [.text("text", "y")]),
      ])
      #expect(outcomes.map(\.verdict) == [.done, .refused, .refused, .done, .refused, .refused, .done])
      let codes = outcomes.compactMap(\.failure).map(\.code)
      #expect(codes == ["schemaViolation", "invalidData", "schemaViolation", "schemaViolation"])
      func refusal(_ changes: [RecordChange], of table: String = "notes", isPublic: Bool = true) async -> CaravanError?
      {
        await #expect(throws: CaravanError.self) { try await ann.changeAll(changes, table: table, isPublic: isPublic) }
      }
      let twice = [RecordChange(id: "m", deletion: true), RecordChange(id: "m", deletion: true)]
      #expect(await refusal(twice)?.code == .invalidData)
      #expect(await refusal((0...400).map { RecordChange(id: "m\($0)", deletion: true) })?.code == .limitExceeded)
      #expect(await refusal([])?.code == .limitExceeded)
      let mine = [RecordChange(id: "m", cells: [.text("text", "x")])]
      #expect(await refusal(mine, isPublic: false)?.message.contains("sync") == true)
      #expect(await refusal(mine, of: "_notifications")?.message.contains("read only") == true)
      #expect(await refusal(mine, of: "a b")?.code == .schemaViolation)
      let unknown = await #expect(throws: CaravanError.self) { try await ann.found(["m1"], table: "nothing") }
      #expect(unknown?.code == .tableNotFound)
    }
  }

  @Test("CK-93: in production a column that the type lacks is refused by its name, and what fits is saved")
  func production() throws {
    try RecordApps.run(seed: 69) { apps in
      try await apps.register([("text", .text), ("photo", .object)], in: .production)
      let ann = try await apps.app("phone", of: "ann", in: .production)
      let outcomes = try await ann.changeAll([
        RecordChange(id: "m1", basedOn: 0, cells: [.text("text", "x")]),
        RecordChange(id: "m2", basedOn: 0, cells: [.text("text", "x"), .text("mood", "y")]),
        RecordChange(id: "m3", basedOn: 0, cells: [.text("photo", "y")]),
      ])
      #expect(outcomes.map(\.verdict) == [.done, .refused, .refused])
      #expect(outcomes[1].failure?.code == "schemaViolation" && outcomes[1].failure?.message.contains("'mood'") == true)
      #expect(
        outcomes[2].failure?.code == "schemaViolation" && outcomes[2].failure?.message.contains("'photo'") == true)
      let other = await #expect(throws: CaravanError.self) { try await ann.found(["m1"], table: "others") }
      #expect(other?.code == .tableNotFound)
      #expect(try await ann.row("m1")?.value("text") == .text("x"))
    }
  }

  @Test("CK-09: a name that a record of another type has is taken, and read and merged by nobody as something else")
  func otherTypes() throws {
    try RecordApps.run(seed: 70) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("m1", ["text": .text("a")])
      func change(_ change: RecordChange) async throws -> CaravanWire.RecordOutcome {
        try await ann.changeAll([change], table: "pins")[0]
      }
      _ = try await change(RecordChange(id: "p1", cells: [.integer("size", 1)]))
      for edit in [
        RecordChange(id: "m1", basedOn: 0, cells: [.integer("size", 2)]),
        RecordChange(id: "m1", cells: [.integer("size", 2)]), RecordChange(id: "m1", deletion: true),
      ] {
        let outcome = try await change(edit)
        #expect(outcome.failure?.code == "schemaViolation" && outcome.failure?.message.contains("'m1'") == true)
      }
      #expect(try await ann.found(["m1", "p1"], table: "pins").map { $0.row?.id } == [nil, "p1"])
      #expect(try await ann.row("m1")?.value("text") == .text("a"))
    }
  }

  @Test("CK-90: a type that was removed meanwhile is made anew by the next save")
  func removedType() throws {
    try RecordApps.run(seed: 71) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("m1", ["text": .text("a")])
      try await apps.removeType()
      #expect(try await ann.save("m2", ["text": .text("b")]).verdict == .done)
      #expect(try await ann.found(["m1", "m2"]).map { $0.row?.id } == [nil, "m2"])
    }
  }

  @Test("MOB-44, MOB-45: nothing is asked over a link that may not be used")
  func links() throws {
    try RecordApps.run(seed: 72) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("m1", ["text": .text("a")])
      try await ann.device.agent.engine.setPolicy(CaravanAgentCore.NetworkPolicy(maximumLink: nil))
      let write = await #expect(throws: CaravanError.self) { try await ann.save("m2", ["text": .text("b")]) }
      let read = await #expect(throws: CaravanError.self) { try await ann.found(["m1"]) }
      #expect(write?.code == .networkNotPermitted && read?.code == .networkNotPermitted)
    }
  }
}
