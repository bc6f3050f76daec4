import Foundation
import Testing

/// Goal: a reader who knows the field meets no word that only this project uses. Method: the words of every declared
/// type, and of every function of the product, are looked for in the list of words that have a better one.
@Suite struct WordTests {
  /// What is not to be said, with what the field says.
  static let words = [
    "world": "cluster", "worlds": "clusters", "twin": "atomic pair", "kindred": "reference graph",
    "porter": "group commit", "diarist": "diff-sync client", "turmoil": "fault scheduler",
    "squeeze": "quota pressure", "thrift": "byte budget", "fare": "link cost", "fares": "link costs",
    "frailty": "flaky link", "sentry": "egress guard", "weather": "fault plan", "calm": "quiesce",
    "inspection": "final check", "sight": "observation", "sights": "observations", "promises": "durability checker",
    "deed": "operation", "deeds": "operations", "life": "incarnation", "lives": "incarnations",
    "floor": "low watermark or baseline", "floors": "low watermarks or baselines", "hint": "change event",
    "hints": "change events", "offer": "pending notification", "offers": "pending notifications",
    "cargo": "inline page", "rider": "piggybacked item", "riders": "piggybacked items", "carried": "piggybacked",
    "gate": "link policy", "gates": "link policies", "turnstile": "admission control", "crew": "dependencies",
    "courier": "fragment transport", "parcel": "fragment", "parcels": "fragments", "seat": "connection slot",
    "seats": "connection slots", "desk": "handler", "board": "session table", "book": "placement cache",
    "errand": "control message", "errands": "control messages", "vigil": "watchdog", "tally": "counters",
    "tallies": "counters", "behaviour": "type settings cache", "stranger": "out-of-filter row",
    "strangers": "out-of-filter rows", "aside": "staged", "ahead": "early upload", "urge": "trigger",
    "leave": "evict", "mend": "repair", "salvage": "recover", "regain": "reconcile", "upkeep": "maintenance",
    "tenure": "lease holder", "footprint": "read position", "footprints": "read positions", "upstream": "push",
    "downstream": "pull", "discarded": "dropped", "resting": "backing off",
  ]

  /// Names that keep such a word: because the wire, a store or a metric has it, or until somebody renames them. A name
  /// that nobody declares any more has to go from here.
  private static let exceptions: Set<String> =
    (try? Set(
      Documents.text("Tests/Lint/words").split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init))) ?? []

  @Test("types and functions have the field's words")
  func tree() throws {
    let names = try SourceTree.files().flatMap(DeclaredName.all)
    #expect(names.count > 3_000, "names were not found")
    let found = names.filter { $0.word(of: Self.words) != nil }
    for name in found where !Self.exceptions.contains(name.text) {
      let word = name.word(of: Self.words) ?? ""
      Issue.record("\(name.path): '\(name.text)' says '\(word)': the field says \(Self.words[word] ?? "")")
    }
    let gone = Self.exceptions.subtracting(found.map(\.text)).sorted()
    #expect(gone.isEmpty, "Tests/Lint/words has names that nothing has any more: \(gone)")
  }

  @Test("a word is found in the middle of a name, and not as a part of another word")
  func canary() {
    let file = SourceFile(
      path: "Services/Sync/Core/New.swift",
      text:
        "struct OldWorldMap {\n  // func leave()\n  func leaveNow() {}\n  let lifetime = 1\n  func sleeves() {}\n}\n")
    let names = DeclaredName.all(of: file)
    #expect(names.map(\.text) == ["OldWorldMap", "leaveNow", "sleeves"])
    #expect(names.compactMap { $0.word(of: Self.words) } == ["world", "leave"])
    let test = SourceFile(path: "Tests/Component/Sync/New.swift", text: "struct A {\n  func leave() {}\n}\n")
    #expect(DeclaredName.all(of: test).map(\.text) == ["A"])
  }
}

/// A type's name, or a function's where it is not a test's.
struct DeclaredName {
  let path: String
  let text: String

  static func all(of file: SourceFile) -> [DeclaredName] {
    guard !file.path.contains("/Generated/"), !file.path.hasPrefix("Tests/Lint/") else { return [] }
    let form = /\b(struct|class|actor|enum|protocol|typealias|func) `?([A-Za-z_]\w*)/
    return file.code.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.flatMap { line in
      line.matches(of: form).filter { $0.output.1 != "func" || !file.path.hasPrefix("Tests/") }
        .map { DeclaredName(path: file.path, text: String($0.output.2)) }
    }
  }

  func word(of words: [String: String]) -> String? {
    text.matches(of: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/).map { $0.output.lowercased() }.first { words[$0] != nil }
  }
}
