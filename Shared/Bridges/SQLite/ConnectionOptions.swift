internal import CaravanModel
public import CaravanRuntime

public struct ConnectionOptions: Sendable {
  /// When a commit returns (https://sqlite.org/pragma.html#pragma_synchronous).
  public enum Durability: Sendable, Hashable {
    /// After fsync: what was acknowledged survives a power cut (WAL, `synchronous=FULL`).
    case full
    /// What was acknowledged survives a crash of the process; a power cut may undo the newest commits.
    case normal
    /// Never waits for the disk; for simulations and what can be rebuilt.
    case none
  }

  public var isReadOnly = false
  public var durability = Durability.full
  /// How long a locked database is waited for.
  public var busyMilliseconds = 5_000
  /// Memory for pages, at most.
  public var cacheBytes = 2 << 20
  /// Pages read through the page cache of the kernel instead of copied, of at most this many bytes; 0: none.
  public var mappedBytes = 0
  /// Pages in the write-ahead log at which a commit also writes them back; 0: only `checkpoint` does.
  public var checkpointPages = 1_000
  /// Only when the file is made.
  public var pageBytes = 4_096
  /// Whether the file can be made smaller in steps (`PRAGMA incremental_vacuum`). Only when it is made.
  public var returnsPages = false
  /// Asked before anything changes on the disk.
  public var tap: (any DiskTap)?
  /// Asked before every step of a statement.
  public var statements: (any StatementTap)?

  public init() {}

  func apply(to connection: Connection) throws(CaravanError) {
    try connection.execute("PRAGMA busy_timeout=\(busyMilliseconds);")
    if !isReadOnly {
      let vacuum = returnsPages ? "PRAGMA auto_vacuum=INCREMENTAL;" : ""
      try connection.execute(
        "PRAGMA page_size=\(pageBytes); \(vacuum) PRAGMA journal_mode=WAL;")
    }
    let synchronous =
      switch durability {
      case .full: "FULL"
      case .normal: "NORMAL"
      case .none: "OFF"
      }
    // secure_delete: Debian builds SQLite with it on; zeroing deleted content costs every update page writes and
    // protects nothing on a disk that is as readable as the rest of the file.
    try connection.execute(
      """
      PRAGMA synchronous=\(synchronous);
      PRAGMA cache_size=-\(max(1, cacheBytes >> 10));
      PRAGMA mmap_size=\(mappedBytes);
      PRAGMA wal_autocheckpoint=\(checkpointPages);
      PRAGMA temp_store=MEMORY;
      PRAGMA secure_delete=OFF;
      PRAGMA foreign_keys=ON;
      """)
  }
}
