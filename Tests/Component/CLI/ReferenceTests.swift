import CaravanLaunch
import CaravanRuntime
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: the reference has every command and flag, as `--help` says them. Method: the page is made from the commands'
/// declarations and compared with the one that is committed.
@Suite("The reference of commands")
struct ReferenceTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let page = root.appendingPathComponent("Services/CLI/REFERENCE.md")
  private static let settings = root.appendingPathComponent("Deploy/agent-conf.md")

  /// Links to the commands, a line for those that begin with the same word.
  private static func contents(_ commands: [Command]) -> String {
    var (groups, words) = ([String: [String]](), [String]())
    for command in commands {
      let parts = command.name.split(separator: " ").dropFirst().map(String.init)
      if groups[parts[0]] == nil { words.append(parts[0]) }
      let anchor = command.name.replacingOccurrences(of: " ", with: "-")
      groups[parts[0], default: []].append("[\(parts.dropFirst().joined(separator: " "))](#\(anchor))")
    }
    return words.map { word in
      let links = groups[word] ?? []
      // A command of one word is its group's name.
      let alone = links.first.map { $0.hasPrefix("[](") ? "[\(word)]" + $0.dropFirst(2) : nil } ?? nil
      let others = links.dropFirst(alone == nil ? 0 : 1).joined(separator: ", ")
      return "- \(alone ?? word)\(others.isEmpty ? "" : ": \(others)")"
    }.joined(separator: "\n")
  }

  static func reference(_ commands: [Command]) -> String {
    let texts = commands.map { "## \($0.name)\n\n```text\n\($0.help)```\n" }
    return """
      # Commands

      This page is what `--help` says of each command, and a test compares it with the declarations in the code. A
      variable of the environment that a flag names holds where the flag is not given. Commands end with 0 when they are
      done, 1 when they were refused, with the reason on standard error, and 2 when they were not understood.

      \(contents(commands))

      \(texts.joined(separator: "\n"))
      """
  }

  @Test("REFERENCE.md is what the commands declare")
  func committed() throws {
    let wanted = Self.reference(Caravan.tools.map(\.command))
    #expect(wanted.contains("--nats H:P"))
    if ProcessInfo.processInfo.environment["CARAVAN_WRITE_DOCUMENTS"] != nil {
      try wanted.write(to: Self.page, atomically: true, encoding: .utf8)
    }
    #expect(
      try String(contentsOf: Self.page, encoding: .utf8) == wanted,
      "write it anew: CARAVAN_WRITE_DOCUMENTS=1 swift test --filter ReferenceTests")
  }

  /// The keys of agent.conf: what `--help` says of the flags, with the spelling of the file.
  static func settings(_ command: Command) -> String {
    let rows = command.help.split(separator: "\n").filter { $0.hasPrefix("  --") }.compactMap { line -> String? in
      let parts = line.dropFirst(4).replacingOccurrences(of: "|", with: "\\|").components(separatedBy: "  ")
      let key = parts[0].split(separator: " ", maxSplits: 1).map(String.init)
      let meaning = parts.dropFirst().joined(separator: "  ").trimmingCharacters(in: .whitespaces)
      guard let name = key.first, name != "help", name != "version", name != "config" else { return nil }
      return "| `\(name)` | \(key.count == 2 ? "`\(key[1])`" : "`true` or `false`") | \(meaning) |"
    }
    return """
      # agent.conf

      Each line of `/etc/caravan/agent.conf` is `key = value`; the keys are the flags of `caravan-agent`. The command
      line wins over the environment, and both win over the file. This page is made from the declarations in the code,
      and a test compares it with them. [device.md](device.md) says how the agent is installed.

      | key | value | meaning |
      |---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }

  @Test("agent-conf.md has every key of agent.conf, and the packaged file has no other")
  func keys() throws {
    let wanted = Self.settings(Command("caravan-agent", "", flags: .bus + .agent))
    if ProcessInfo.processInfo.environment["CARAVAN_WRITE_DOCUMENTS"] != nil {
      try wanted.write(to: Self.settings, atomically: true, encoding: .utf8)
    }
    #expect(
      try String(contentsOf: Self.settings, encoding: .utf8) == wanted,
      "write it anew: CARAVAN_WRITE_DOCUMENTS=1 swift test --filter ReferenceTests")
    let file = try String(
      contentsOf: Self.root.appendingPathComponent("Deploy/device/agent.conf"), encoding: .utf8)
    let keys = file.split(separator: "\n").compactMap { line -> String? in
      let parts = line.drop { $0 == "#" }.components(separatedBy: " = ")
      return parts.count == 2 && !parts[0].contains(" ") ? parts[0] : nil
    }
    #expect(keys.count > 8)
    for key in keys { #expect(wanted.contains("| `\(key)` |"), "\(key)") }
  }

  @Test("a flag more makes another page")
  func canary() {
    let plain = Command("caravan x", "Does x.")
    let more = Command("caravan x", "Does x.", flags: [Flag<Bool>("y", "with y")])
    #expect(Self.reference([plain]) != Self.reference([more]))
    #expect(Self.settings(plain) != Self.settings(more))
    #expect(Self.settings(more).contains("| `y` | `true` or `false` | with y |"))
  }
}
