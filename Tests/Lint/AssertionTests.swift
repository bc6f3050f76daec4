import Foundation
import Testing

/// Goal: what Core decides says what must hold, and stops where it does not. Method: assertions and functions of all
/// of Core are counted, as `figures` does.
@Suite struct AssertionTests {
  /// Assertions a function: a tenth of what TigerBeetle has, and more than any server in Swift that was measured.
  private static let least = 0.3

  @Test("Core has enough assertions")
  func tree() throws {
    let core = try SourceTree.files().filter(AssertionCount.isCore)
    let count = AssertionCount(core)
    #expect(count.functions > 400, "the functions of Core were not found")
    #expect(count.share >= Self.least, "\(count.assertions) assertions in \(count.functions) functions of Core")
  }

  @Test("assertions in texts and comments are none, and every function counts, whatever stands before it")
  func canary() {
    let bare = SourceFile(
      path: "Services/Sync/Core/Bare.swift",
      text: "struct A {\n  init() {}\n  @discardableResult package mutating func f() {}\n  private(set) var a = 0\n"
        + "  // precondition(true)\n  let text = \"assert(true)\"\n  public static func g() -> Int { 0 }\n}\n")
    #expect(AssertionCount([bare]) == AssertionCount(assertions: 0, functions: 3))
    #expect(AssertionCount([bare]).share < Self.least)
    let kept = SourceFile(
      path: "Services/Sync/Core/Kept.swift",
      text:
        "  func h() {\n    precondition(isOpen, \"closed\")\n    assert(a == 1)\n"
        + "    preconditionFailure(\"never\")\n  }\n"
    )
    #expect(AssertionCount([bare, kept]) == AssertionCount(assertions: 3, functions: 4))
    #expect(AssertionCount([bare, kept]).share > Self.least)
  }

  @Test("what is Core is known by its folder")
  func rooms() {
    func isCore(_ path: String) -> Bool { AssertionCount.isCore(SourceFile(path: path, text: "")) }
    #expect(isCore("Services/Agent/Core/Rows/RowHead.swift"))
    #expect(!isCore("Services/Agent/Driver/Core.swift") && !isCore("Tests/Unit/Core/A.swift"))
  }
}

/// How many assertions and functions stand in some files.
struct AssertionCount: Equatable {
  private(set) var assertions = 0
  private(set) var functions = 0

  var share: Double { functions == 0 ? 0 : Double(assertions) / Double(functions) }

  init(assertions: Int, functions: Int) { (self.assertions, self.functions) = (assertions, functions) }

  init(_ files: [SourceFile]) {
    for line in files.flatMap(\.code) {
      assertions += Self.matches(#"\b(?:precondition|preconditionFailure|assert)\("#, line)
      functions += Self.matches(Self.declaration, line)
    }
  }

  static func isCore(_ file: SourceFile) -> Bool {
    file.path.hasPrefix("Services/") && file.path.split(separator: "/").dropLast().contains("Core")
  }

  private static let declaration =
    #"^\s*(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|private|fileprivate|internal|final|nonisolated|static|mutating"#
    + #"|consuming|borrowing|distributed|override|class)(?:\([^)]*\))? )*(?:func|init)\b[ ?!(<]"#

  private static func matches(_ pattern: String, _ line: String) -> Int {
    guard let expression = try? NSRegularExpression(pattern: pattern) else { return 0 }
    return expression.numberOfMatches(in: line, range: NSRange(line.startIndex..., in: line))
  }
}
