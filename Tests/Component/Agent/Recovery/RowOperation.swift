/// SIM-74, Table 7: the operations a row goes through under the paper's letters, what shows that one of them was cut
/// off, and how the row comes back. The matrix of failures holds the device to it.
enum RowOperation: String, Sendable, Hashable, CaseIterable {
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

  /// What is looked at to see the failure. T: TD; O: OD; C: OO; D: which chunks changed; S: SP; R: what the cloud
  /// answered; F: CF.
  typealias Signs = Set<Character>

  /// How the row comes back.
  enum Recovery: String, Sendable {
    /// The write stands, or never was.
    case none = "N"
    /// Flags go back, and the sync is done again.
    case reset = "R"
    /// The app hears of a conflict.
    case propagate = "P"
    /// From what is on the device.
    case local = "LR"
    /// With the cloud's help.
    case server = "SR"
  }

  /// As printed: of the row's cells, and of its objects.
  private var printed: (signs: (String, String), recovery: (String, String)) {
    switch self {
    case .readCells, .openObjectToRead, .readObject, .readRow, .notify, .pull: (("", ""), ("", ""))
    case .writeCells: (("T", ""), ("N", ""))
    case .openObjectToWrite: (("", "C"), ("", "R"))
    case .writeObject: (("", "CO"), ("", "LR SR"))
    case .writeRow: (("T", "CO"), ("N", "LR SR"))
    case .pushCells: (("S", ""), ("R", ""))
    case .pushCellsAnswered: (("SRF", ""), ("R P", ""))
    case .pushObject, .sendChunksOfObject: (("", "SD"), ("", "R"))
    case .pushObjectAnswered: (("", "SDR"), ("", "R LR"))
    case .fetchConflictOfObject: (("", "SDRF"), ("", "R LR P"))
    case .pushRow: (("S", "SD"), ("R", "R"))
    case .pushRowAnswered: (("SR", "SDR"), ("R LR", "R LR"))
    case .fetchConflictOfRow: (("SRF", "SDRF"), ("R LR P", "R LR P"))
    case .pullCellsAnswered: (("TRF", ""), ("R P", ""))
    case .pullObjectAnswered: (("", "R"), ("", "R"))
    case .fetchChunksOfObject: (("", "ORF"), ("", "R LR P"))
    case .pullRowAnswered: (("R", "R"), ("LR", "LR"))
    case .fetchChunksOfRow: (("TRF", "ORF"), ("LR P", "LR P"))
    }
  }

  /// Of the row, which is the unit (SIM-76).
  var signs: Signs { Set(printed.signs.0 + printed.signs.1) }

  var recovery: Set<Recovery> {
    Set("\(printed.recovery.0) \(printed.recovery.1)".split(separator: " ").compactMap { Recovery(rawValue: "\($0)") })
  }

  /// The app hears of a conflict in the end.
  var propagates: Bool { recovery.contains(.propagate) }
}
