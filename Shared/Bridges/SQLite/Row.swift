internal import CCaravanSQLite
public import CaravanModel

/// The row a statement stands at; valid until the statement moves on. Columns count from 0.
public struct Row {
  let handle: OpaquePointer

  public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// What was bound as `UInt64`.
  public func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: sqlite3_column_int64(handle, column)) }

  public func flag(_ column: Int32) -> Bool { sqlite3_column_int64(handle, column) != 0 }

  public func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// The text; empty for NULL.
  public func text(_ column: Int32) -> String {
    withUTF8(column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The blob; empty for NULL.
  public func bytes(_ column: Int32) -> [UInt8] { [UInt8](raw(column)) }

  public func byteCount(_ column: Int32) -> Int {
    // "sqlite3_column_blob() followed by sqlite3_column_bytes()" is the order that converts nothing
    // (https://sqlite.org/c3ref/column_blob.html).
    raw(column).count
  }

  /// Appends the blob or text without a copy between.
  public func append(_ column: Int32, to buffer: inout [UInt8]) { buffer.append(contentsOf: raw(column)) }

  /// The bytes where SQLite has them, for the time of `body`.
  public func withBytes<Result>(_ column: Int32, _ body: (RawSpan) throws(CaravanError) -> Result) throws(CaravanError)
    -> Result
  {
    try body(UnsafeRawBufferPointer(raw(column)).bytes)
  }

  /// What is in the column, as the type it has there.
  public func value(_ column: Int32) -> SQLValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(real(column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  private func raw(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    guard let start = sqlite3_column_blob(handle, column) else { return UnsafeBufferPointer(start: nil, count: 0) }
    let count = Int(sqlite3_column_bytes(handle, column))
    return UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
  }

  private func withUTF8<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    guard let start = sqlite3_column_text(handle, column) else {
      return body(UnsafeBufferPointer(start: nil, count: 0))
    }
    return body(UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}

/// A value of a column whose type is known at run time only; also bindable.
public enum SQLValue: Sendable, Hashable, Bindable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    switch self {
    case .null: try statement.bindNull(at: index)
    case .integer(let value): try statement.bind(value, at: index)
    case .real(let value): try statement.bind(value, at: index)
    case .text(let value): try statement.bind(value, at: index)
    case .blob(let value): try statement.bind(value, at: index)
    }
  }
}
