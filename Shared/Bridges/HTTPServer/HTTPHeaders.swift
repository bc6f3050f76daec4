/// Header fields in order. Names are kept in lower case and compared so (RFC 9110, 5.1).
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  public struct Field: Sendable, Equatable {
    public let name: String
    public let value: String
  }

  public private(set) var fields: [Field] = []

  public init() {}

  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name, value) }
  }

  /// All values of the field, joined by commas (RFC 9110, 5.3); setting replaces them all.
  public subscript(_ name: String) -> String? {
    get {
      let values = fields.filter { $0.name == name.lowercased() }.map(\.value)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      fields.removeAll { $0.name == name.lowercased() }
      if let newValue { add(name, newValue) }
    }
  }

  /// Adds a field even if there is one of this name, as `set-cookie` needs.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name.lowercased(), value: value))
  }
}
