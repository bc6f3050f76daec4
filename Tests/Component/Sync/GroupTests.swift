import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: SMSyncServer's promises on Caravan's protocol: groups of any size arrive as one or not at all, under a lock
/// that ends by itself, and every call may be made again. Method: devices that speak frames to real services, with
/// faults where the services are told to have them.
@Suite(.timeLimit(.minutes(2))) struct GroupTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]

  private static func saves(_ range: Range<Int>, _ type: CaravanModel.RecordType) -> [CaravanModel.Mutation] {
    range.map { .save("r\(10_000 + $0)", [1: .text("row \($0)")], type: type) }
  }

  @Test("REC-10, REC-23, UNI-05: what is uploaded is seen once it is committed, all of it at once")
  func visible() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let rows = Self.saves(0..<1_200, try await a.agree(Self.fields))
      #expect(try await a.begin(1).status == .notStarted)
      for part in 0..<3 { _ = try await a.upload(1, part, Array(rows[part * 400..<(part + 1) * 400])) }
      let staged = try await a.operation(1)
      #expect(staged.status == .notStarted && staged.parts == 3 && staged.records == 1_200)
      #expect(try await b.pull().entries.isEmpty)
      let result = try await a.commit(1, parts: 3)
      #expect(result.versions == (1...1_200).map { Seq($0) })
      #expect(try await a.operation(1).status == .successfulCompletion)
      var (names, token, more): ([String], [UInt8], Bool) = ([], [], true)
      while more {
        let page = try await b.pull(after: token)
        names += try page.entries.map(\.name)
        (token, more) = (page.token, page.more)
      }
      #expect(names == rows.map(\.name))
    }
  }

  @Test("REC-25, REC-26: a device that makes every call twice has done everything once")
  func twice() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      func twice<Value: Equatable>(_ call: () async throws -> Value) async throws -> Value {
        let first = try await call()
        #expect(try await call() == first)
        return first
      }
      let token = try await twice { try await a.lock().token }
      _ = try await twice { try await a.begin(1).status }
      _ = try await twice { try await a.upload(1, 0, Self.saves(0..<2, type)).operation?.records }
      _ = try await twice { try await a.upload(1, 1, Self.saves(2..<3, type)).operation?.records }
      let result = try await twice { try await a.commit(1, parts: 2, token: token) }
      #expect(result.versions == [1, 2, 3])
      _ = try await twice { try await a.operation(1).status }
      _ = try await twice { try await a.removeOperation(1) }
      _ = try await twice { try await a.unlock(token) }
      #expect(try await b.pull().entries.count == 3)
      #expect(try await b.lock().token > token)
    }
  }

  @Test(
    "REC-29, REC-21: wherever the server fails, before or after its work, making the same call again goes on",
    arguments: FaultPoint.allCases.filter { $0 != .transfer }, FaultSwitch.Side.allCases)
  func faults(point: FaultPoint, side: FaultSwitch.Side) async throws {
    let faults = try FaultSwitch("\(point.rawValue):\(side.rawValue)=2")
    try await CloudCluster.with(faults: faults) { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      func persistently<Value>(_ call: () async throws -> Value) async throws -> Value {
        for _ in 0..<2 {
          do { return try await call() } catch let error as CaravanError { #expect(error.code == .timedOut) }
        }
        return try await call()
      }
      let token = try await persistently { try await a.lock().token }
      _ = try await persistently { try await a.begin(1) }
      _ = try await persistently { try await a.upload(1, 0, Self.saves(0..<3, type)) }
      let result = try await persistently { try await a.commit(1, parts: 1, token: token) }
      #expect(result.versions == [1, 2, 3])
      #expect(try await persistently { try await a.operation(1).status } == .successfulCompletion)
      _ = try await persistently { try await a.unlock(token) }
      #expect(faults.left(point, side) == 0, "it has failed as it was told to")
      #expect(try await b.pull().entries.map(\.version) == [1, 2, 3])
    }
  }

  @Test("REC-12, REC-28: one device has the lock; it ends by itself; a commit under a lost lock is refused")
  func locks() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let mine = try await a.lock(milliseconds: 60_000)
      #expect(mine.remainingMilliseconds > 50_000)
      let refused = try #require(try await b.refusal(.lock(LockDatabase(container: "album"))))
      #expect(refused.code == .lockAlreadyHeld && (refused.retryAfterMilliseconds ?? 0) > 50_000)
      _ = try await cloud.device("c", of: "bob").lock()
      #expect(try await b.push(1, Self.saves(0..<1, type)).versions == [1], "it keeps nobody from pushing")
      #expect(try await a.lock(milliseconds: 1, token: mine.token).token == mine.token)
      try await eventually("the lock ends") {
        let answer = try? await b.ask(.lock(LockDatabase(container: "album")))
        return if case .lock? = answer { true } else { false }
      }
      _ = try await a.begin(2)
      _ = try await a.upload(2, 0, Self.saves(5..<6, type))
      let commit = CommitGroup(container: "album", zone: "photos", op: 2, parts: 1, atomic: true, token: mine.token)
      #expect(try await a.refusal(.commitGroup(commit))?.code == .lockNotHeld)
      let renewal = LockDatabase(container: "album", ttlMilliseconds: 1_000, token: mine.token)
      #expect(try await a.refusal(.lock(renewal))?.code == .lockNotHeld)
      #expect(try await a.commit(2, parts: 1).versions == [2], "without a lock the commit is on its own")
    }
  }

  @Test("REC-28: an operation that failed says so; one that nobody knows is refused as that")
  func failures() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, Self.saves(0..<1, type))
      _ = try await a.begin(2)
      _ = try await a.upload(2, 0, Self.saves(0..<3, type))
      let result = try await a.commit(2, parts: 1)
      guard case .conflict? = result.outcomes.first else { throw CaravanError(.internalError, "\(result)") }
      let failed = try await a.operation(2)
      #expect(failed.status == .failedBeforeTransfer && failed.failure?.code == "serverRecordChanged")
      _ = try await a.begin(3)
      #expect(try await a.settle(3) == .aborted)
      #expect(try await a.operation(3).status == .failedBeforeTransfer)
      let unknown = AskOperation(container: "album", zone: "photos", op: 9)
      #expect(try await a.refusal(.operation(unknown))?.code == .noOperationId)
      let nowhere = BeginGroup(container: "album", zone: DefaultZone.name, op: 10)
      #expect(try await a.refusal(.beginGroup(nowhere))?.code == .customZoneNeeded)
      let broken = UploadPart(
        container: "album", zone: "photos", op: 11, part: 0,
        mutations: [CaravanWire.Mutation(name: "x", kind: .save, type: type.id, body: [0xff])])
      #expect(try await a.refusal(.upload(broken))?.code == .invalidData)
    }
  }

  @Test("a switch is told what it understands, and says what it does not")
  func switches() throws {
    let faults = try FaultSwitch("setup,commit:after=2")
    #expect(faults.left(.setup) == 1 && faults.left(.commit, .after) == 2 && faults.left(.commit) == 0)
    for text in ["nowhere", "commit:during", "commit=0", "commit=x", "=1"] {
      #expect(throws: CaravanError.self, "\(text)") { try FaultSwitch(text) }
    }
  }
}

extension Device {
  func lock(milliseconds: UInt32 = 0, token: UInt64 = 0) async throws -> LockState {
    let result = try await ask(
      .lock(LockDatabase(container: "album", ttlMilliseconds: milliseconds, token: token)))
    guard case .lock(let state) = result else { throw result.refusal }
    return state
  }

  func unlock(_ token: UInt64) async throws -> Bool {
    let result = try await ask(.unlock(UnlockDatabase(container: "album", token: token)))
    guard case .done = result else { throw result.refusal }
    return true
  }

  func begin(_ op: UInt64) async throws -> OperationState {
    try await state(.beginGroup(BeginGroup(container: "album", zone: "photos", op: op)))
  }

  func operation(_ op: UInt64) async throws -> OperationState {
    try await state(.operation(AskOperation(container: "album", zone: "photos", op: op)))
  }

  private func state(_ operation: CaravanWire.Operation.Kind) async throws -> OperationState {
    let result = try await ask(operation)
    guard case .operation(let state) = result else { throw result.refusal }
    return state
  }

  func upload(_ op: UInt64, _ part: Int, _ mutations: [CaravanModel.Mutation]) async throws -> PartState {
    let upload = UploadPart(
      container: "album", zone: "photos", op: op, part: UInt32(part),
      mutations: mutations.map { CaravanWire.Mutation($0) })
    let result = try await ask(.upload(upload))
    guard case .part(let state) = result else { throw result.refusal }
    return state
  }

  func commit(_ op: UInt64, parts: UInt32, token: UInt64 = 0) async throws -> CommitResult {
    let commit = CommitGroup(container: "album", zone: "photos", op: op, parts: parts, atomic: true, token: token)
    let result = try await ask(.commitGroup(commit))
    guard case .commit(let reply) = result else { throw result.refusal }
    return try reply.model()
  }

  func removeOperation(_ op: UInt64) async throws -> Bool {
    let result = try await ask(.removeOperation(RemoveOperation(container: "album", zone: "photos", op: op)))
    guard case .done = result else { throw result.refusal }
    return true
  }
}

extension CaravanWire.Result.Kind {
  /// What a service refused with, or that it answered something else.
  fileprivate var refusal: any Error {
    if case .failure(let failure) = self { failure.model() } else { Unexpected(result: self) }
  }
}
