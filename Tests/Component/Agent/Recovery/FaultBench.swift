import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Two devices with one row between them, or with two that always change together. One has a disk that can end at any
/// change, and a network that can end at any message. Cells and photo of a row go together, and so do the rows:
/// whatever is seen of them must be one of their versions.
final class FaultBench {
  /// One version of the row: a number, and which photo.
  struct Content: Hashable, Sendable, CustomStringConvertible {
    var number: Int64
    var photo: UInt64
    var description: String { "(\(number), photo \(photo))" }

    static let base = Content(number: 0, photo: 1)
    /// Of rows that differ.
    static let mixture = Content(number: -1, photo: 0)
    private static let photos = (0...3).map { SeededRandom(seed: $0).bytes(120_000) }

    static func bytes(_ photo: UInt64) -> [UInt8] { photos[Int(photo)] }
  }

  /// What of the row changes.
  enum Part: Sendable {
    case cells, object, row

    func changed(_ number: Int64) -> Content {
      switch self {
      case .cells: Content(number: number, photo: Content.base.photo)
      case .object: Content(number: 0, photo: UInt64(number))
      case .row: Content(number: number, photo: UInt64(number))
      }
    }
  }

  static let table = RunningDevice.table
  static let name = "x"
  /// Of the rows.
  let names: [String]
  /// The app that a blow may kill.
  static let app: UInt64 = 7

  let suite: SuiteCluster
  let strike: Strike
  let mode: StoreMode
  private let link: LinkClass
  private(set) var device: RunningDevice
  let other: RunningDevice
  private(set) var disk = FragileDisk()
  private var files: CrashFiles
  /// Versions that there may be.
  private(set) var known: Set<Content> = [.base]
  /// As the row's status was when a killed agent's store was opened again.
  private(set) var found: TableStatusView?

  /// - Parameters:
  ///   - together: two rows that change in batches, in tables that show snapshots.
  ///   - padding: characters more in their names.
  init(
    _ suite: SuiteCluster, _ strike: Strike, _ mode: StoreMode, link: LinkClass, together: Bool = false,
    padding: Int = 0
  ) async throws {
    names = (together ? [Self.name, "y"] : [Self.name]).map { $0 + String(repeating: "-", count: padding) }
    self.suite = suite
    self.link = link
    self.strike = strike
    self.mode = mode
    files = CrashFiles("\(suite.directory.path)/device")
    files.open()
    device = try await suite.start("device", in: files.directory, Self.options(disk), link: link)
    other = try await suite.start("other")
    for device in [device, other] {
      try await device.createTable()
      if together { try await device.store.updateTable(Self.table, TableChange(consistency: .snapshot)) }
    }
    try await device.store.updateTable(Self.table, TableChange(mode: mode))
    try await other.register()
    for name in names {
      try await device.store.write(
        Self.table, cells: [CellValue("name", .text(name)), CellValue("number", .integer(0))],
        contents: [ObjectValue("photo", Content.bytes(Content.base.photo))])
    }
    try await device.agent.engine.syncNow(Self.table, write: true, read: true)
    try await other.until("all is at both") {
      guard try await other.rows().count == names.count else { return false }
      return try await Self.content(at: other) == .base
    }
  }

  private static func options(_ disk: FragileDisk) -> LocalStoreOptions {
    var options = LocalStoreOptions()
    options.tap = disk
    return options
  }

  // MARK: The row

  static func content(at device: RunningDevice) async throws -> Content? {
    let page = try await device.store.beginRead(ReadRequest(table: table, isHeld: true), owner: 9)
    var contents: Set<Content> = []
    for row in page.rows {
      guard case .integer(let number)? = row.cells.first(where: { $0.column == "number" })?.value else { continue }
      contents.insert(Content(number: number, photo: try await photo(of: row.id, at: device, cursor: page.cursor)))
    }
    await device.store.closeCursor(page.cursor, owner: 9)
    return contents.count > 1 ? .mixture : contents.first
  }

  /// Which photo the row has; 0: none that anybody wrote.
  static func photo(
    of row: String, at device: RunningDevice, cursor: UInt64 = 0, copy: CaravanAgentStore.RowCopy = .mine
  ) async throws -> UInt64 {
    let bytes = try await device.store.readObject(
      table, row: row, object: "photo", offset: 0, length: 1 << 20, cursor: cursor, copy: copy, owner: 9
    ).bytes
    return (1...3).first { Content.bytes($0) == bytes } ?? 0
  }

  /// The row may be seen with this content from now on.
  func mayBecome(_ content: Content) { known.insert(content) }

  /// - Returns: whether it was acknowledged.
  func change(_ part: Part, to number: Int64, at target: RunningDevice) async -> Bool {
    let content = part.changed(number)
    mayBecome(content)
    let cells = part == .object ? [] : [CellValue("number", .integer(number))]
    let photo = part == .cells ? [] : [ObjectValue("photo", Content.bytes(content.photo))]
    let selection = Selection("name = ?", [.text(Self.name)])
    do {
      if names.count > 1 {
        let held = try await open(content, cells: cells, at: target)
        return try await !target.store.closeWrites(held, isAtomic: true, owner: Self.app).isEmpty
      }
      if photo.isEmpty {
        return try await !target.store.write(Self.table, cells: cells, selection: selection).isEmpty
      }
      if mode == .inPlace {
        // Over what is there, as far as it is of the same length.
        let opened = try await target.store.openWrite(
          Self.table, cells: cells, objects: ["photo"], selection: selection, owner: Self.app)
        for row in opened.rows.indices {
          try await target.store.writeObject(
            opened.handle, row: row, object: "photo", offset: 0, bytes: Content.bytes(content.photo), owner: Self.app)
        }
        return try await !target.store.closeWrite(opened.handle, owner: Self.app).isEmpty
      }
      return try await !target.store.write(Self.table, cells: cells, contents: photo, selection: selection).isEmpty
    } catch {
      return false
    }
  }

  /// A write of each row, held until all are closed together.
  func open(_ content: Content, cells: [CellValue], at target: RunningDevice) async throws -> [UInt64] {
    var held: [UInt64] = []
    for name in names {
      let opened = try await target.store.openWrite(
        Self.table, cells: cells, objects: content.photo == Content.base.photo ? [] : ["photo"],
        selection: Selection("name = ?", [.text(name)]), owner: Self.app, isHeld: true)
      held.append(opened.handle)
      guard content.photo != Content.base.photo else { continue }
      try await target.store.writeObject(
        opened.handle, row: 0, object: "photo", offset: 0, bytes: Content.bytes(content.photo), owner: Self.app)
    }
    return held
  }

  // MARK: Blows

  /// The blow falls with the first message of the device that `target` picks.
  func arm(_ blow: Blow, at target: @escaping @Sendable (Passage) -> Bool) {
    let disk = disk
    strike.arm("device", cuts: blow != .appKill, at: target) {
      if blow.endsTheAgent { disk.die(afterChanges: 0) }
    }
  }

  /// What is left of the blow: the dead come to life again, the network is mended.
  func carryOn(after blow: Blow) async throws {
    switch blow {
    case .network:
      suite.hub.disconnect("device")
      try await device.clock.sleep(for: .seconds(3))
      strike.heal()
      suite.hub.reconnect("device")
    case .appKill: await device.store.release(owner: Self.app)
    case .agentKill, .powerCut, .recoveryCut:
      disk.die(afterChanges: 0)
      try await device.kill()
      strike.heal()
      files.die(powerCutOn: blow == .powerCut ? disk : nil)
      if blow == .recoveryCut { try await cutRecoveries() }
      disk = FragileDisk()
      device = try await suite.start("device", in: files.directory, Self.options(disk), link: link) { agent in
        found = try await agent.store.status(of: Self.table.app).first
        #expect(try await agent.store.problems() == [])
      }
    }
  }

  /// Lives that end in the middle of their recovery, each one change later, until one does not.
  private func cutRecoveries() async throws {
    for changes in 0... {
      disk = FragileDisk()
      disk.die(afterChanges: changes)
      let store = try? await LocalStore.open(
        files.directory, host: suite.cluster.host("device").host, options: Self.options(disk))
      await store?.close()
      files.die(powerCutOn: disk)
      if store != nil, !disk.isDead { return #expect(changes > 0, "nothing is recovered on the disk") }
      try #require(changes < 1_000)
    }
  }

  // MARK: The end

  /// Both come to rest; whatever is seen on the way is a version that somebody wrote. A conflict is decided for the
  /// device's own copy.
  /// - Returns: what both have, and whether there was a conflict.
  func settle() async throws -> (content: Content?, hadConflict: Bool) {
    var hadConflict = false
    let end = device.clock.now + .seconds(900)
    while true {
      guard device.clock.now < end else { throw NotYet(what: "both are at rest") }
      try? await device.agent.engine.syncNow(Self.table, write: true, read: true)
      for device in [device, other] {
        let content = try await Self.content(at: device)
        let isKnown = if let content { known.contains(content) } else { try await isTorn(device) }
        #expect(isKnown, "seen: \(content.map(\.description) ?? "nothing")")
      }
      if try await decide() { hadConflict = true }
      let both = (try await Self.content(at: device), try await Self.content(at: other))
      if both.0 == both.1, try await device.isSettled(), try await other.isSettled() { break }
      try await device.clock.sleep(for: .milliseconds(200))
    }
    for device in [device, other] {
      #expect(try await device.store.problems() == [])
      #expect(try await device.rows().count == names.count)
    }
    return (try await Self.content(at: device), hadConflict)
  }

  /// The row alone is unavailable (SIM-79); that takes a write in place.
  private func isTorn(_ device: RunningDevice) async throws -> Bool {
    guard mode == .inPlace else { return false }
    return try await device.store.status(of: Self.table.app).first?.torn ?? 0 > 0
  }

  /// A torn row has come back.
  func whole() async throws {
    try await device.until("the row is whole") { try await device.store.status(of: Self.table.app).first?.torn == 0 }
  }

  private func decide() async throws -> Bool {
    guard let view = try await device.store.conflicts(Self.table).first else { return false }
    let theirs = try await Self.photo(of: view.mine.id, at: device, copy: .theirs)
    #expect(known.contains { $0.photo == theirs }, "the cloud's copy is whole")
    try await device.store.beginResolution(Self.table, owner: 9)
    try await device.store.resolve(Self.table, row: view.mine.id, .mine, owner: 9)
    try await device.store.endResolution(Self.table, owner: 9)
    return true
  }
}
