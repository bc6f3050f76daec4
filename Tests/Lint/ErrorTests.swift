import Foundation
import Testing

/// Goal: every error that a service of the cloud can answer with (requirements part 9) is provoked by a test. Method:
/// the codes that stand in their sources must stand in their tests, as something that is expected.
@Suite struct ErrorTests {
  private static let owners = [
    "Services/Storage/", "Services/Sync/", "Services/Schema/", "Services/Query/", "Shared/Storage/Store",
    "Shared/Bridges/SQLite/", "Shared/Bridges/PostgreSQL/", "Shared/Messaging/Tokens/",
    "Shared/Messaging/SchemaClient/", "Shared/Messaging/Wire/",
  ]
  private static let tests = [
    "Component/Store/", "Component/Storage/", "Component/Sync/", "Component/Query/", "Component/Bus/", "Unit/Model/",
  ].map { "Tests/\($0)" }

  /// Codes in `CaravanError(.code, …)` or `throw .code`.
  private static func thrown(_ files: [SourceFile]) -> Set<String> {
    Set(files.flatMap { codes(in: $0, after: #"CaravanError\(\s*\."#) })
  }

  private static func codes(in file: SourceFile, after pattern: String, ofText: Bool = false) -> [String] {
    let text = (ofText ? file.lines : file.code).joined(separator: "\n")
    guard let expression = try? NSRegularExpression(pattern: pattern + "([a-zA-Z]+)") else { return [] }
    return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
      Range($0.range(at: 1), in: text).map { String(text[$0]) }
    }
  }

  @Test("part 9: what the cloud throws, a test provokes")
  func coverage() throws {
    let files = try SourceTree.files().filter { !$0.path.hasPrefix("Shared/Messaging/Wire/Generated/") }
    let thrown = Self.thrown(files.filter { file in Self.owners.contains { file.path.hasPrefix($0) } })
    let tested = Set(
      files.filter { file in Self.tests.contains { file.path.hasPrefix($0) } }
        .flatMap {
          Self.codes(in: $0, after: #"(?:[cC]ode\)?\s*==|\s==|[(\[,:]|!=)\s*\."#)
            + Self.codes(in: $0, after: #"code == ""#, ofText: true)
        })
    #expect(thrown.count >= 15, "\(thrown.sorted())")
    #expect(thrown.subtracting(tested).isEmpty, "nothing provokes \(thrown.subtracting(tested).sorted())")
  }

  @Test("part 9: a code that nothing provokes is found")
  func canary() {
    let file = SourceFile(
      path: "Services/Sync/Driver/New.swift", text: "throw CaravanError(\n  .rateLimitedAnew, \"x\")")
    #expect(Self.thrown([file]) == ["rateLimitedAnew"])
  }
}
