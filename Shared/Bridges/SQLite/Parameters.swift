internal import CCaravanSQLite
public import CaravanModel

/// The parameters of a statement, to be bound one by one. They count from 1 and stay bound until they are bound anew.
public struct Parameters {
  let handle: OpaquePointer?
  let connection: Connection

  public func bind(_ value: Int64, at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_int64(handle, index, value))
  }

  /// Bit by bit, as everywhere.
  public func bind(_ value: UInt64, at index: Int32) throws(CaravanError) {
    try bind(Int64(bitPattern: value), at: index)
  }

  public func bind(_ value: Double, at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_double(handle, index, value))
  }

  public func bind(_ value: String, at index: Int32) throws(CaravanError) {
    var value = value
    let code = value.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        // An empty buffer may have no address, and no address binds NULL.
        CSQLite_bind_text_copy(handle, index, $0.baseAddress ?? Self.emptyText, UInt64($0.count))
      }
    }
    try connection.check(code)
  }

  public func bind(_ value: [UInt8], at index: Int32) throws(CaravanError) {
    let code = value.withUnsafeBufferPointer {
      $0.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : CSQLite_bind_blob_copy(handle, index, $0.baseAddress, UInt64($0.count))
    }
    try connection.check(code)
  }

  public func bindNull(at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_null(handle, index))
  }

  /// The address of a NUL byte in the executable.
  private static var emptyText: UnsafePointer<CChar> {
    UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
