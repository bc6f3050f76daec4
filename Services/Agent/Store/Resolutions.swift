internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Conflict resolution of one table by one session: choices are gathered and take effect together.
struct ResolutionSession {
  struct Choice {
    let resolution: Resolution
    /// By column, of a new value.
    let cells: [Int: SQLValue]
    /// Columns whose value is taken from the cloud's copy.
    let fromTheirs: [Int]
  }

  let owner: UInt64
  var choices: [String: Choice] = [:]
}

/// Which tables' conflicts are being resolved. What arrives for one of them waits (SIM-25).
final class Resolutions {
  var sessions: [TableID: ResolutionSession] = [:]
}
