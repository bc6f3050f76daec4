import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what has a time ends when that is over, for every device, and what was to end can be kept (CK-30, CK-32).
/// Method: devices against the whole cloud, maintenance included, in the simulation's time.
@Suite(.timeLimit(.minutes(2))) struct LifetimeTests {
  private static let minute = Duration.seconds(60)
  /// Longer than maintenance rests.
  private static let maintenance = Duration.seconds(90)

  private static func pass(_ place: CloudPlace, _ duration: Duration) async throws {
    try await place.cloud.host.clock.sleep(for: duration)
  }

  /// Names of the live ones, by name and by the zone's changes.
  private static func live(_ place: CloudPlace) async throws -> (read: [String], pulled: [String]) {
    let read = ReadRecords(container: place.container.text, zone: "t", names: ["a", "b"])
    guard case .records(let records) = try await place.insist(.read(read)),
      case .pull(let page) = try await place.insist(place.pull)
    else { throw Missing("zone to be read") }
    return (
      records.entries.filter { !$0.deleted }.map(\.name), try page.entries.filter { !$0.deleted }.map(\.name).sorted()
    )
  }

  @Test(
    "CK-30: records end as their type says, later when they are written again; in sight until collected, or not",
    arguments: [true, false])
  func lifetimes(hides: Bool) throws {
    try SimulatedCloud.run(seed: 6) { cloud in
      let place = try cloud.place("p")
      let type = CaravanModel.RecordType(
        id: 0, definition: 0, name: "t", fields: [.init(id: 0, name: "name", kind: .text)],
        settings: TypeSettings(ttlMilliseconds: 600_000, hidesExpired: hides))
      _ = try await place.insist(
        .propose(ProposeTable(container: place.container.text, type: CaravanWire.RecordType(type))))
      _ = try await place.insist(place.push(1, [place.save("a", "x"), place.save("b", "y")]))
      try await Self.pass(place, Self.minute * 5)
      _ = try await place.insist(place.push(2, [place.save("a", "z", base: .version(1))]))
      #expect(try await Self.live(place) == (["a", "b"], ["a", "b"]))
      try await Self.pass(place, Self.minute * 5)
      #expect(try await Self.live(place).read == (hides ? ["a"] : ["a", "b"]), "over, and not collected")
      try await Self.pass(place, Self.maintenance)
      #expect(try await Self.live(place) == (["a"], ["a"]), "what was written again goes on")
      guard case .pull(let page) = try await place.insist(place.pull) else { throw Missing("page") }
      #expect(try page.entries.map { "\($0.name) \($0.deleted)" }.sorted() == ["a false", "b true"], "all hear of it")
      try await Self.pass(place, Self.minute * 5)
      #expect(try await Self.live(place) == ([], []))
    }
  }

  private static func drop(_ place: CloudPlace, grace: Duration? = nil) -> CaravanWire.Operation.Kind {
    .drop(
      DropTable(
        container: place.container.text, zone: "t", graceMilliseconds: UInt64(grace?.components.seconds ?? 0) * 1_000,
        cancel: grace == nil))
  }

  private static func zones(_ place: CloudPlace) async throws -> [String] {
    guard case .zones(let list) = try await place.insist(.zones(ListZones(container: place.container.text))) else {
      throw Missing("list of zones")
    }
    return list.zones.map(\.zone)
  }

  @Test("CK-32: a zone goes when its grace is over; until then it is as ever, and can be kept; afterwards it cannot")
  func grace() throws {
    try SimulatedCloud.run(seed: 7) { cloud in
      let place = try cloud.place("p")
      _ = try await place.insist(place.propose())
      _ = try await place.insist(place.push(1, [place.save("a", "x"), place.save("b", "y")]))
      let hour = Self.minute * 60
      #expect(try await place.insist(Self.drop(place, grace: hour)).text == "done")
      try await Self.pass(place, hour - Self.minute)
      #expect(try await Self.live(place) == (["a", "b"], ["a", "b"]))
      #expect(try await place.insist(Self.drop(place)).text == "done", "it stays after all")
      #expect(try await place.insist(Self.drop(place)).text == "failure noSuchObject", "nothing is put off any more")
      try await Self.pass(place, hour)
      #expect(try await Self.live(place) == (["a", "b"], ["a", "b"]))
      #expect(try await place.insist(Self.drop(place, grace: hour)).text == "done")
      try await Self.pass(place, hour - .seconds(1))
      #expect(try await Self.zones(place) == ["t"])
      try await Self.pass(place, Self.maintenance)
      #expect(try await Self.zones(place).isEmpty)
      #expect(try await place.insist(Self.drop(place)).text == "failure noSuchObject", "it is too late")
    }
  }
}
