import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Testing

/// Goal: whenever the disk ends, nothing acknowledged is lost and nothing is there twice (I1, I7, R4, R6). Method: the
/// process is killed, or the power cut, before change n of the disk, for all n; then everything that was not
/// acknowledged is asked for again.
@Suite(.timeLimit(.minutes(5))) struct DiskFaultTests {
  enum End: String, Sendable, CaseIterable {
    case kill
    /// What was not synced is gone.
    case powerCut
    /// What was not synced is there in pieces.
    case scatteringCut
  }

  /// Some commits, one after the other, of a row with an object each.
  private static let commits = 3

  private static func commit(_ number: Int, _ place: StoreOperation.Place) async throws(CaravanError) -> CommitResult {
    let chunk = Sample.chunk(UInt8(number), size: 3_000)
    try await place.store.stage([chunk], in: place.database)
    return try await place.commit(
      UInt64(number),
      [Sample.save("r", body: [UInt8(number)], chunks: [chunk.hash]), Sample.save("s\(number)", base: .absent)])
  }

  /// A store that has seen one commit; closed, as files.
  private static func template(_ path: String) async throws {
    let store = try await StoreSQLite(options(path, nil), host: host)
    _ = try await commit(1, StoreOperation.Place(store, "ada"))
    await store.close()
  }

  private static let host = Host.live(logLevel: .error)

  private static func options(_ path: String, _ tap: (any DiskTap)?) -> StoreOptions {
    var options = StoreOptions.simulation(.directory(path))
    (options.durability, options.tap) = (.full, tap)
    return options
  }

  /// What is there where nothing goes wrong.
  private static func ideal(_ template: String, _ path: String) async throws -> String {
    copy(template, path)
    let store = try await StoreSQLite(options(path, nil), host: host)
    let place = try StoreOperation.Place(store, "ada")
    for number in 2...commits { _ = try await commit(number, place) }
    let state = try await place.state()
    await store.close()
    return state
  }

  private static func copy(_ from: String, _ to: String) {
    Files.makeDirectory(to)
    for name in Files.names(in: from) where name.hasPrefix("store-") && !name.hasSuffix("-shm") {
      Files.write(Files.read("\(from)/\(name)") ?? [], to: "\(to)/\(name)")
    }
  }

  @Test("I1, I7: the process or its power ends before change n of the disk, for all n", arguments: End.allCases)
  func everyChange(end: End) async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      try await Self.template("\(path)/template")
      let ideal = try await Self.ideal("\(path)/template", "\(path)/ideal")
      let stride = StatementFaultTests.isLong ? 1 : 3
      let phase = StatementFaultTests.isLong ? 0 : End.allCases.firstIndex(of: end) ?? 0
      var change = phase
      while try await Self.survive(change, end, "\(path)/template", "\(path)/\(change)", ideal) { change += stride }
      #expect(change > 10, "the tap was asked")
    }
  }

  /// - Returns: false: there are not so many changes.
  private static func survive(
    _ change: Int, _ end: End, _ template: String, _ base: String, _ ideal: String
  ) async throws -> Bool {
    var files = CrashFiles(base)
    copy(template, files.directory)
    let disk = FragileDisk(end == .scatteringCut ? .scattered(seed: UInt64(change)) : .dropped)
    let first = try await StoreSQLite(options(files.directory, disk), host: host)
    disk.die(afterChanges: change)
    let place = try StoreOperation.Place(first, "ada")
    var acknowledged: [Int: CommitResult] = [:]
    for number in 2...commits { acknowledged[number] = try? await commit(number, place) }
    let isOver = !disk.isDead
    disk.die(afterChanges: 0)
    files.die(powerCutOn: end == .kill ? nil : disk)
    await first.close()

    let second = try await StoreSQLite(options(files.directory, nil), host: host)
    let after = try StoreOperation.Place(second, "ada")
    for (number, result) in acknowledged {
      let again = try await second.commit(
        Commit(zone: after.zone, op: after.op(UInt64(number)), isAtomic: true, mutations: []))
      #expect(again == result, "commit \(number) was acknowledged before change \(change)")
    }
    for number in 2...commits { _ = try await commit(number, after) }
    let state = try await after.state()
    #expect(state == ideal, "\(end) before change \(change)")
    await second.close()
    TemporaryDirectory.removeTree(files.directory)
    return !isOver
  }

  @Test("I1, I7: the disk refuses change n once, for all n; the process goes on, and dies later")
  func everyRefusal() async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      try await Self.template("\(path)/template")
      let ideal = try await Self.ideal("\(path)/template", "\(path)/ideal")
      var change = 0
      while try await Self.goOn(change, "\(path)/template", "\(path)/\(change)", ideal) {
        change += StatementFaultTests.isLong ? 1 : 3
      }
      #expect(change > 10, "the tap was asked")
    }
  }

  @Test("a disk that refuses is said once, however much it refuses, and once when it takes writes again")
  func told() async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      let (clock, sink, disk) = (ManualClock(), MemoryLogSink(), RefusingDisk())
      let live = Host.live(logLevel: .error)
      let host = Host(
        clock: clock, random: live.random, executors: live.executors, log: Log(level: .info, clock: clock, sink: sink),
        metrics: MetricsRegistry())
      let store = try await StoreSQLite(Self.options(path, disk), host: host)
      let place = try StoreOperation.Place(store, "ada")
      func told(_ text: String) -> Int { sink.records.count { $0.message.contains(text) } }
      _ = try await Self.commit(1, place)
      disk.fill(true)
      for number in 2...9 {
        let error = await #expect(throws: CaravanError.self) { _ = try await Self.commit(number, place) }
        #expect(error?.code == .storageFull)
      }
      #expect(told("the disk refuses to write") == 1)
      disk.fill(false)
      _ = try await Self.commit(10, place)
      #expect(told("takes writes again") == 0, "a moment ago it refused")
      clock.advance(by: .seconds(6))
      for number in 11...12 { _ = try await Self.commit(number, place) }
      #expect(told("the disk refuses to write") == 1 && told("takes writes again") == 1)
      await store.close()
    }
  }

  private static func goOn(_ change: Int, _ template: String, _ base: String, _ ideal: String) async throws -> Bool {
    var files = CrashFiles(base)
    copy(template, files.directory)
    let disk = RefusingDisk()
    let first = try await StoreSQLite(options(files.directory, disk), host: host)
    disk.arm(change)
    let place = try StoreOperation.Place(first, "ada")
    for number in 2...commits {
      do throws(CaravanError) { _ = try await commit(number, place) } catch {
        #expect(error.isTransient, "\(error)")
        _ = try await commit(number, place)
      }
    }
    let live = try await place.state()
    #expect(live == ideal, "change \(change) was refused")
    files.die()
    await first.close()
    let second = try await StoreSQLite(options(files.directory, nil), host: host)
    let state = try await StoreOperation.Place(second, "ada").state()
    #expect(state == ideal, "change \(change) was refused, then the process was killed")
    await second.close()
    TemporaryDirectory.removeTree(files.directory)
    return disk.hasRefused
  }
}

/// Refuses one change, or all while it is full.
private final class RefusingDisk: DiskTap {
  private let isFull = Mutex(false)
  private let left = Mutex<Int?>(nil)
  private let refused = Mutex(false)

  var hasRefused: Bool { refused.withLock { $0 } }
  func arm(_ changes: Int) { left.withLock { $0 = changes } }

  func fill(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

  func allows(_ change: DiskChange, of path: String) -> Bool {
    if isFull.withLock({ $0 }) { return false }
    let isIt = left.withLock { left in
      guard let now = left else { return false }
      left = now == 0 ? nil : now - 1
      return now == 0
    }
    if isIt { refused.withLock { $0 = true } }
    return !isIt
  }
}
