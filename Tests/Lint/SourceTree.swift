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
    let (slash, quote, backslash, space) = (
      UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: " ")
    )
    let bytes = Array(line.utf8)
    guard bytes.contains(quote) || bytes.contains(slash) else { return line }
    var out: [UInt8] = []
    var inString = false
    var previous = space
    for byte in bytes {
      if !inString, byte == slash, previous == slash {
        out.removeLast()
        break
      }
      if byte == quote, previous != backslash { inString.toggle() }
      if !inString || byte == quote { out.append(byte) }
      // A backslash that is escaped escapes nothing.
      previous = byte == backslash && previous == backslash ? space : byte
    }
    return String(decoding: out, as: UTF8.self)
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

  private static let all = Result { try read() }

  /// Every Swift file below `Services`, `Shared` and `Tests`.
  static func files() throws -> [SourceFile] { try all.get() }

  private static func read() throws -> [SourceFile] {
    try ["Services", "Shared", "Tests"].flatMap { top in
      let folder = root.appendingPathComponent(top)
      let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      return try names.filter { $0.hasSuffix(".swift") && !$0.contains("/.build/") }.sorted().map {
        SourceFile(
          path: "\(top)/\($0)", text: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
      }
    }
  }
}
