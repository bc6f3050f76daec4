import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: SIM-75, SIM-76, BEN-08: a row comes out whole, and nothing acknowledged is lost, whatever hits the device
/// in the middle of whichever operation. Method: Table 7's 24 operations, driven for real in a simulated cluster with
/// the real services behind the device; the blow falls at one message or in the middle of one transaction, in both
/// store modes.
@Suite("Table 7 × blows", .timeLimit(.minutes(5)))
struct FaultMatrixTests {
  typealias Content = FaultBench.Content

  /// The message that a sync is hit at.
  enum Moment: Sendable {
    case request, answer, upload, download, notification

    func isHere(_ passage: Passage) -> Bool {
      let isChunk = passage.bytes > 16_000
      return switch self {
      case .request: passage.sender == "device" && passage.subject.hasSuffix(".exchange")
      case .answer: passage.receiver == "device" && passage.sender == "sync" && passage.isReply
      case .upload: passage.sender == "device" && passage.subject.contains(".chunks.") && isChunk
      case .download: passage.receiver == "device" && passage.sender == "storage" && passage.isReply && isChunk
      case .notification: passage.receiver == "device" && passage.sender == "notify"
      }
    }
  }

  enum Scene: Sendable {
    /// Of cells, of the photo's first half, or of both.
    case read(cells: Bool, photo: Bool)
    case write(FaultBench.Part, bytes: Int)
    case push(FaultBench.Part, Moment, conflict: Bool = false)
    case pull(FaultBench.Part, Moment, conflict: Bool = false)
    case notified
  }

  static func scene(of operation: RowOperation) -> Scene {
    switch operation {
    case .readCells: .read(cells: true, photo: false)
    case .openObjectToRead: .read(cells: false, photo: true)
    case .readObject: .read(cells: false, photo: true)
    case .readRow: .read(cells: true, photo: true)
    case .writeCells: .write(.cells, bytes: 0)
    case .openObjectToWrite: .write(.object, bytes: 0)
    case .writeObject: .write(.object, bytes: 70_000)
    case .writeRow: .write(.row, bytes: 120_000)
    case .pushCells: .push(.cells, .request)
    case .pushCellsAnswered: .push(.cells, .answer, conflict: true)
    case .pushObject: .push(.object, .request)
    case .sendChunksOfObject: .push(.object, .upload)
    case .pushObjectAnswered: .push(.object, .answer)
    case .fetchConflictOfObject: .push(.object, .download, conflict: true)
    case .pushRow: .push(.row, .request)
    case .pushRowAnswered: .push(.row, .answer)
    case .fetchConflictOfRow: .push(.row, .download, conflict: true)
    case .notify: .notified
    case .pull: .pull(.row, .request)
    case .pullCellsAnswered: .pull(.cells, .answer, conflict: true)
    case .pullObjectAnswered: .pull(.object, .answer)
    case .fetchChunksOfObject: .pull(.object, .download, conflict: true)
    case .pullRowAnswered: .pull(.row, .answer)
    case .fetchChunksOfRow: .pull(.row, .download, conflict: true)
    }
  }

  @Test("SIM-74, SIM-75, SIM-76, SIM-77: copy-on-write", arguments: RowOperation.allCases, Blow.allCases)
  func copyOnWrite(operation: RowOperation, blow: Blow) throws { try outcome(operation, blow, .copyOnWrite) }

  @Test("SIM-74, SIM-75, SIM-76, SIM-78, SIM-79: in place", arguments: RowOperation.allCases, Blow.allCases)
  func inPlace(operation: RowOperation, blow: Blow) throws { try outcome(operation, blow, .inPlace) }

  private func outcome(_ operation: RowOperation, _ blow: Blow, _ mode: StoreMode) throws {
    let strike = Strike()
    let suite = try SuiteCluster(seed: 11, policy: strike)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let scene = Self.scene(of: operation)
      // Where nothing is paid by the byte, so few chunks ride with their row.
      let link: LinkClass = if case .push(_, .upload, _) = scene { .cellular } else { .wired }
      let bench = try await FaultBench(suite, strike, mode, link: link)
      switch scene {
      case .read(let cells, let photo): try await Self.read(bench, blow, cells: cells, photo: photo)
      case .write(let part, let bytes): try await Self.write(bench, blow, part, bytes: bytes)
      case .push(let part, let moment, let conflict):
        #expect(conflict == operation.propagates)
        try await Self.push(bench, operation, blow, part, moment)
      case .pull(let part, let moment, let conflict):
        #expect(conflict == operation.propagates)
        try await Self.pull(bench, operation, blow, part, moment)
      case .notified: try await Self.notified(bench, blow)
      }
    }
  }

  @Test("SIM-74: 24 operations, 18 of which a failure can hurt")
  func complete() {
    #expect(RowOperation.allCases.map(\.rawValue).joined() == "abcdefghijklmnopqrstuvwx")
    #expect(RowOperation.allCases.count { !$0.signs.isEmpty } == 18)
    #expect(RowOperation.allCases.allSatisfy { $0.signs.isEmpty == $0.recovery.isEmpty })
  }

  // MARK: The app's operations

  /// a–d: a failure leaves no trace.
  private static func read(_ bench: FaultBench, _ blow: Blow, cells: Bool, photo: Bool) async throws {
    let request = ReadRequest(
      table: FaultBench.table, columns: cells ? [] : ["photo"], pageRows: 1, isHeld: true)
    let page = try await bench.device.store.beginRead(request, owner: FaultBench.app)
    let row = try #require(page.rows.first).id
    func readPhoto(_ length: Int) async throws -> [UInt8] {
      try await bench.device.store.readObject(
        FaultBench.table, row: row, object: "photo", offset: 0, length: length, cursor: page.cursor,
        owner: FaultBench.app
      ).bytes
    }
    if photo { #expect(try await readPhoto(50_000).count == 50_000) }
    if blow == .network { bench.strike.cut() }
    try await bench.carryOn(after: blow)
    if blow == .network { #expect(try await readPhoto(1 << 20) == Content.bytes(Content.base.photo)) }
    #expect(try await FaultBench.content(at: bench.device) == .base)
    await bench.device.store.release(owner: FaultBench.app)
    let end = try await bench.settle()
    #expect(end.content == .base && !end.hadConflict)
  }

  /// e–h: what was not closed never was (N, and LR for a torn object: the last closed version is still there).
  private static func write(
    _ bench: FaultBench, _ blow: Blow, _ part: FaultBench.Part, bytes: Int
  ) async throws {
    let new = part.changed(2)
    let store = bench.device.store
    if blow == .network { bench.strike.cut() }
    var isAcknowledged = false
    if case .cells = part {
      if blow.endsTheAgent { bench.disk.die(afterChanges: 1) }
      isAcknowledged = await bench.change(part, to: 2, at: bench.device)
    } else {
      bench.mayBecome(new)
      let opened = try await store.openWrite(
        FaultBench.table, cells: part == .row ? [CellValue("number", .integer(new.number))] : [], objects: ["photo"],
        selection: Selection("name = ?", [.text(FaultBench.name)]), owner: FaultBench.app)
      func put(_ range: Range<Int>) async throws {
        guard !range.isEmpty else { return }
        try await store.writeObject(
          opened.handle, row: 0, object: "photo", offset: UInt64(range.lowerBound),
          bytes: Array(Content.bytes(new.photo)[range]), owner: FaultBench.app)
      }
      try await put(0..<bytes)
      if bench.mode == .inPlace, bytes > 0 {
        await #expect("nobody sees an open write") { try await FaultBench.content(at: bench.device) } throws: {
          ($0 as? CaravanError)?.code == .serverBusy
        }
      } else {
        #expect(try await FaultBench.content(at: bench.device) == .base, "nobody sees an open write")
      }
      let closes = blow == .network || part == .row && blow.endsTheAgent
      if blow.endsTheAgent { bench.disk.die(afterChanges: 2) }
      if closes, blow == .network { try await put(bytes..<120_000) }
      if closes {
        isAcknowledged = (try? await store.closeWrite(opened.handle, owner: FaultBench.app)) != nil
      }
    }
    try await bench.carryOn(after: blow)
    if bench.mode == .inPlace { try await bench.whole() }
    let after = try await FaultBench.content(at: bench.device)
    #expect(after == new || !isAcknowledged && after == .base)
    if blow == .network { #expect(isAcknowledged) }
    let end = try await bench.settle()
    #expect(end.content == after && !end.hadConflict)
  }

  // MARK: Sync

  /// Runs until the blow has fallen, and what is left of the blow.
  static func hit(
    _ bench: FaultBench, _ blow: Blow, at moment: Moment, _ begin: @escaping @Sendable (SyncEngine) async -> Void
  ) async throws {
    bench.arm(blow) { moment.isHere($0) }
    let engine = bench.device.agent.engine
    let task = bench.suite.cluster.start { await begin(engine) }
    try await bench.other.until("the moment of the blow", within: .seconds(60)) { bench.strike.hasHit }
    try await bench.carryOn(after: blow)
    task.cancel()
    try await task.value()
  }

  /// i–q
  private static func push(
    _ bench: FaultBench, _ operation: RowOperation, _ blow: Blow, _ part: FaultBench.Part, _ moment: Moment
  ) async throws {
    let conflict = operation.propagates
    if conflict {
      #expect(await bench.change(part, to: 3, at: bench.other))
      try await bench.other.until("the other's version is at the cloud") { try await bench.other.isSettled() }
    }
    #expect(await bench.change(part, to: 2, at: bench.device))
    try await hit(bench, blow, at: moment) { engine in
      try? await engine.syncNow(FaultBench.table, write: true, read: false)
    }
    if blow.endsTheAgent {
      let found = try #require(bench.found)
      #expect(operation.signs.contains("S"))
      if operation.signs.contains("F"), moment == .download {
        #expect(found.conflicts == 1, "F: the conflict is known from local state")
      } else {
        #expect(found.pending == 1, "S: the push is known from local state")
      }
    }
    let end = try await bench.settle()
    #expect(end.content == part.changed(2), "what was acknowledged is not lost")
    #expect(end.hadConflict == conflict, "P")
  }

  /// s–x
  private static func pull(
    _ bench: FaultBench, _ operation: RowOperation, _ blow: Blow, _ part: FaultBench.Part, _ moment: Moment
  ) async throws {
    let conflict = operation.propagates
    #expect(await bench.change(part, to: 3, at: bench.other))
    try await bench.other.until("the other's version is at the cloud") { try await bench.other.isSettled() }
    if conflict { #expect(await bench.change(part, to: 2, at: bench.device)) }
    try await hit(bench, blow, at: moment) { engine in
      try? await engine.syncNow(FaultBench.table, write: false, read: true)
    }
    if blow.endsTheAgent {
      let found = try #require(bench.found)
      #expect(found.pending == 0 || blow == .powerCut, "the end of the push before may not have been on the disk")
      #expect(found.conflicts == (operation.signs.contains("F") && moment == .download ? 1 : 0), "F")
      #expect(found.dirty == (operation.signs.isDisjoint(with: "TO") ? 0 : 1), "T, O")
    }
    let end = try await bench.settle()
    #expect(end.content == part.changed(conflict ? 2 : 3))
    #expect(end.hadConflict == conflict, "P")
  }

  /// r
  private static func notified(_ bench: FaultBench, _ blow: Blow) async throws {
    try await bench.device.register()
    try await bench.device.clock.sleep(for: .seconds(10))
    let other = bench.other
    bench.mayBecome(FaultBench.Part.row.changed(3))
    try await hit(bench, blow, at: .notification) { _ in
      _ = try? await other.store.write(
        FaultBench.table, cells: [CellValue("number", .integer(3))], contents: [ObjectValue("photo", Content.bytes(3))],
        selection: Selection("name = ?", [.text(FaultBench.name)]))
    }
    let end = try await bench.settle()
    #expect(end.content == FaultBench.Part.row.changed(3) && !end.hadConflict)
  }
}
