internal import CaravanModel

/// What begins with a prefix is a range of the order an index has: from the prefix up to the first value beyond all of
/// those. Byte order of UTF-8 is code point order, so texts are bounded by a text.
enum PrefixRange {
  /// The smallest value greater than every one that begins with `prefix`; nil: there is none.
  static func upperBound(_ prefix: Value) -> Value? {
    switch prefix {
    case .text(let text): upperBound(text).map { .text($0) }
    case .data(let bytes): upperBound(bytes).map { .data($0) }
    case .reference(let reference): upperBound(reference.target).map { .reference(Reference(to: $0)) }
    case .null, .integer, .real, .asset, .assetList, .location, .list: nil
    }
  }

  /// The smallest text greater than every text that begins with `prefix`; nil: there is none.
  static func upperBound(_ prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      guard let next = successor(last) else { continue }
      scalars.append(next)
      var bound = String.UnicodeScalarView()
      bound.append(contentsOf: scalars)
      return String(bound)
    }
    return nil
  }

  /// The smallest byte string greater than every one that begins with `prefix`; nil: there is none.
  static func upperBound(_ prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
      if last < 0xff { return bytes + [last + 1] }
    }
    return nil
  }

  private static func successor(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    // Surrogates are no scalars.
    Unicode.Scalar(scalar.value == 0xd7ff ? 0xe000 : scalar.value + 1)
  }
}
