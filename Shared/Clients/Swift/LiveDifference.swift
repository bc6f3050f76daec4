public import CaravanModel
internal import CaravanWire

/// A row of the answer to a live query.
public struct LiveRow: Sendable, Hashable, Identifiable {
  /// What it is.
  public let row: AppRow
  /// It is on this device. Otherwise it is as the cloud had it when it was last asked: of a table that keeps a part of
  /// its rows.
  public let isHere: Bool
  /// The row's id.
  public var id: String { row.id }
}

/// What has changed in the answer to a live query since the difference before; the first one is from nothing.
///
/// Whoever keeps the rows that are shown has `apply` bring them up to date. Who moves them one by one, in a list on the
/// screen, takes away what is deleted and what moves, by the former places; puts in what moved and what is inserted, by
/// the new places, from the first on; and then shows anew what is updated. No more rows move than have to.
public struct LiveDifference: Sendable, Hashable {
  /// A row that is in the answer no more.
  public struct Deletion: Sendable, Hashable {
    /// The row's id.
    public let id: String
    /// Its place in the former answer.
    public let index: Int
  }

  /// A row that is in both answers, and not where the others that stay leave it.
  public struct Move: Sendable, Hashable {
    /// The row's id.
    public let id: String
    /// Its place in the former answer.
    public let from: Int
    /// Its place in the new one.
    public let to: Int
  }

  /// A row as it is now.
  public struct Change: Sendable, Hashable {
    /// What it is.
    public let row: LiveRow
    /// Its place in the new answer.
    public let index: Int
  }

  /// By their places, ascending.
  public internal(set) var deletions: [Deletion] = []
  /// By their new places, ascending.
  public internal(set) var moves: [Move] = []
  /// Rows that were not in the former answer, by their places, ascending.
  public internal(set) var insertions: [Change] = []
  /// Rows that are in both answers and have changed, also how they stand to the cloud, by their places, ascending.
  public internal(set) var updates: [Change] = []
  /// The answer lacks no row, for all the device knows: the table keeps all of its rows here, or the cloud has been
  /// asked for the others. If not, rows that only the cloud has may be missing, or be as they were.
  public internal(set) var isComplete = false
  /// Why the cloud could not be asked, or did not tell all; nil: it did, or it has not been asked yet.
  public internal(set) var refusal: CaravanError?

  /// No row is another one: only whether the answer is complete may be.
  public var isEmpty: Bool { deletions.isEmpty && moves.isEmpty && insertions.isEmpty && updates.isEmpty }

  init() {}

  /// Makes the new answer of the former one.
  /// - Parameter rows: the former answer; the new one, afterwards.
  /// - Throws: `invalidData` when the difference is not of this answer; then nothing has changed.
  public func apply(to rows: inout [LiveRow]) throws(CaravanError) {
    let fits =
      deletions.allSatisfy { rows.indices.contains($0.index) && rows[$0.index].id == $0.id }
      && moves.allSatisfy { rows.indices.contains($0.from) && rows[$0.from].id == $0.id }
    let changed = Dictionary((insertions + updates).map { ($0.index, $0.row) }, uniquingKeysWith: { $1 })
    guard fits, places.apply(to: &rows, { changed[$0] }) else {
      throw CaravanError(
        .invalidData, "the difference is not of these rows: apply each one, in its order, to what the ones before made")
    }
  }

  private var places: ListDifference {
    var places = ListDifference()
    places.deletions = deletions.map(\.index)
    places.moves = moves.map { ListDifference.Move(from: $0.from, to: $0.to) }
    places.insertions = insertions.map(\.index)
    places.updates = updates.map(\.index)
    return places
  }

  /// What makes one answer of another: what an app shows, of what it has shown in a former connection.
  /// - Parameters:
  ///   - old: the former answer.
  ///   - new: the new one.
  init(from old: [LiveRow], to new: [LiveRow]) {
    let places = ListDifference(from: old.map(\.id), to: new.map(\.id)) { old[$0] != new[$1] }
    deletions = places.deletions.map { Deletion(id: old[$0].id, index: $0) }
    moves = places.moves.map { Move(id: new[$0.to].id, from: $0.from, to: $0.to) }
    insertions = places.insertions.map { Change(row: new[$0], index: $0) }
    updates = places.updates.map { Change(row: new[$0], index: $0) }
  }

  mutating func add(_ step: LiveStep) throws(CaravanError) {
    let (from, to) = (Int(step.from), Int(step.to))
    switch step.kind {
    case .deleted(let id): deletions.append(Deletion(id: id, index: from))
    case .moved(let id): moves.append(Move(id: id, from: from, to: to))
    case .inserted(let row): insertions.append(Change(row: try LiveRow(row, step), index: to))
    case .updated(let row): updates.append(Change(row: try LiveRow(row, step), index: to))
    case nil: throw AppConnection.surprise("live query")
    }
  }
}

extension LiveRow {
  fileprivate init(_ row: CaravanWire.Row, _ step: LiveStep) throws(CaravanError) {
    self.init(row: try AppRow(row), isHere: !step.elsewhere)
  }
}
