/// One `--name value` of a command line. Declared once and used as the key to its value:
///
///     let files = Flag<Int>("files", "N", "database files", default: 4, in: 1...64)
///     …
///     options[files]
///
/// A flag without a default is required, unless its type is optional or `Bool`. An environment variable stands in
/// for a flag that is not given.
public struct Flag<Value: FlagValue>: Sendable {
  private(set) var declaration: FlagDeclaration
  let defaultValue: Value?

  public init(
    _ name: String, _ placeholder: String, _ help: String, environment: String? = nil, default value: Value? = nil
  ) {
    self.init(name, placeholder, help, environment: environment, default: value, complaint: Self.complaint)
  }

  private init(
    _ name: String, _ placeholder: String, _ help: String, environment: String?, default value: Value?,
    complaint: @escaping @Sendable (String) -> String?
  ) {
    let value = value ?? Value.absent
    defaultValue = value
    declaration = FlagDeclaration(
      name: name, placeholder: placeholder, help: help, environment: environment, isSwitch: Value.isSwitch,
      isList: Value.isList, isRequired: value == nil, defaultText: Self.text(of: value), complaint: complaint)
  }

  /// The same flag, which says nothing unless another one has this value: then it is refused.
  public func only(with flag: String, _ value: String) -> Self {
    var copy = self
    copy.declaration.company = (flag, value)
    return copy
  }

  private static func complaint(about text: String) -> String? {
    Value(flagText: text) == nil ? "'\(text)' is not \(Value.flagKind)" : nil
  }

  private static func text(of value: Value?) -> String? {
    switch value {
    case nil, is Bool: nil
    case let duration as Duration: duration.flagText
    case let level as LogLevel: level.name
    case let texts as [String]: texts.isEmpty ? nil : texts.joined(separator: ",")
    case let value as any CustomStringConvertible: value.description.isEmpty ? nil : value.description
    default: nil
    }
  }
}

extension Flag where Value == Int {
  public init(
    _ name: String, _ placeholder: String, _ help: String, environment: String? = nil, default value: Int? = nil,
    in range: ClosedRange<Int>
  ) {
    self.init(name, placeholder, help, environment: environment, default: value) { text in
      guard let number = Int(text) else { return "'\(text)' is not \(Int.flagKind)" }
      return range.contains(number) ? nil : "\(number) is not within \(range.lowerBound) to \(range.upperBound)"
    }
  }
}

extension Flag where Value == Bool {
  /// Off unless given.
  public init(_ name: String, _ help: String, environment: String? = nil) {
    self.init(name, "", help, environment: environment)
  }
}

/// A flag without its type, for the parser and the help text. Made from a `Flag`.
public struct FlagDeclaration: Sendable {
  let name: String
  let placeholder: String
  let help: String
  let environment: String?
  let isSwitch: Bool
  let isList: Bool
  let isRequired: Bool
  let defaultText: String?
  /// What is wrong with a value; nil: nothing.
  let complaint: @Sendable (String) -> String?
  /// A flag and its value without which this one says nothing.
  var company: (flag: String, value: String)?
}

// MARK: Flags that several executables have

extension AnyFlag where Self == Flag<LogLevel> {
  public static var logLevel: Flag<LogLevel> {
    Flag(
      "log-level", "LEVEL", "least level that is logged: debug, info, warning, error",
      environment: "CARAVAN_LOG_LEVEL", default: .info)
  }
}

extension AnyFlag where Self == Flag<[String]> {
  public static var nats: Flag<[String]> {
    Flag("nats", "URL,…", "servers of the bus", environment: "CARAVAN_NATS", default: ["nats://127.0.0.1:4222"])
  }
}

extension AnyFlag where Self == Flag<String?> {
  public static var credentials: Flag<String?> {
    Flag("creds", "FILE", "credentials for the bus", environment: "CARAVAN_CREDS")
  }

  /// A command that has this flag reads what it is not told otherwise from the file: see `SettingsFile`.
  public static var configuration: Flag<String?> {
    Flag(
      "config", "FILE", "lines of 'flag = value', for what neither flag nor environment says",
      environment: "CARAVAN_CONFIG")
  }
}

extension AnyFlag where Self == Flag<String> {
  public static var data: Flag<String> {
    Flag("data", "DIR", "directory that keeps the data", environment: "CARAVAN_DATA")
  }
}
