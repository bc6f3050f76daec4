internal import CCaravanSQLite
public import CaravanModel

/// A function that a statement calls with values of its rows: `row_function(?, column, …)`, of which this is the
/// value of the `?`. So a statement computes what SQL has no words for, and keeps its own order and limit.
///
/// It is passed as SQLite passes pointers, which no text of a statement can make up
/// (https://sqlite.org/bindptr.html).
public final class RowFunction: Bindable {
  /// The name that statements call it by.
  public static let name = "row_function"
  fileprivate static let type = "caravan row function" as StaticString

  fileprivate let body: (Arguments) -> SQLValue

  /// - Parameter body: it must not use the connection.
  public init(_ body: @escaping (Arguments) -> SQLValue) { self.body = body }

  /// The values that a statement hands over, the function itself left out; valid during the call. They count from 0.
  public struct Arguments {
    fileprivate let count: Int32
    fileprivate let values: UnsafeMutablePointer<OpaquePointer?>

    private func handle(_ index: Int) -> OpaquePointer? {
      precondition(index >= 0 && index + 1 < count, "argument \(index) of \(count - 1)")
      return values[index + 1]
    }

    /// As the type it has there.
    public func value(_ index: Int) -> SQLValue {
      switch sqlite3_value_type(handle(index)) {
      case SQLITE_INTEGER: .integer(integer(index))
      case SQLITE_FLOAT: .real(sqlite3_value_double(handle(index)))
      case SQLITE_TEXT: .text(text(index))
      case SQLITE_BLOB: .blob(bytes(index))
      default: .null
      }
    }

    public func integer(_ index: Int) -> Int64 { sqlite3_value_int64(handle(index)) }

    /// How many bytes a text or blob has.
    public func byteCount(_ index: Int) -> Int { Int(sqlite3_value_bytes(handle(index))) }

    /// The text; empty for NULL.
    public func text(_ index: Int) -> String { String(decoding: raw(index), as: UTF8.self) }

    /// The blob; empty for NULL.
    public func bytes(_ index: Int) -> [UInt8] { [UInt8](raw(index)) }

    private func raw(_ index: Int) -> UnsafeBufferPointer<UInt8> {
      let value = handle(index)
      guard let start = sqlite3_value_blob(value) else { return UnsafeBufferPointer(start: nil, count: 0) }
      return UnsafeBufferPointer(
        start: start.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_value_bytes(value)))
    }
  }

  public func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    try statement.bind(self, at: index)
  }
}

extension Parameters {
  /// The statement keeps the function until the parameter is bound anew.
  func bind(_ function: RowFunction, at index: Int32) throws(CaravanError) {
    let pointer = Unmanaged.passRetained(function).toOpaque()
    // "The destructor is called even if the call to sqlite3_bind_pointer() fails"
    // (https://sqlite.org/c3ref/bind_blob.html).
    let code = sqlite3_bind_pointer(handle, index, pointer, RowFunction.typeName) { pointer in
      if let pointer { Unmanaged<RowFunction>.fromOpaque(pointer).release() }
    }
    try connection.check(code)
  }
}

extension RowFunction {
  fileprivate static var typeName: UnsafePointer<CChar> {
    UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

extension Connection {
  /// Lets statements of this connection call row functions.
  public func allowRowFunctions() throws(CaravanError) {
    let code = sqlite3_create_function_v2(
      handle, RowFunction.name, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil,
      { context, count, values in
        guard let values, count > 0, let pointer = sqlite3_value_pointer(values[0], RowFunction.typeName) else {
          return sqlite3_result_error(context, "row_function is called with no function of ours", -1)
        }
        let function = Unmanaged<RowFunction>.fromOpaque(pointer).takeUnretainedValue()
        switch function.body(RowFunction.Arguments(count: count, values: values)) {
        case .null: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let text): CSQLite_result_text_copy(context, text, Int32(clamping: text.utf8.count))
        case .blob(let bytes):
          bytes.withUnsafeBufferPointer { CSQLite_result_blob_copy(context, $0.baseAddress, Int32(clamping: $0.count)) }
        }
      }, nil, nil, nil)
    try check(code)
  }
}
