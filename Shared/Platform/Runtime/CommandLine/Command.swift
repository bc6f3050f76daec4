internal import CCaravanRelease
internal import CaravanModel

/// Why a command line does not lead to work.
public enum CommandLineStop: Error, Equatable, Sendable {
  /// Asked for: standard output, exit code 0.
  case help(String)
  /// One line that says what is wrong: standard error, exit code 2.
  case usage(String)
}

public enum ExitCode {
  public static let success: Int32 = 0
  /// The work failed.
  public static let failure: Int32 = 1
  /// The command line was wrong.
  public static let usage: Int32 = 2
}

/// What the command line said: the flags' values, and what is left.
public struct Options: Sendable {
  /// Arguments that are no flags, in order.
  public let operands: [String]
  private let values: [String: String]
  private let declared: Set<String>
  private let given: Set<String>

  init(operands: [String], values: [String: String], declared: Set<String>, given: Set<String>) {
    self.operands = operands
    self.values = values
    self.declared = declared
    self.given = given
  }

  /// Whether the command line itself says it, and not the environment, a file or a default.
  public func isGiven<Value>(_ flag: Flag<Value>) -> Bool { given.contains(flag.declaration.name) }

  /// The flag must be among the command's.
  public subscript<Value: FlagValue>(_ flag: Flag<Value>) -> Value {
    precondition(declared.contains(flag.declaration.name), "--\(flag.declaration.name) is not declared")
    let given = values[flag.declaration.name].flatMap { Value(flagText: $0) }
    guard let value = given ?? flag.defaultValue else {
      preconditionFailure("--\(flag.declaration.name) is required, and parsing let it pass")
    }
    return value
  }
}

/// The command line of one executable, or of one subcommand of it.
public struct Command: Sendable {
  /// As people type it: `caravan-storage`, `caravan device enrol`.
  public let name: String
  public let summary: String
  /// What its help says behind that; empty: nothing.
  let details: String
  let operands: Operands
  let flags: [FlagDeclaration]
  /// What else the file of `--config` may say, which is another command's.
  let otherSettings: [FlagDeclaration]

  /// Arguments that are no flags.
  public struct Operands: Sendable {
    let text: String
    let count: ClosedRange<Int>

    public static let none = Operands("", 0...0)

    /// - Parameter text: how the help names them: `NAME [FILE…]`.
    public init(_ text: String, _ count: ClosedRange<Int>) {
      self.text = text
      self.count = count
    }
  }

  /// - Parameter readingSettingsOf: the flags of another command, where the file of `--config` is that one's: what this
  ///   one has no use for must be right, and is passed over.
  public init(
    _ name: String, _ summary: String, details: String = "", operands: Operands = .none, flags: FlagList = [],
    readingSettingsOf other: FlagList = []
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operands = operands
    self.flags = flags.declarations
    otherSettings = other.declarations
    precondition(Set(self.flags.map(\.name)).count == self.flags.count, "\(name) declares a flag twice")
  }

  /// What the arguments leave out, the environment says, then the file of `--config`, then the flag's default.
  /// - Parameters:
  ///   - arguments: without the name of the executable.
  ///   - environment: its variables.
  public func parse(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws(CommandLineStop) -> Options {
    var values: [String: String] = [:]
    var rest = arguments[...]
    var operands: [String] = []
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { throw .help(help) }
      if argument == "--version" { throw .help(Self.release(of: name)) }
      if argument == "--" {
        operands += rest
        break
      }
      guard argument.hasPrefix("--") else {
        guard Self.isOperand(argument) else { throw usage("there is no flag '\(argument)'") }
        operands.append(argument)
        continue
      }
      let (flag, value) = try read(argument, &rest)
      if let earlier = values[flag.name] {
        guard flag.isList else { throw usage("--\(flag.name) is given twice") }
        values[flag.name] = "\(earlier),\(value)"
      } else {
        values[flag.name] = value
      }
    }
    let given = Set(values.keys)
    let settings = try settings(values, environment)
    for flag in flags where values[flag.name] == nil {
      values[flag.name] = try fallback(flag, environment, settings)
    }
    try checkCompany(values.merging(settings) { given, _ in given })
    try check(operands)
    return Options(operands: operands, values: values, declared: Set(flags.map(\.name)), given: given)
  }

  /// `caravan-sync 0.2.0 (commit 1a2b3c4d5e6f)`
  static func release(of program: String) -> String {
    let commit = unsafe String(cString: CRelease_commit)
    return "\(program.prefix { $0 != " " }) \(Release.version) (commit \(commit))\n"
  }

  /// No flag begins with a digit, so `-5` is a number.
  private static func isOperand(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), argument != "-" else { return true }
    return argument.dropFirst().first?.isWholeNumber ?? false
  }

  private func read(
    _ argument: String, _ rest: inout ArraySlice<String>
  ) throws(CommandLineStop) -> (FlagDeclaration, String) {
    let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let flag = flags.first(where: { $0.name == parts[0] }) else {
      throw usage("there is no flag '--\(parts[0])'")
    }
    let value: String
    if parts.count == 2 {
      value = String(parts[1])
    } else if flag.isSwitch {
      value = "true"
    } else if let next = rest.popFirst() {
      value = next
    } else {
      throw usage("--\(flag.name) needs a value")
    }
    if let complaint = flag.complaint(value) { throw usage("--\(flag.name): \(complaint)") }
    return (flag, value)
  }

  private func fallback(
    _ flag: FlagDeclaration, _ environment: [String: String], _ settings: [String: String]
  ) throws(CommandLineStop) -> String? {
    if let variable = flag.environment, let value = environment[variable], !value.isEmpty {
      if let complaint = flag.complaint(value) { throw usage("\(variable): \(complaint)") }
      return value
    }
    if let value = settings[flag.name] { return value }
    guard !flag.isRequired else {
      throw usage("--\(flag.name) is required\(flag.environment.map { " (or \($0))" } ?? "")")
    }
    return nil
  }

  private func checkCompany(_ values: [String: String]) throws(CommandLineStop) {
    for flag in flags + otherSettings {
      guard let company = flag.company, let value = values[flag.name], !flag.isSwitch || Bool(flagText: value) == true,
        values[company.flag] != company.value
      else { continue }
      throw usage("--\(flag.name) says nothing without --\(company.flag) \(company.value): give both, or neither")
    }
  }

  private func check(_ given: [String]) throws(CommandLineStop) {
    if given.count > operands.count.upperBound {
      throw usage("'\(given[operands.count.upperBound])' is one argument too many")
    }
    if given.count < operands.count.lowerBound { throw usage("\(operands.text) is missing") }
  }

  /// For a command line that can be read and means nothing.
  package func usage(_ problem: String) -> CommandLineStop { .usage("\(name): \(problem); see \(name) --help") }
}

/// `[files, .logLevel]`: flags of different types in one list.
public struct FlagList: Sendable, ExpressibleByArrayLiteral {
  let declarations: [FlagDeclaration]

  private init(_ declarations: [FlagDeclaration]) { self.declarations = declarations }
  public init(arrayLiteral elements: any AnyFlag...) { self.init(elements.map(\.erased)) }

  public static func + (a: FlagList, b: FlagList) -> FlagList { FlagList(a.declarations + b.declarations) }
}

/// A `Flag` of some type.
public protocol AnyFlag: Sendable {
  var erased: FlagDeclaration { get }
}

extension Flag: AnyFlag {
  public var erased: FlagDeclaration { declaration }
}
