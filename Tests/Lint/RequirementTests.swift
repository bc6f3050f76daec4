import Foundation
import Testing

/// Goal: a requirement's id leads somewhere, from code to its line and from its line to a test. Method: the ids that
/// stand in the tree are held against Tests/REQUIREMENTS.md, and its lines against the files that they name.
@Suite struct RequirementTests {
  private static let page = "Tests/REQUIREMENTS.md"
  /// Ids of every family. Those of invariants and errata have no dash, so in the tree only the others are looked for.
  private static let family = #"(?:SIM|MOB|DIF|REC|CK|UNI|BEN|TRU)-[0-9]{2,3}"#

  /// One line of the page.
  struct Entry {
    let id: String
    let seen: String
    /// A path from the root, and what is quoted of the file; nil: the requirement is open, or nothing is to be tested.
    let proof: (path: String, quote: String?)?
  }

  /// - Returns: entries, and what is wrong with lines that are none.
  static func entries(_ text: String) -> (entries: [Entry], problems: [String]) {
    var (entries, problems): ([Entry], [String]) = ([], [])
    for line in text.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| id |") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, !cells[1].isEmpty else {
        problems.append("not an id, what must be seen, and where: \(line)")
        continue
      }
      if ["*open*", "nothing to test"].contains(cells[2]) {
        entries.append(Entry(id: cells[0], seen: cells[1], proof: nil))
      } else if let path = cells[2].firstMatch(of: /\]\(([^)]+)\)(?: “(.+)”)?/)?.output {
        entries.append(
          Entry(id: cells[0], seen: cells[1], proof: ("Tests/\(path.1)", path.2.map(String.init))))
      } else {
        problems.append("\(cells[0]) is neither open nor leads to a file")
      }
    }
    return (entries, problems)
  }

  /// What is wrong between the page and a tree.
  /// - Parameters:
  ///   - tree: paths with their texts.
  ///   - text: of a path that the page names; nil: there is no such file.
  static func problems(_ page: String, tree: [(path: String, text: String)], text: (String) -> String?) -> [String] {
    var (entries, found) = entries(page)
    let known = Set(entries.map(\.id))
    if known.count < entries.count { found.append("an id has two lines") }
    for (path, text) in tree {
      for id in ids(in: text) where !known.contains(id) { found.append("\(path) names \(id), which has no line") }
    }
    for entry in entries {
      guard let (path, quote) = entry.proof else { continue }
      guard let text = text(path) else {
        found.append("\(entry.id): there is no \(path)")
        continue
      }
      if !names(text, entry.id) { found.append("\(entry.id): \(path) does not name it") }
      if let quote, !text.contains(quote) { found.append("\(entry.id): \(path) does not say '\(quote)'") }
    }
    return found
  }

  private static func ids(in text: String) -> Set<String> {
    guard let expression = try? NSRegularExpression(pattern: #"(?<![A-Za-z0-9-])"# + family + #"\b"#) else { return [] }
    return Set(
      expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
        Range($0.range, in: text).map { String(text[$0]) }
      })
  }

  private static func names(_ text: String, _ id: String) -> Bool {
    text.range(of: #"(?<![A-Za-z0-9-])"# + id + #"\b"#, options: .regularExpression) != nil
  }

  @Test("every requirement has its line, and every line its test")
  func tree() throws {
    let page = try Documents.text(Self.page)
    let tree = try Documents.sources()
    #expect(tree.count > 500, "the tree was not found")
    let entries = Self.entries(page).entries
    #expect(entries.count > 300, "the page was not read")
    let found = Self.problems(page, tree: tree) { try? Documents.text($0) }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("an id without a line, a line without a file, a file that is silent and a wrong quote are found")
  func canary() {
    let page = """
      | id | what must be seen | where |
      |---|---|---|
      | SIM-01 | a | [b](b.swift) “says c” |
      | SIM-02 | a | *open* |
      | SIM-03 | a | [gone](gone.swift) |
      | SIM-04 | a | [b](b.swift) |
      | SIM-05 | a | soon |
      """
    let found = Self.problems(page, tree: [("x.swift", "// SIM-99 and SIM-02")]) {
      $0 == "Tests/b.swift" ? "SIM-01: says d" : nil
    }
    #expect(
      found == [
        "SIM-05 is neither open nor leads to a file", "x.swift names SIM-99, which has no line",
        "SIM-01: Tests/b.swift does not say 'says c'", "SIM-03: there is no Tests/gone.swift",
        "SIM-04: Tests/b.swift does not name it",
      ])
  }
}
