public import CaravanModel

/// A leaf as it is written: what is asked of a field that is known by its name.
public struct Phrase: Sendable, Hashable, Negatable {
  /// What a field is compared with.
  public enum Operand: Sendable, Hashable {
    /// Which one of the `?`, from 0.
    case argument(Int)
    case literal(Value)
  }

  public let name: String
  /// Of the name's first byte in the text, from 1.
  public let position: Int
  public private(set) var test: Test<Operand>

  init(_ name: String, at start: Int, _ test: Test<Operand>) {
    self.name = name
    position = start + 1
    self.test = test
  }

  public var negated: Phrase {
    var other = self
    other.test = test.negated
    return other
  }
}
