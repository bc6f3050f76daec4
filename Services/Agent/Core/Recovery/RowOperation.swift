/// SIM-74, Table 7: the operations a row goes through under the paper's letters, what shows that one of them was cut
/// off, and how the row comes back.
public enum RowOperation: String, Sendable, Hashable, CaseIterable {
  case readCells = "a"
  case openObjectToRead = "b"
  case readObject = "c"
  case readRow = "d"
  case writeCells = "e"
  case openObjectToWrite = "f"
  case writeObject = "g"
  case writeRow = "h"
  case pushCells = "i"
  case pushCellsAnswered = "j"
  case pushObject = "k"
  case sendChunksOfObject = "l"
  case pushObjectAnswered = "m"
  /// The cloud's copy of an object in conflict arrives.
  case fetchConflictOfObject = "n"
  case pushRow = "o"
  case pushRowAnswered = "p"
  case fetchConflictOfRow = "q"
  case notify = "r"
  case pull = "s"
  case pullCellsAnswered = "t"
  case pullObjectAnswered = "u"
  case fetchChunksOfObject = "v"
  case pullRowAnswered = "w"
  case fetchChunksOfRow = "x"

  /// What is looked at to see the failure.
  public struct Signs: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// T: TD.
    public static let tableDirty = Signs(rawValue: 1)
    /// O: OD.
    public static let objectDirty = Signs(rawValue: 2)
    /// C: OO.
    public static let openObjects = Signs(rawValue: 4)
    /// D: which chunks changed.
    public static let dirtyChunks = Signs(rawValue: 8)
    /// S: SP.
    public static let syncPending = Signs(rawValue: 16)
    /// R: what the cloud answered.
    public static let response = Signs(rawValue: 32)
    /// F: CF.
    public static let conflict = Signs(rawValue: 64)
  }

  public struct Recovery: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// N: the write stands, or never was.
    public static let none = Recovery(rawValue: 1)
    /// R: flags go back, and the sync is done again.
    public static let reset = Recovery(rawValue: 2)
    /// P: the app hears of a conflict.
    public static let propagate = Recovery(rawValue: 4)
    /// LR: from what is on the device.
    public static let local = Recovery(rawValue: 8)
    /// SR: with the cloud's help.
    public static let server = Recovery(rawValue: 16)
  }

  /// One half of a row: its cells, or its objects.
  public struct Side: Sendable, Hashable {
    public let signs: Signs
    public let recovery: Recovery
  }

  /// Nil: a failure leaves no trace in this half, and needs nothing.
  public var cells: Side? {
    switch self {
    case .readCells, .openObjectToRead, .readObject, .readRow, .notify, .pull: nil
    case .openObjectToWrite, .writeObject, .pushObject, .sendChunksOfObject, .pushObjectAnswered,
      .fetchConflictOfObject, .pullObjectAnswered, .fetchChunksOfObject:
      nil
    case .writeCells, .writeRow: Side(signs: .tableDirty, recovery: .none)
    case .pushCells, .pushRow: Side(signs: .syncPending, recovery: .reset)
    case .pushCellsAnswered:
      Side(signs: [.syncPending, .response, .conflict], recovery: [.reset, .propagate])
    case .pushRowAnswered: Side(signs: [.syncPending, .response], recovery: [.reset, .local])
    case .fetchConflictOfRow:
      Side(signs: [.syncPending, .response, .conflict], recovery: [.reset, .local, .propagate])
    case .pullCellsAnswered:
      Side(signs: [.tableDirty, .response, .conflict], recovery: [.reset, .propagate])
    case .pullRowAnswered: Side(signs: .response, recovery: .local)
    case .fetchChunksOfRow:
      Side(signs: [.tableDirty, .response, .conflict], recovery: [.local, .propagate])
    }
  }

  public var objects: Side? {
    switch self {
    case .readCells, .openObjectToRead, .readObject, .readRow, .notify, .pull: nil
    case .writeCells, .pushCells, .pushCellsAnswered, .pullCellsAnswered: nil
    case .openObjectToWrite: Side(signs: .openObjects, recovery: .reset)
    case .writeObject, .writeRow: Side(signs: [.openObjects, .objectDirty], recovery: [.local, .server])
    case .pushObject, .sendChunksOfObject, .pushRow:
      Side(signs: [.syncPending, .dirtyChunks], recovery: .reset)
    case .pushObjectAnswered, .pushRowAnswered:
      Side(signs: [.syncPending, .dirtyChunks, .response], recovery: [.reset, .local])
    case .fetchConflictOfObject, .fetchConflictOfRow:
      Side(
        signs: [.syncPending, .dirtyChunks, .response, .conflict], recovery: [.reset, .local, .propagate])
    case .pullObjectAnswered: Side(signs: .response, recovery: .reset)
    case .fetchChunksOfObject:
      Side(signs: [.objectDirty, .response, .conflict], recovery: [.reset, .local, .propagate])
    case .pullRowAnswered: Side(signs: .response, recovery: .local)
    case .fetchChunksOfRow:
      Side(signs: [.objectDirty, .response, .conflict], recovery: [.local, .propagate])
    }
  }
}
