/// A JSON value (RFC 8259). Integers and doubles stay apart; objects keep the order of their members.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSON])
  case object(Object)

  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var intValue: Int64? { if case .int(let value) = self { value } else { nil } }
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }
  public var objectValue: Object? { if case .object(let value) = self { value } else { nil } }

  /// Any number as a double.
  public var doubleValue: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// The member of that name, if this is an object that has one.
  public subscript(_ name: String) -> JSON? { objectValue?[name] }
}

extension JSON {
  /// Members in the order they were added or read, each name once. Look-up is linear: objects here are small.
  public struct Object: Hashable, Sendable {
    public struct Member: Hashable, Sendable {
      public let name: String
      public var value: JSON

      public init(_ name: String, _ value: JSON) {
        self.name = name
        self.value = value
      }
    }

    public private(set) var members: [Member]

    public init() { members = [] }

    /// In the order of the names, so that the text does not depend on a dictionary's order.
    public init(sorting values: [String: JSON]) {
      members = values.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) }
    }

    /// Setting an existing name keeps its place; setting nil removes it.
    public subscript(_ name: String) -> JSON? {
      get { members.first { $0.name == name }?.value }
      set {
        let index = members.firstIndex { $0.name == name }
        switch (index, newValue) {
        case (let index?, let value?): members[index].value = value
        case (let index?, nil): members.remove(at: index)
        case (nil, let value?): members.append(Member(name, value))
        case (nil, nil): break
        }
      }
    }

    /// For the parser, which has already refused repeated names.
    init(distinct members: [Member]) { self.members = members }
  }
}

extension JSON.Object: ExpressibleByDictionaryLiteral {
  /// A repeated name keeps its last value.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    var object = Object()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }
}
