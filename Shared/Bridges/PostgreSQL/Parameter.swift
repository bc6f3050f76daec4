public import CaravanModel

/// What a statement's parameter can be; sent in PostgreSQL's binary format.
public protocol Parameter {
  /// Of the type in `pg_type`: the built-in ones are the same everywhere.
  static var type: PostgresType { get }
  /// Appends the value. - Returns: false for NULL.
  func encode(into bytes: inout [UInt8]) -> Bool
}

/// Types that have a number known to every server (`pg_type.dat` of PostgreSQL).
public enum PostgresType: UInt32, Sendable {
  case bool = 16
  case bytea = 17
  case int8 = 20
  case int4 = 23
  case boolArray = 1000
  case byteaArray = 1001
  case int8Array = 1016

  var array: PostgresType {
    switch self {
    case .bool: .boolArray
    case .bytea: .byteaArray
    case .int8: .int8Array
    case .int4, .boolArray, .byteaArray, .int8Array: preconditionFailure("no arrays of \(self) are sent")
    }
  }
}

extension Int32: Parameter {
  public static var type: PostgresType { .int4 }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(bigEndian: UInt64(UInt32(bitPattern: self)), count: 4)
    return true
  }
}

extension Int64: Parameter {
  public static var type: PostgresType { .int8 }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(bigEndian: UInt64(bitPattern: self), count: 8)
    return true
  }
}

/// Kept bit by bit in a signed integer: `Row.unsigned` gives back every value; order holds below 2^63.
extension UInt64: Parameter {
  public static var type: PostgresType { .int8 }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(bigEndian: self, count: 8)
    return true
  }
}

extension Int: Parameter {
  public static var type: PostgresType { .int8 }
  public func encode(into bytes: inout [UInt8]) -> Bool { Int64(self).encode(into: &bytes) }
}

extension Bool: Parameter {
  public static var type: PostgresType { .bool }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(self ? 1 : 0)
    return true
  }
}

/// As `bytea`: bytes have one order everywhere, where collations differ from server to server.
extension String: Parameter {
  public static var type: PostgresType { .bytea }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(contentsOf: utf8)
    return true
  }
}

extension ChunkHash: Parameter {
  public static var type: PostgresType { .bytea }
  public func encode(into bytes: inout [UInt8]) -> Bool {
    append(to: &bytes)
    return true
  }
}

/// Bytes, as one `bytea`; an array of anything else is an array.
public struct Bytes: Parameter, Sendable {
  public static var type: PostgresType { .bytea }
  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func encode(into buffer: inout [UInt8]) -> Bool {
    buffer.append(contentsOf: bytes)
    return true
  }
}

extension Optional: Parameter where Wrapped: Parameter {
  public static var type: PostgresType { Wrapped.type }
  public func encode(into bytes: inout [UInt8]) -> Bool { self?.encode(into: &bytes) ?? false }
}

/// One dimension, numbered from 1.
extension Array: Parameter where Element: Parameter {
  public static var type: PostgresType { Element.type.array }

  /// Dimensions, whether there are NULLs, element type, length, first index; then each element with its length
  /// (`array_send` of PostgreSQL).
  public func encode(into bytes: inout [UInt8]) -> Bool {
    bytes.append(bigEndian: isEmpty ? 0 : 1, count: 4)
    let hasNulls = bytes.count
    bytes.append(bigEndian: 0, count: 4)
    bytes.append(bigEndian: UInt64(Element.type.rawValue), count: 4)
    guard !isEmpty else { return true }
    bytes.append(bigEndian: UInt64(count), count: 4)
    bytes.append(bigEndian: 1, count: 4)
    for element in self {
      let start = bytes.count
      bytes.append(bigEndian: 0, count: 4)
      if element.encode(into: &bytes) {
        bytes.set(bigEndian: UInt64(bytes.count - start - 4), at: start)
      } else {
        bytes.set(bigEndian: UInt64(UInt32.max), at: start)
        bytes.set(bigEndian: 1, at: hasNulls)
      }
    }
    return true
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: UInt64, count: Int) {
    for byte in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))) }
  }

  /// Overwrites four bytes.
  mutating func set(bigEndian value: UInt64, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(24 - 8 * byte)) }
  }
}
