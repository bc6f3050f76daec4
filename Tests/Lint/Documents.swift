import Foundation

/// The pages of the repository, and what is made from declarations in the code.
enum Documents {
  private static let folders = ["Services", "Shared", "Tests", "Deploy", "Protos"]

  static func text(_ path: String) throws -> String {
    try String(contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: SourceTree.root.appendingPathComponent(path).path)
  }

  /// Every page, with its path from the root.
  static func pages() throws -> [(path: String, text: String)] {
    let top = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path).sorted()
    return try (top + names()).filter { $0.hasSuffix(".md") }.map { ($0, try text($0)) }
  }

  /// Every text that may name a requirement: code, scripts and messages, pages left out.
  static func sources() throws -> [(path: String, text: String)] {
    let kinds = ["swift", "proto", "py", "sh", "yml", ""]
    return names().filter { kinds.contains(($0 as NSString).pathExtension) && !$0.hasPrefix("Tests/Lint/") }
      .filter { !$0.contains("/Corpus/") }
      .compactMap { path in (try? text(path)).map { (path, $0) } }
  }

  private static func names() -> [String] {
    folders.flatMap { top in
      let folder = SourceTree.root.appendingPathComponent(top)
      let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      return names.filter { !$0.contains("/.build/") }.sorted().map { "\(top)/\($0)" }
    }
  }

  /// Compares a page with what it is made from; with CARAVAN_WRITE_DOCUMENTS it is written anew instead.
  /// - Returns: whether the page says what it should.
  static func matches(_ path: String, _ wanted: String) throws -> Bool {
    if ProcessInfo.processInfo.environment["CARAVAN_WRITE_DOCUMENTS"] != nil {
      try wanted.write(to: SourceTree.root.appendingPathComponent(path), atomically: true, encoding: .utf8)
    }
    return try exists(path) && text(path) == wanted
  }

  // MARK: Links

  /// Links of a page that lead nowhere.
  /// - Parameter target: the text of a file, "" of a folder or of what is no text; nil: there is no such path.
  static func deadLinks(_ page: (path: String, text: String), target: (String) -> String?) -> [String] {
    var found: [String] = []
    for match in page.text.matches(of: /\]\(([^)\s]+)\)/) {
      let link = String(match.output.1)
      guard !link.hasPrefix("http://"), !link.hasPrefix("https://") else { continue }
      let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let path = parts[0].isEmpty ? page.path : resolved(parts[0], from: page.path)
      guard let text = path == page.path ? page.text : target(path) else {
        found.append("\(page.path): \(link) leads nowhere")
        continue
      }
      if parts.count == 2, !anchors(text).contains(parts[1]) { found.append("\(page.path): \(link): no such heading") }
    }
    return found
  }

  private static func resolved(_ link: String, from page: String) -> String {
    var parts = page.split(separator: "/").dropLast().map(String.init)
    for part in link.split(separator: "/").map(String.init) where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  /// As the usual viewers name headings.
  private static func anchors(_ text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
        line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
          .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacingOccurrences(of: " ", with: "-")
      })
  }
}
