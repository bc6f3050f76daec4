internal import CCaravanPostgres

/// What one statement answered.
public final class Rows: RandomAccessCollection {
  fileprivate let result: OpaquePointer

  /// Takes the result over.
  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { Int(PQntuples(result)) }
  public subscript(_ index: Int) -> Row {
    precondition((0..<count).contains(index), "row \(index) of \(count) was asked for")
    return Row(rows: self, index: Int32(index))
  }
  /// Rows that an INSERT, UPDATE or DELETE touched.
  public var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// `COMMIT`, `ROLLBACK`, `INSERT 0 1`.
  public var tag: String { String(cString: PQcmdStatus(result)) }
}

/// One row, in binary format. Columns count from 0.
public struct Row {
  private let rows: Rows
  private let index: Int32

  fileprivate init(rows: Rows, index: Int32) {
    self.rows = rows
    self.index = index
  }

  public func isNull(_ column: Int32) -> Bool { PQgetisnull(rows.result, index, column) == 1 }

  /// Of a `smallint`, `integer` or `bigint`; 0 for NULL.
  public func integer(_ column: Int32) -> Int64 {
    let bytes = raw(column)
    var value: UInt64 = 0
    for byte in bytes { value = value << 8 | UInt64(byte) }
    let unused = 64 - 8 * bytes.count
    return unused == 64 ? 0 : Int64(bitPattern: value << unused) >> unused
  }

  /// What was sent as `UInt64`.
  public func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  public func flag(_ column: Int32) -> Bool { raw(column).first == 1 }

  /// The UTF-8 text in a `bytea`, or a `text`; empty for NULL.
  public func text(_ column: Int32) -> String { String(decoding: raw(column), as: UTF8.self) }

  /// Empty for NULL.
  public func bytes(_ column: Int32) -> [UInt8] { [UInt8](raw(column)) }
  public func byteCount(_ column: Int32) -> Int { Int(PQgetlength(rows.result, index, column)) }

  /// Of all columns.
  public var byteCount: Int {
    (0..<PQnfields(rows.result)).reduce(0) { $0 + Int(PQgetlength(rows.result, index, $1)) }
  }

  /// Appends the bytes without a copy between.
  public func append(_ column: Int32, to buffer: inout [UInt8]) { buffer.append(contentsOf: raw(column)) }

  /// The bytes where the client library has them, for the time of `body`.
  public func withBytes<Result>(_ column: Int32, _ body: (RawSpan) -> Result) -> Result {
    body(UnsafeRawBufferPointer(raw(column)).bytes)
  }

  private func raw(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let count = Int(PQgetlength(rows.result, index, column))
    guard count > 0, let start = PQgetvalue(rows.result, index, column) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self)
  }
}
