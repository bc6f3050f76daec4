/// What a store takes, and what it takes it for; in bytes, but where it says rows. For measurements.
public struct StoreWeight: Sendable, Equatable {
  /// Tables with their indexes, and room in them that nothing uses; without what is logged ahead of writes.
  public var tables: Int64 = 0
  /// Names and bodies of all records.
  public var records: Int64 = 0
  /// Entries of the logs, which say by ranges of versions who wrote them.
  public var log: Int64 = 0
  /// What says in each record who wrote it last.
  public var writers: Int64 = 0
  /// The same, were it a name everywhere.
  public var writerNames: Int64 = 0
  /// Entries that only snapshots have.
  public var supersededRows: Int64 = 0
  public var superseded: Int64 = 0

  public init() {}

  public static func + (a: StoreWeight, b: StoreWeight) -> StoreWeight {
    var sum = a
    sum.tables += b.tables
    sum.records += b.records
    sum.log += b.log
    sum.writers += b.writers
    sum.writerNames += b.writerNames
    sum.supersededRows += b.supersededRows
    sum.superseded += b.superseded
    return sum
  }
}
