public import CaravanModel

/// What becomes of a row.
public enum RowPlan {
  /// Of an entry that arrived, and of the row that it is about.
  public enum Arrived: Sendable, Hashable {
    /// It says nothing new of the row.
    case leave
    /// The entry waits: for its objects, or until its row is free.
    case hold
    /// An echo of a write this store knows nothing about: its file is older than what it has sent.
    case unexplained
    /// The row takes the entry's content and version, and is clean; where there is none, it is made.
    case take
    case remove
    /// The row keeps its content; the entry is kept as the cloud's copy, and this is the row's head.
    case contest(RowHead)
    /// The row's change is based on the entry, or is the entry: this is its head.
    case adopt(RowHead)
  }

  /// Of a row whose push has an answer.
  public struct Answered: Sendable, Hashable {
    public enum Effect: Sendable, Hashable {
      /// There is no such row any more.
      case gone
      /// The cloud has what the row's change was made from: it is sent again, based on that copy.
      case adopt
      /// Nothing is left to send; the ancestor goes.
      case clean
      /// The row was edited while in flight: what was sent is its ancestor now.
      /// - Parameter deletedAt: the version that the deletion which was sent has; nil: none was, or nobody said.
      case editedSince(deletedAt: Seq?)
      case remove(Removal)
      /// The cloud's copy is kept, and the app told.
      case contest
      /// - Parameter isInVain: what was sent may yet turn up at a cloud that was restored.
      case sendAgain(isInVain: Bool)
    }

    public var effect: Effect
    /// Of a row that stays.
    public var head: RowHead
    /// It can be lost no more.
    public var endsTolerance: Bool
    /// Entries of the row that wait and are not newer say nothing new; nil: all may.
    public var knownThrough: Seq?

    public init(effect: Effect, head: RowHead = RowHead(), endsTolerance: Bool = false, knownThrough: Seq? = nil) {
      self.effect = effect
      self.head = head
      self.endsTolerance = endsTolerance
      self.knownThrough = knownThrough
    }
  }

  /// Of a row whose conflict an app has decided.
  public enum Resolved: Sendable, Hashable {
    /// It is in no conflict any more.
    case leave
    /// The row takes the content of the cloud's copy.
    case take
    case remove(Removal)
    /// The row keeps its content, or takes the app's, and goes to the cloud, based on the cloud's copy.
    case keep(RowHead, merging: Bool)
  }

  /// What is known of the cloud's row when the row here goes.
  public enum Removal: Sendable, Hashable {
    /// The cloud took the deletion under this version.
    case deleted(Seq)
    /// The cloud had it as this version, or had deleted it by then: what came before is outdated.
    case outdated(Seq)
    case untold
  }
}
