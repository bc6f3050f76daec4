public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What changes in the answer to a query, from the answer itself on, until the task is cancelled. What happens while
/// nobody asks for the next difference is told as one. The agent keeps what was told, not what is to be told, so a slow
/// reader costs nothing.
///
/// Its iteration throws, and is over then: `networkNotConnected` when the agent has gone, `tableNotFound` when the
/// table was dropped, `invalidData` and `schemaViolation` for a selection or an order that the table does not take,
/// `limitExceeded` for an answer that is too large or for too many live queries.
public struct LiveRows: AsyncSequence, Sendable {
  /// What has changed.
  public typealias Element = LiveDifference
  let table: Table
  let selection: Table.Selection
  let columns: [String]
  let order: [(column: String, descending: Bool)]
  let limit: Int?
  let shown: [LiveRow]

  /// Waits for differences, one after the other. It is for one task; the query ends with it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let query: OpenLiveQuery
    private var shown: [LiveRow]
    private var isOver = false

    init(_ rows: LiveRows) { (query, shown) = (OpenLiveQuery(rows), rows.shown) }

    /// The next difference; nil: the calling task was cancelled.
    public mutating func next() async throws(CaravanError) -> LiveDifference? {
      guard !isOver else { return nil }
      do throws(CaravanError) {
        let difference = try await query.next()
        guard !shown.isEmpty else { return difference }
        return try since(difference)
      } catch {
        isOver = true
        query.end()
        if Task.isCancelled { return nil }
        throw error
      }
    }

    /// Of the first difference, which is the whole answer, what is new to an app that shows rows already.
    private mutating func since(_ difference: LiveDifference) throws(CaravanError) -> LiveDifference {
      var now: [LiveRow] = []
      try difference.apply(to: &now)
      var news = LiveDifference(from: shown, to: now)
      (news.isComplete, news.refusal) = (difference.isComplete, difference.refusal)
      shown = []
      return news
    }
  }

  /// From the answer as it is on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  func request(_ live: UInt64) throws(CaravanError) -> BeginLive {
    guard limit.map({ $0 > 0 }) ?? true else {
      throw CaravanError(.invalidData, "a live query of \(limit ?? 0) rows shows nothing: give 1 or more, or no limit")
    }
    return BeginLive(
      table: table.name, columns: columns, selection: try selection.wire(),
      order: order.map { CaravanWire.OrderBy(column: $0.column, descending: $0.descending) },
      limit: UInt32(clamping: limit ?? 0), live: live)
  }
}

/// A live query at the agent: it begins with the first difference, and ends when nobody holds it.
private final class OpenLiveQuery: Sendable {
  private enum State {
    case new
    /// It may have begun.
    case asked
    case ended
  }

  private let rows: LiveRows
  private let live: LiveRef
  private let state = Mutex(State.new)
  private var connection: AppConnection { rows.table.connection }

  init(_ rows: LiveRows) {
    self.rows = rows
    live = LiveRef(live: rows.table.connection.newNumber())
  }

  deinit { end() }

  /// All parts of the next difference.
  func next() async throws(CaravanError) -> LiveDifference {
    try await begin()
    var difference = LiveDifference()
    while true {
      guard case .livePart(let part) = try await connection.request(.nextLive(live)) else {
        throw AppConnection.surprise("live query")
      }
      if part.restarts { difference = LiveDifference() }
      for step in part.steps { try difference.add(step) }
      (difference.isComplete, difference.refusal) = (part.complete, part.refused?.model())
      if !part.more { return difference }
    }
  }

  private func begin() async throws(CaravanError) {
    let isNew = state.withLock { state in
      guard case .new = state else { return false }
      state = .asked
      return true
    }
    if isNew { try await connection.done(.beginLive(try rows.request(live.live))) }
  }

  func end() {
    let wasAsked = state.withLock { state in
      defer { state = .ended }
      if case .asked = state { return true }
      return false
    }
    if wasAsked { connection.notify(.endLive(live)) }
  }
}

extension Table {
  /// What a query finds, and then whatever changes in that: rows that come, go, move and become others. What any app of
  /// this device writes shows at once, before it is sent, and is taken back when the cloud has refused it and the table
  /// has; rows of others show when they come.
  ///
  /// Of a table that keeps a part of its rows (UNI-15) the answer also has rows that only the cloud has. What the
  /// device holds of a row is what counts, a deletion as well. The cloud is asked over links that the table's
  /// registration to read and the device's policy allow, as long as somebody waits for differences, at most every ten
  /// seconds: at the beginning, when the table has been pulled further, after a new connection, and when a row that was
  /// shown has left the device. Until it has answered, and while it cannot be asked, `LiveDifference.isComplete` is
  /// false.
  ///
  ///     var shown: [LiveRow] = []
  ///     for try await change in photos.live(.init("stars > 3"), orderBy: [("taken", descending: true)], limit: 100) {
  ///       try change.apply(to: &shown)
  ///     }
  ///
  /// - Parameters:
  ///   - selection: as in `rows`; what the cloud is to answer as well is in the query language.
  ///   - columns: that the rows have; none: all.
  ///   - order: by which rows follow each other; those of equal rank, and all without it, do so by their ids.
  ///   - limit: how many rows the answer has at most; nil: 10,000, and more of them end the sequence.
  ///   - shown: rows that are shown already, of a former connection: the first difference is from these.
  /// - Returns: differences, the first one at once.
  public func live(
    _ selection: Selection = .all, columns: [String] = [],
    orderBy order: [(column: String, descending: Bool)] = [], limit: Int? = nil, after shown: [LiveRow] = []
  ) -> LiveRows {
    LiveRows(table: self, selection: selection, columns: columns, order: order, limit: limit, shown: shown)
  }
}
