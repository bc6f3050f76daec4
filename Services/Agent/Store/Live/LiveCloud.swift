public import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// A row that the cloud has found for a live query.
public struct LiveCloudRow: Sendable, Hashable {
  public let view: RowView
  /// By the terms of the query's order.
  public let ranks: [LiveRank]
  /// Of memory, about.
  public let bytes: Int

  public init(view: RowView, ranks: [LiveRank], bytes: Int) {
    self.view = view
    self.ranks = ranks
    self.bytes = bytes
  }
}

/// A page of what the cloud finds.
public struct LiveCloudPage: Sendable, Hashable {
  public var rows: [LiveCloudRow]
  public var hasMore: Bool

  public init(rows: [LiveCloudRow], hasMore: Bool) {
    self.rows = rows
    self.hasMore = hasMore
  }
}

/// What a live query does not find on the device and asks the cloud.
public struct LiveCloudQuestion: Sendable, Hashable {
  public let request: LiveRequest
  /// Of one page.
  public let limit: Int
  /// How far the table has been pulled.
  public let token: [UInt8]
}

/// What a live query knows of its table's rows in the cloud.
struct LiveCloud {
  /// What the cloud found last, by id.
  var copies: [[UInt8]: LiveCloudRow] = [:]
  /// Pages of an answer of which more is to come.
  var arriving: [LiveCloudRow] = []
  var lack = LiveAnswer.Lack.unasked
  /// The cloud may have rows for the answer that the device held when it was asked, or that did not fit in.
  var isStale = true
  /// How far the table had been pulled, and how many connections there had been, when it was last asked.
  var asked: (token: [UInt8], connections: UInt64)?
  var nextAsk: Instant
  /// Raised when there may be a reason to ask.
  let signal = Signal()

  /// Whether the cloud may answer otherwise than it did. A table that has come no further and a connection that has
  /// lasted are no reason; nor is a question that the cloud does not understand.
  func isDue(token: [UInt8], connections: UInt64) -> Bool {
    guard let asked, !isStale else { return true }
    if asked.connections != connections || asked.token != token { return true }
    guard case .refused(let error) = lack else { return lack == .unasked }
    return error.isTransient
  }

  /// The table keeps all its rows, or shows none: nothing of the cloud counts.
  mutating func reset() {
    (copies, arriving, lack, isStale, asked) = ([:], [], .unasked, true, nil)
  }
}

/// What the agent learns of the cloud that concerns live queries. Callable from anywhere, returns at once.
public final class CloudNews: Sendable {
  private struct State {
    var connections: UInt64 = 0
    var waiting: [UInt64: (table: TableID, signal: Signal)] = [:]
  }

  private let state = Mutex(State())

  /// There is a connection to the cloud that there was not.
  public func connected() {
    let signals = state.withLock { state in
      state.connections += 1
      return state.waiting.values.map(\.signal)
    }
    for signal in signals { signal.raise() }
  }

  /// A sync of the table has ended.
  public func synced(_ table: TableID) {
    let signals = state.withLock { $0.waiting.values.filter { $0.table == table }.map(\.signal) }
    for signal in signals { signal.raise() }
  }

  var connections: UInt64 { state.withLock { $0.connections } }
  func begin(_ handle: UInt64, _ table: TableID, _ signal: Signal) {
    state.withLock { $0.waiting[handle] = (table, signal) }
  }
  func end(_ handle: UInt64) { state.withLock { $0.waiting[handle] = nil } }
}
