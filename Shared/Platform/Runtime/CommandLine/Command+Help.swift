extension Command {
  /// Generated from the declarations; ends with a line feed.
  public var help: String {
    var usage = "usage: \(name)"
    for flag in flags where flag.isRequired { usage += " \(Self.spelling(flag))" }
    if flags.contains(where: { !$0.isRequired }) { usage += " [flags]" }
    if !operands.text.isEmpty { usage += " \(operands.text)" }
    let always = [("--help", "this text"), ("--version", "the release and its commit")]
    let rows = flags.map { (Self.spelling($0), Self.explanation($0)) } + always
    return [usage, summary, details, Self.table(rows)].filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private static func spelling(_ flag: FlagDeclaration) -> String {
    flag.isSwitch ? "--\(flag.name)" : "--\(flag.name) \(flag.placeholder)"
  }

  private static func explanation(_ flag: FlagDeclaration) -> String {
    var notes: [String] = []
    if flag.isRequired { notes.append("required") }
    if let value = flag.defaultText { notes.append("default: \(value)") }
    if let variable = flag.environment { notes.append("or \(variable)") }
    return notes.isEmpty ? flag.help : "\(flag.help) (\(notes.joined(separator: "; ")))"
  }

  static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  \($0)\(String(repeating: " ", count: width - $0.count))  \($1)\n" }.joined()
  }
}
