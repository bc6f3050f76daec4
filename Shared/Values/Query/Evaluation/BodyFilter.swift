package import CaravanModel

/// A row filter as a store applies it to the bodies that it reads. It is a class since the compiler (Swift 6.3) crashes
/// at a `consuming` function of a struct that holds the tree.
package final class BodyFilter: Sendable {
  private let expression: Expression<Condition>
  private let fields: Set<UInt32>

  package init(_ filter: RowFilter) {
    expression = filter.expression
    fields = Set(expression.leaves.map(\.field))
  }

  /// Whether a row of this body is surely none that the reader wants.
  /// - Parameter body: encoded `Fields`; of what is none, or of a newer release, nothing is sure.
  package func excludes(_ body: [UInt8]) -> Bool {
    guard let found = try? BodyCells(scanning: body, fields: fields) else { return false }
    // A filter has no NOT, so what may be is as good as what is.
    return expression.truth { condition in
      found.known(condition.field, condition.kind).map(condition.truth) ?? .yes
    } != .yes
  }
}

extension RowFilter {
  /// The same as a tree.
  package var expression: Expression<Condition> {
    do throws(CaravanError) {
      var postfix = Postfix<Condition>("filter")
      for term in terms {
        switch term {
        case .test(let test): postfix.add(.leaf(Condition(test)))
        case .all(let count): try postfix.combineAll(count)
        case .any(let count): try postfix.combineAny(count)
        }
      }
      return try postfix.whole()
    } catch { preconditionFailure("a filter that was checked is refused: \(error)") }
  }
}

extension Condition {
  fileprivate init(_ test: RowFilter.Test) {
    guard let asked = Test(test.comparison, test.value) else {
      preconditionFailure("a filter that was checked compares (\(test.comparison)) with a list")
    }
    self.init(field: test.field, kind: test.kind, asked)
  }
}
