/// What a reader of a zone may want of its rows, in postfix order (UNI-15). A store need not bring the body of a row of
/// which it surely does not hold. So it only ever says less than the reader's own query does, and who reads the same
/// zone for the same query may use another filter, or none, with every page.
///
/// Fields are known by their ids, and what a field holds that is of another kind than the reader takes is null: so a
/// store need not know record types, and a row of any type is judged as the reader judges it.
public struct RowFilter: Sendable, Hashable {
  /// The field is compared as `Comparison` says; texts and data byte by byte, a real field also where it is an integer.
  public struct Test: Sendable, Hashable {
    /// The id of the field in its record type.
    public let field: UInt32
    /// What the reader takes the field for; a value of another kind is null to it.
    public let kind: FieldKind
    /// One of `equal` to `greaterOrEqual`.
    public let comparison: Comparison
    /// What the field is compared with; null is compared by `equal` and `notEqual` only.
    public let value: Value

    public init(_ field: UInt32, _ kind: FieldKind, _ comparison: Comparison, _ value: Value) {
      self.field = field
      self.kind = kind
      self.comparison = comparison
      self.value = value
    }
  }

  /// A step of the evaluation: it adds a result, or combines the last ones to one.
  public enum Term: Sendable, Hashable {
    case test(Test)
    /// All of the last `n` results hold.
    case all(UInt32)
    /// At least one of the last `n` results holds.
    case any(UInt32)
  }

  /// Checked when the filter was made: they come to exactly one result.
  public let terms: [Term]

  /// - Throws: `invalidData` for terms that come to no single result, or a comparison that can not be made;
  ///   `limitExceeded` beyond `Limits.predicateTerms`.
  public init(_ terms: [Term]) throws(CaravanError) {
    guard terms.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded, "a filter has \(terms.count) terms: the limit is \(Limits.predicateTerms)")
    }
    var results: UInt32 = 0
    for term in terms {
      switch term {
      case .test(let test):
        try test.check()
        results += 1
      case .all(let count), .any(let count):
        guard count > 0, count <= results else {
          throw CaravanError(.invalidData, "a filter combines \(count) of \(results) results: it takes 1 to that many")
        }
        results -= count - 1
      }
    }
    guard results == 1 else {
      throw CaravanError(.invalidData, "a filter leaves \(results) results: combine them to one")
    }
    self.terms = terms
  }
}

extension RowFilter.Test {
  fileprivate func check() throws(CaravanError) {
    let isOrder =
      switch comparison {
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
      case .prefix, .like, .matchAll, .matchAny, .containsAll, .containsAny, .containsLike, .near, .within: false
      }
    let fits =
      switch (kind, value) {
      case (.text, .text), (.integer, .integer), (.date, .integer), (.data, .data): isOrder
      case (.real, .real(let number)): isOrder && !number.isNaN
      case (.location, _), (.reference, _): false
      case (_, .null): comparison == .equal || comparison == .notEqual
      case (.text, _), (.integer, _), (.date, _), (.real, _), (.data, _), (.object, _): false
      }
    guard field > 0, fits else {
      throw CaravanError(
        .invalidData,
        "a filter compares (\(comparison.rawValue)) field \(field), \(kind.rawValue), with \(value.kindName): it cannot"
      )
    }
  }
}
