/// Statements that go to the server together and are answered in one round trip. A failure ends it: what comes behind
/// is not run. Without a BEGIN in it, all of it is one transaction.
public struct Pipeline {
  struct Request {
    let sql: StaticString
    let types: [PostgresType]
    /// Where each value lies in `bytes`; nil: NULL.
    let values: [Range<Int>?]
  }

  private(set) var requests: [Request] = []
  private(set) var bytes: [UInt8] = []

  public init() {}

  public var count: Int { requests.count }

  /// - Returns: its place among the results.
  @discardableResult
  public mutating func add<each Value: Parameter>(_ sql: StaticString, _ values: repeat each Value) -> Int {
    var types: [PostgresType] = []
    var ranges: [Range<Int>?] = []
    for value in repeat each values { encode(value, &types, &ranges) }
    requests.append(Request(sql: sql, types: types, values: ranges))
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
