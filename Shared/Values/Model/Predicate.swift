/// How a field is compared with a value. A null field equals null only, differs from everything else, and is neither
/// less nor greater than anything; of the rest nothing is true of it.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
  case equal
  case notEqual
  case less
  case lessOrEqual
  case greater
  case greaterOrEqual
  /// Text or data that begins with the value.
  case prefix
  /// Text that matches a pattern, in which `%` stands for any characters and `_` for one.
  case like
  /// Text that has all words and phrases of the value, or any.
  case matchAll
  case matchAny
  /// A list that has all values of this list, or any.
  case containsAll
  case containsAny
  /// A list with a text that matches a pattern.
  case containsLike
  /// A place at most so far from another: a list of latitude, longitude (degrees) and metres.
  case near
  /// A place in a rectangle: a list of south, west, north and east, in degrees.
  case within
}

/// What records of one type must satisfy, in postfix order: comparisons, and combinations of the results before them.
/// An empty predicate is satisfied by every record.
public struct Predicate: Sendable, Hashable {
  /// A step of the evaluation: it adds a result, or combines the last ones to one.
  public enum Term: Sendable, Hashable {
    case compare(field: String, Comparison, Value)
    /// All of the last `n` results hold.
    case all(UInt32)
    /// At least one of the last `n` results holds.
    case any(UInt32)
    /// The last result does not hold. It stands behind a comparison of a null field as well: that is unknown, and so is
    /// its opposite.
    case not
  }

  /// At most `Limits.predicateTerms`, checked by whoever evaluates them.
  public var terms: [Term]
  /// Takes any terms: whether they come to one result is checked where the record type is known.
  public init(_ terms: [Term] = []) { self.terms = terms }
}
