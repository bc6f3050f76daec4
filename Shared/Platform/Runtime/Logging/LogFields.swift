public import CaravanEncoding

/// Keys and values of one line, in the order given: `[.zone: zone, .count: 3]`. Integers, doubles and booleans stay
/// what they are, a `Duration` becomes seconds, anything else its description.
public struct LogFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  public private(set) var json: JSON.Object

  public init(dictionaryLiteral elements: (LogKey, any CustomStringConvertible)...) {
    json = JSON.Object()
    for (key, value) in elements { json[key.rawValue] = Self.json(value) }
  }

  public subscript(_ key: LogKey) -> JSON? {
    get { json[key.rawValue] }
    set { json[key.rawValue] = newValue }
  }

  /// Later values win.
  func adding(_ other: LogFields) -> LogFields {
    var sum = self
    for member in other.json.members { sum.json[member.name] = member.value }
    return sum
  }

  private static func json(_ value: any CustomStringConvertible) -> JSON {
    switch value {
    case let text as String: .string(text)
    case let integer as any BinaryInteger: Int64(exactly: integer).map(JSON.int) ?? .string(integer.description)
    case let number as Double: .double(number)
    case let flag as Bool: .bool(flag)
    case let duration as Duration: .double(duration.seconds)
    default: .string(value.description)
    }
  }
}
