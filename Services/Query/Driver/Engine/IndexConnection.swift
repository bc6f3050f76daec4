package import CaravanModel
package import CaravanQueryCore
package import CaravanRuntime

/// A connection to where an index lies, of one actor: every call may block. Both engines are given the same statements,
/// which know integers, texts and bytes, and compare texts by their bytes; what differs is in `IndexEngine`.
package protocol IndexConnection: AnyObject {
  /// Runs the statement, now or at the latest before the next one that reads or the end of the transaction.
  func run(_ statement: IndexStatement, _ values: [IndexValue]) throws(CaravanError)
  /// Calls `body` with each row until it answers false.
  func visit(
    _ statement: IndexStatement, _ values: [IndexValue],
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError)
  /// Like `visit`, of a statement that may find many rows, of which few are wanted at first; in a `reading`.
  /// - Parameter inOrder: an index has the order that the statement asks for.
  func stream(
    _ statement: IndexStatement, _ values: [IndexValue], wanted count: Int, inOrder: Bool,
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError)
  /// Holds a partition from now on, under this token of its lease: whoever held it before writes to it no more.
  func take(_ partition: Partition, under token: UInt64) throws(CaravanError)
  /// Whether it does still, as far as is known here.
  func holds(_ partition: Partition) -> Bool
  /// Runs `body` in one transaction that changes what there is of a partition: all of it counts, or nothing.
  /// - Throws: `unavailable` where another instance has taken the partition over.
  func writing(to partition: Partition, _ body: () throws(CaravanError) -> Void) throws(CaravanError)
  /// Runs `body` in one snapshot.
  func reading<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result
  /// Calls `mayGoOn` now and then while statements run, and ends them when it answers false: they throw `cancelled`.
  func watch(_ mayGoOn: (() -> Bool)?)
  func close()
}

/// Where an index is kept.
package protocol IndexPlace: Sendable {
  var engine: IndexEngine { get }
  /// The connection that writes. Makes the index where there is none of this release.
  func openForWriting(_ host: Host) throws(CaravanError) -> any IndexConnection
  func openForReading(_ host: Host) throws(CaravanError) -> any IndexConnection
}

/// The text of a statement, with a `?` for each of its values.
package enum IndexStatement: Sendable {
  /// It stands in the program.
  case literal(StaticString)
  /// It was put together.
  /// - Parameter isKept: it is likely to be run again as it is.
  case text(String, isKept: Bool)
}

/// What a statement is given.
package enum IndexValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
}

/// The columns of a row, which count from 0; valid until the statement moves on.
package protocol IndexColumns {
  /// 0 for NULL.
  func integer(_ column: Int32) -> Int64
  /// What was given as `UInt64`.
  func unsigned(_ column: Int32) -> UInt64
  /// Empty for NULL.
  func text(_ column: Int32) -> String
  func bytes(_ column: Int32) -> [UInt8]
  func byteCount(_ column: Int32) -> Int
}

extension IndexColumns {
  func isTrue(_ column: Int32) -> Bool { integer(column) != 0 }

  /// The database that three columns name: container, environment and owner.
  /// - Parameter first: the first of them.
  /// - Returns: nil: its environment is of another release.
  func database(at first: Int32 = 0) throws(CaravanError) -> DatabaseID? {
    guard let environment = Environment(rawValue: text(first + 1)) else { return nil }
    return try DatabaseID(
      container: ContainerID(text(first)), environment: environment, ownerText: text(first + 2))
  }
}

extension IndexConnection {
  func run<each Value: IndexValueConvertible>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(CaravanError) {
    try run(.literal(sql), Self.list(repeat each values))
  }

  /// Every row, read by `read`.
  func all<each Value: IndexValueConvertible, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (any IndexColumns) throws(CaravanError) -> Result
  ) throws(CaravanError) -> [Result] {
    var results: [Result] = []
    try visit(.literal(sql), Self.list(repeat each values)) { row throws(CaravanError) in
      results.append(try read(row))
      return true
    }
    return results
  }

  /// The first row, read by `read`; nil when there is none.
  func first<each Value: IndexValueConvertible, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (any IndexColumns) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    var result: Result?
    try visit(.literal(sql), Self.list(repeat each values)) { row throws(CaravanError) in
      result = try read(row)
      return false
    }
    return result
  }

  /// The id that a statement which returns one gives.
  func id<each Value: IndexValueConvertible>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(CaravanError) -> Int64 {
    guard let id = try first(sql, repeat each values, read: { $0.integer(0) }) else {
      throw CaravanError(.internalError, "the index has given no id to what was written")
    }
    return id
  }

  private static func list<each Value: IndexValueConvertible>(_ values: repeat each Value) -> [IndexValue] {
    var list: [IndexValue] = []
    for value in repeat each values { list.append(value.indexValue) }
    return list
  }
}

/// What statements of this service are given.
protocol IndexValueConvertible {
  var indexValue: IndexValue { get }
}

extension Int64: IndexValueConvertible { var indexValue: IndexValue { .integer(self) } }
extension Int: IndexValueConvertible { var indexValue: IndexValue { .integer(Int64(self)) } }
extension UInt32: IndexValueConvertible { var indexValue: IndexValue { .integer(Int64(self)) } }
/// Bit by bit; order holds below 2^63.
extension UInt64: IndexValueConvertible { var indexValue: IndexValue { .integer(Int64(bitPattern: self)) } }
extension Bool: IndexValueConvertible { var indexValue: IndexValue { .integer(self ? 1 : 0) } }
extension String: IndexValueConvertible { var indexValue: IndexValue { .text(self) } }
extension [UInt8]: IndexValueConvertible { var indexValue: IndexValue { .bytes(self) } }
extension Optional: IndexValueConvertible where Wrapped: IndexValueConvertible {
  var indexValue: IndexValue { self?.indexValue ?? .null }
}
