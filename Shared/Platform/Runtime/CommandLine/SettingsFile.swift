internal import CaravanModel

/// A configuration file: lines of `key = value`, where the keys are a command's flags without their dashes. A line that
/// begins with `#`, and what follows ` #` in a line, is a comment. A flag that may be given several times may here too.
///
///     # where the broker is
///     nats = tls://sync.example.org:4222
struct SettingsFile {
  struct Setting: Equatable {
    /// From 1.
    let line: Int
    let key: String
    let value: String
  }

  /// What is wrong with a line.
  struct Problem: Error {
    let line: Int
    let text: String
  }

  /// What is wrong with the file.
  struct Problems: Error, CustomStringConvertible {
    let list: [Problem]

    var description: String {
      list.sorted { $0.line < $1.line }.map { "line \($0.line): \($0.text)" }.joined(separator: "; ")
    }
  }

  private(set) var settings: [Setting] = []
  /// Of lines that are no settings.
  private var problems: [Problem] = []

  init(parsing text: String) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      do throws(Problem) {
        if let setting = try Self.setting(line, number: index + 1) { settings.append(setting) }
      } catch {
        problems.append(error)
      }
    }
  }

  /// The values by their flags' names, as the command line would give them.
  /// - Parameter others: of another command that reads the same file.
  /// - Throws: all that is wrong.
  func values(
    for flags: [FlagDeclaration], passingOver others: [FlagDeclaration]
  ) throws(Problems) -> [String: String] {
    var values: [String: (text: String, line: Int)] = [:]
    var problems = problems
    for setting in settings {
      do throws(Problem) { try take(setting, among: flags + others, into: &values) } catch { problems.append(error) }
    }
    guard problems.isEmpty else { throw Problems(list: problems) }
    return values.mapValues(\.text)
  }

  private func take(
    _ setting: Setting, among flags: [FlagDeclaration], into values: inout [String: (text: String, line: Int)]
  ) throws(Problem) {
    func problem(_ text: String) -> Problem { Problem(line: setting.line, text: text) }
    guard let flag = flags.first(where: { $0.name == setting.key }), flag.name != Command.configurationFlag else {
      throw problem("there is no setting '\(setting.key)'")
    }
    if let complaint = flag.complaint(setting.value) { throw problem("\(setting.key): \(complaint)") }
    if let earlier = values[flag.name] {
      guard flag.isList else { throw problem("'\(setting.key)' is set already in line \(earlier.line)") }
      values[flag.name] = ("\(earlier.text),\(setting.value)", setting.line)
    } else {
      values[flag.name] = (setting.value, setting.line)
    }
  }

  private static func setting(_ line: Substring, number: Int) throws(Problem) -> Setting? {
    let said = trimmed(withoutComment(line))
    guard !said.isEmpty else { return nil }
    let parts = said.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw Problem(line: number, text: "'\(said.prefix(80))' is not 'key = value'")
    }
    guard !parts[1].isEmpty else {
      throw Problem(line: number, text: "'\(parts[0])' has no value: give one, or put '#' before the line")
    }
    return Setting(line: number, key: String(parts[0]), value: String(parts[1]))
  }

  /// A `#` within a word, as in a URL, begins none.
  private static func withoutComment(_ line: Substring) -> Substring {
    var isAfterSpace = true
    for index in line.indices {
      if isAfterSpace && line[index] == "#" { return line[..<index] }
      isAfterSpace = line[index].isWhitespace
    }
    return line
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}

extension Command {
  static let configurationFlag = "config"

  /// What the file of `--config` says, where the command has the flag and a file is named.
  /// - Throws: `usage` naming the file and every line that is wrong.
  func settings(_ given: [String: String], _ environment: [String: String]) throws(CommandLineStop) -> [String: String]
  {
    guard let flag = flags.first(where: { $0.name == Self.configurationFlag }) else { return [:] }
    let named = given[flag.name] ?? flag.environment.flatMap { environment[$0] }
    guard let path = named, !path.isEmpty else { return [:] }
    do throws(CaravanError) {
      let text = try TextFile.read(path)
      do throws(SettingsFile.Problems) {
        return try SettingsFile(parsing: text).values(for: flags, passingOver: otherSettings)
      } catch {
        throw CaravanError(.invalidData, "\(path), \(error)")
      }
    } catch {
      throw usage(error.message)
    }
  }
}
