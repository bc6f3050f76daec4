import CaravanRuntime
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: the reference has every command and flag, as `--help` says them. Method: the page is made from the commands'
/// declarations and compared with the one that is committed.
@Suite("The reference of commands")
struct ReferenceTests {
  private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Services/CLI/REFERENCE.md")

  static func reference(_ commands: [Command]) -> String {
    let texts = commands.map { "## \($0.name)\n\n```text\n\($0.help)```\n" }
    return """
      # Commands

      This page is what `--help` says of each command, and a test compares it with the declarations in the code. A
      variable of the environment that a flag names holds where the flag is not given. Commands end with 0 when they are
      done, 1 when they were refused, with the reason on standard error, and 2 when they were not understood.

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

  @Test("a flag more makes another page")
  func canary() {
    let plain = Command("caravan x", "Does x.")
    let more = Command("caravan x", "Does x.", flags: [Flag<Bool>("y", "with y")])
    #expect(Self.reference([plain]) != Self.reference([more]))
  }
}
