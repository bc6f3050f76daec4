/// Statements that go to the server together and are answered in one round trip. A failure ends it: what comes behind
/// is not run. Without a BEGIN in it, all of it is one transaction.
public struct Pipeline {
  struct Request {
    let statement: StatementText
    let types: [PostgresType]
    /// Where each value lies in `bytes`; nil: NULL.
    let values: [Range<Int>?]
  }

  private(set) var requests: [Request] = []
  private(set) var bytes: [UInt8] = []

  public init() {}

  public var count: Int { requests.count }
  /// Of the values.
  public var byteCount: Int { bytes.count }

  /// - Returns: its place among the results.
  @discardableResult
  public mutating func add<each Value: Parameter>(_ sql: StaticString, _ values: repeat each Value) -> Int {
    var types: [PostgresType] = []
    var ranges: [Range<Int>?] = []
    for value in repeat each values { encode(value, &types, &ranges) }
    return add(Request(statement: .literal(sql), types: types, values: ranges))
  }

  /// A statement that was put together.
  /// - Parameter isKept: the server keeps it prepared for the connection's life: only for statements of which there are
  ///   few.
  /// - Returns: its place among the results.
  @discardableResult
  public mutating func add(text sql: String, isKept: Bool = false, _ values: [any Parameter] = []) -> Int {
    var types: [PostgresType] = []
    var ranges: [Range<Int>?] = []
    for value in values { encode(value, &types, &ranges) }
    return add(Request(statement: isKept ? .kept(sql) : .once(sql), types: types, values: ranges))
  }

  private mutating func add(_ request: Request) -> Int {
    requests.append(request)
    return requests.count - 1
  }

  private mutating func encode<Value: Parameter>(
    _ value: Value, _ types: inout [PostgresType], _ ranges: inout [Range<Int>?]
  ) {
    let start = bytes.count
    types.append(Value.type)
    ranges.append(value.encode(into: &bytes) ? start..<bytes.count : nil)
  }
}

/// What is sent as a statement.
enum StatementText {
  /// Prepared once, and known by its address.
  case literal(StaticString)
  /// Prepared once, and known by its text.
  case kept(String)
  case once(String)
}
