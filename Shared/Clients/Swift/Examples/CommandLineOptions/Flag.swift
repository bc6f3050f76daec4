/// A `--name VALUE` of a command line, declared once and read as its type.
public struct Flag<Value: FlagValue>: Sendable {
  let declaration: FlagDeclaration
  let fallback: Value?

  /// - Parameters:
  ///   - placeholder: how the help names the value; empty for a switch, which has none.
  ///   - environment: the variable that says it where the command line does not.
  ///   - default: what it is when nobody says it; nil: the flag is required, unless its type has a value for that.
  public init(
    _ name: String, _ placeholder: String, _ help: String, environment: String? = nil, default value: Value? = nil
  ) {
    self.init(name, placeholder, help, environment, value) { text in
      Value(flagText: text) == nil ? "'\(text)' is not \(Value.flagKind)" : nil
    }
  }

  /// - Parameter range: the smallest and the greatest value that are taken.
  public init(
    _ name: String, _ placeholder: String, _ help: String, default value: Value, in range: ClosedRange<Value>
  ) where Value: Comparable {
    self.init(name, placeholder, help, nil, value) { text in
      guard let value = Value(flagText: text), range.contains(value) else {
        return "'\(text)' is not \(Value.flagKind) from \(range.lowerBound) to \(range.upperBound)"
      }
      return nil
    }
  }

  private init(
    _ name: String, _ placeholder: String, _ help: String, _ environment: String?, _ value: Value?,
    complaint: @escaping @Sendable (String) -> String?
  ) {
    fallback = value ?? Value.absent
    declaration = FlagDeclaration(
      name: name, placeholder: placeholder, help: help, environment: environment, isRequired: fallback == nil,
      complaint: complaint)
  }
}

/// What is known of a flag without its type.
public struct FlagDeclaration: Sendable {
  let name: String
  let placeholder: String
  let help: String
  let environment: String?
  let isRequired: Bool
  /// Why a text is no value of this flag; nil: it is one.
  let complaint: @Sendable (String) -> String?

  var isSwitch: Bool { placeholder.isEmpty }
  var spelling: String { isSwitch ? "--\(name)" : "--\(name) \(placeholder)" }
}

/// A `Flag` of some type.
public protocol AnyFlag: Sendable {
  var erased: FlagDeclaration { get }
}

extension Flag: AnyFlag {
  public var erased: FlagDeclaration { declaration }
}

/// Flags of different types in one list.
public struct FlagList: Sendable, ExpressibleByArrayLiteral {
  let declarations: [FlagDeclaration]

  init(_ declarations: [FlagDeclaration]) { self.declarations = declarations }
  public init(arrayLiteral elements: any AnyFlag...) { self.init(elements.map(\.erased)) }

  public static func + (a: FlagList, b: FlagList) -> FlagList { FlagList(a.declarations + b.declarations) }
}
