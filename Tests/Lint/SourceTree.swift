import Foundation

/// One Swift file of the package, with what the rules look at.
struct SourceFile: Sendable {
  /// Path from the package's root.
  let path: String
  let lines: [String]
  /// Lines without comments and without the contents of string literals, so that rules look at code only.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    code = lines.map(Self.stripped)
  }

  private static func stripped(_ line: String) -> String {
    var out = ""
    var inString = false
    var previous: Character = " "
    for character in line {
      if !inString, character == "/", previous == "/" {
        out.removeLast()
        break
      }
      if character == "\"", previous != "\\" { inString.toggle() }
      if !inString || character == "\"" { out.append(character) }
      // A backslash that is escaped escapes nothing.
      previous = character == "\\" && previous == "\\" ? " " : character
    }
    return out
  }

  /// Modules imported, with the line each is imported on.
  var imports: [(module: String, line: Int)] {
    code.enumerated().compactMap { number, line in
      var words = line.split(separator: " ").map(String.init)
      while let first = words.first, first.hasPrefix("@") || Self.accessWords.contains(first) { words.removeFirst() }
      guard words.first == "import", let module = words.dropFirst().last else { return nil }
      return (module.split(separator: ".").first.map(String.init) ?? module, number + 1)
    }
  }

  private static let accessWords: Set<String> = ["public", "package", "internal", "private", "fileprivate"]
}

enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Every Swift file below `Services`, `Shared` and `Tests`.
  static func files() throws -> [SourceFile] {
    try ["Services", "Shared", "Tests"].flatMap { top in
      let folder = root.appendingPathComponent(top)
      let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      return try names.filter { $0.hasSuffix(".swift") }.sorted().map {
        SourceFile(
          path: "\(top)/\($0)", text: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
      }
    }
  }
}
