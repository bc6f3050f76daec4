import CaravanAgentCore
import CaravanModel
import Testing

@testable import CaravanAgentStore

/// Who follows a live query of a store: the rows that it shows, as an app would.
struct LiveFollower {
  let store: LocalStore
  let owner: UInt64
  let handle: UInt64
  var shown: [AnswerRow] = []

  init(_ f: StoreFixture, _ order: [ReadRequest.OrderTerm] = [.init("name")]) async throws {
    try await self.init(f.store, LiveRequest(table: StoreFixture.photos, order: order), owner: f.owner)
  }

  init(_ store: LocalStore, _ request: LiveRequest, owner: UInt64) async throws {
    (self.store, self.owner) = (store, owner)
    handle = try await store.beginLive(request, owner: owner)
  }

  var names: [String] { shown.map { Self.name($0.view) } }

  static func name(_ row: RowView) -> String {
    guard case .text(let name)? = row.cells.first(where: { $0.column == "name" })?.value else { return "" }
    return name
  }

  func part() async throws -> DifferencePart {
    try await store.claimLive(handle, owner: owner)
    return try await store.nextLive(handle, owner: owner)
  }

  /// The rest of a difference, behind these of its steps.
  /// - Returns: how many parts it had.
  @discardableResult
  mutating func rest(_ steps: [DifferenceStep] = []) async throws -> Int {
    var (steps, parts) = (steps, 0)
    while true {
      let part = try await part()
      parts += 1
      if part.restarts { steps = [] }
      steps += part.steps
      if !part.hasMore { break }
    }
    apply(steps)
    return parts
  }

  /// Whatever there is to tell now; waits for nothing.
  mutating func poll() async throws {
    var steps: [DifferenceStep] = []
    while let part = try await partIfAny() {
      if part.restarts { steps = [] }
      steps += part.steps
      guard !part.hasMore else { continue }
      apply(steps)
      steps = []
    }
  }

  /// Who does not wait any more is told what there is.
  private func partIfAny() async throws -> DifferencePart? {
    try await withThrowingTaskGroup(of: DifferencePart?.self) { group in
      group.cancelAll()
      group.addTask { [self] in
        do { return try await part() } catch let error as CaravanError where error.code == .cancelled { return nil }
      }
      return try await group.next() ?? nil
    }
  }

  private mutating func apply(_ steps: [DifferenceStep]) {
    var difference = ListDifference()
    var rows: [Int: AnswerRow] = [:]
    for step in steps {
      switch step {
      case .deleted(_, let from): difference.deletions.append(from)
      case .moved(_, let from, let to): difference.moves.append(.init(from: from, to: to))
      case .inserted(let row, let to):
        difference.insertions.append(to)
        rows[to] = row
      case .updated(let row, let to):
        difference.updates.append(to)
        rows[to] = row
      }
    }
    let isApplied = difference.apply(to: &shown) { rows[$0] }
    #expect(isApplied)
  }
}
