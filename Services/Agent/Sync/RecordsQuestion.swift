public import CaravanAgentCore
public import CaravanModel

/// Which records of the cloud an app wants, and how much of them.
public struct RecordsQuestion: Sendable, Hashable {
  /// The app and the name of the record type.
  public var table: TableID
  /// Names of records.
  public var ids: [String]
  /// Names of fields; none: all.
  public var columns: [String]

  public init(table: TableID, ids: [String], columns: [String] = []) {
    self.table = table
    self.ids = ids
    self.columns = columns
  }
}

/// A part of an object of a record of the cloud.
public struct CloudObjectQuestion: Sendable, Hashable {
  /// The app and the name of the record type.
  public var table: TableID
  /// The record's name.
  public var id: String
  public var column: String
  /// Of the record; 0: as it is.
  public var version: Seq
  public var offset: UInt64
  public var length: Int

  public init(table: TableID, id: String, column: String, version: Seq, offset: UInt64, length: Int) {
    self.table = table
    self.id = id
    self.column = column
    self.version = version
    self.offset = offset
    self.length = length
  }
}

/// What an app changes in the cloud.
public struct RecordChanges: Sendable, Hashable {
  /// The app and the name of the record type.
  public var table: TableID
  /// In which the edits got their numbers.
  public var epoch: UInt64
  public var edits: [RecordEdit]

  public init(table: TableID, epoch: UInt64, edits: [RecordEdit]) {
    self.table = table
    self.epoch = epoch
    self.edits = edits
  }
}

/// A record as the cloud has it, and the columns that are shown of it.
public struct ShownRecord: Sendable, Hashable {
  public var entry: CaravanModel.Entry
  public var fields: RecordFields
  public var columns: [CaravanModel.FieldDefinition]

  public init(entry: CaravanModel.Entry, fields: RecordFields, columns: [CaravanModel.FieldDefinition]) {
    self.entry = entry
    self.fields = fields
    self.columns = columns
  }
}

/// What the cloud has under a name.
public enum FoundCloudRecord: Sendable, Hashable {
  case record(ShownRecord)
  /// None, or none that the user may see: the two are the same (CK-65).
  case missing
  case failed(CaravanError)
}

/// What became of an edit.
public enum RecordOutcome: Sendable, Hashable {
  /// - Parameters:
  ///   - version: 0: there was nothing to delete.
  ///   - modified: Unix milliseconds; 0: not known.
  ///   - writer: as `WriterName` has it.
  case done(version: Seq, modified: Int64, writer: String)
  /// The type's conflict policy has decided: the record is now so. nil: the answer had no room for it.
  case merged(ShownRecord?)
  /// The record is another one than the edit builds on: this one, or none.
  case conflict(ShownRecord?)
  case refused(CaravanError)
}
