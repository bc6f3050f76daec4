import Foundation

extension Rule {
  private static func isOurs(_ file: SourceFile) -> Bool { !file.path.hasPrefix("Shared/Messaging/Wire/Generated/") }

  static let fileSize = Rule(
    name: "a file has at most 400 lines",
    canary: SourceFile(path: "Shared/Messaging/Bus/Long.swift", text: String(repeating: "\n", count: 401))
  ) { file in
    guard isOurs(file), file.lines.count > 401 else { return [] }
    return [Violation(path: file.path, line: 401, reason: "\(file.lines.count - 1) lines: it holds two concerns")]
  }

  static let lineWidth = Rule(
    name: "a line has at most 120 columns",
    canary: SourceFile(path: "Shared/Messaging/Bus/Wide.swift", text: String(repeating: "x", count: 121))
  ) { file in
    guard isOurs(file) else { return [] }
    return file.lines.enumerated().filter { $0.element.count > 120 && !$0.element.contains("\"\"\"") }
      .map { Violation(path: file.path, line: $0.offset + 1, reason: "\($0.element.count) columns") }
  }

  static let functionSize = Rule(
    name: "a function has at most 70 lines",
    canary: SourceFile(
      path: "Shared/Messaging/Bus/Endless.swift", text: "func f() {\n" + String(repeating: "  a()\n", count: 70) + "}\n"
    )
  ) { file in
    guard isOurs(file) else { return [] }
    var violations: [Violation] = []
    var open: (line: Int, indent: Int)?
    for (number, line) in file.code.enumerated() {
      let indent = line.prefix { $0 == " " }.count
      if let start = open, indent == start.indent, line.trimmingPrefix(while: { $0 == " " }).hasPrefix("}") {
        if number - start.line + 1 > 70 {
          violations.append(
            Violation(path: file.path, line: start.line + 1, reason: "a function of \(number - start.line + 1) lines"))
        }
        open = nil
      } else if open == nil, line.range(of: #"\b(func|init)\b.*\{\s*$"#, options: .regularExpression) != nil {
        open = (number, indent)
      }
    }
    return violations
  }
}

extension Rule {
  private static let declaration =
    #"^ *(?:(?:public|package|private|fileprivate|final|indirect) )*(?:struct|class|enum|actor) "#
  private static let flag =
    #"^ *(?:(?:private|fileprivate|public|package)(?:\(set\))? )*var \w+(?:: Bool\b[^{]*| = (?:true|false))$"#

  /// What decides has one state, an enum, and facts; of many flags most combinations mean nothing.
  static let flagCount = Rule(
    name: "a type of Core has at most three stored flags",
    canary: SourceFile(
      path: "Services/Sync/Core/Flags.swift",
      text:
        "struct Flags {\n  var a = false\n  public var b: Bool\n  private(set) var c: Bool = true\n  var d = true\n}\n")
  ) { file in
    guard isOurs(file), file.path.contains("/Core/"), !file.path.hasPrefix("Tests/") else { return [] }
    var violations: [Violation] = []
    var open: [(line: Int, indent: Int, flags: Int)] = []
    for (number, line) in file.code.enumerated() {
      let indent = line.prefix { $0 == " " }.count
      if line.range(of: declaration, options: .regularExpression) != nil, line.hasSuffix("{") {
        open.append((number, indent, 0))
      } else if let type = open.last, indent == type.indent, line.dropFirst(indent).hasPrefix("}") {
        if type.flags > 3 {
          violations.append(
            Violation(path: file.path, line: type.line + 1, reason: "\(type.flags) stored flags: make them an enum"))
        }
        open.removeLast()
      } else if let type = open.last, indent == type.indent + 2,
        line.range(of: flag, options: .regularExpression) != nil
      {
        open[open.count - 1].flags += 1
      }
    }
    return violations
  }
}
