import Foundation
import Testing

/// Goal: no type grows into a room where everything lies. Method: the lines of each type's body and of all of its
/// extensions are added up over all files; types nested in it count for themselves.
@Suite struct TypeSizeTests {
  private static let most = 800

  @Test("a type has at most 800 lines over all of its files")
  func tree() throws {
    let files = try SourceTree.files().filter {
      !$0.path.hasPrefix("Tests/") && !$0.path.hasPrefix("Shared/Messaging/Wire/Generated/")
    }
    let types = TypeSizes(files)
    #expect(types.sizes.count > 1_000, "types were not found")
    #expect(types.unbalanced.isEmpty, "braces do not match in \(types.unbalanced)")
    for (type, size) in types.sizes where size > Self.most {
      Issue.record("\(type.name) has \(size) lines in \(type.module): it is more than one thing")
    }
  }

  @Test("a type that is long only over all of its files is found, and what is nested in it is not its own")
  func canary() {
    let body = SourceFile(
      path: "Services/Sync/Driver/Long.swift",
      text: "public final class Long {\n  struct Part {\n    // }\n    let a = \"{\"\n  }\n\n  func f() {\n  }\n}\n")
    let more = SourceFile(
      path: "Services/Sync/Main/More.swift",
      text: "extension Long {\n" + String(repeating: "  var a: Int { 0 }\n", count: 800) + "}\n")
    let text = SourceFile(
      path: "Services/Sync/Driver/Text.swift",
      text: "extension Long.Part\nwhere A: B {\n  let a = \"\"\"\n    class { struct X {\n    \"\"\"\n}\nstruct X {}\n")
    let types = TypeSizes([body, more, text])
    let sizes = Dictionary(uniqueKeysWithValues: types.sizes.map { ($0.key.name, $0.value) })
    #expect(sizes == ["Long": 5 + 802, "Long.Part": 4 + 6, "X": 1])
    #expect(types.unbalanced.isEmpty)
  }

  @Test("two modules may have a type of one name: each counts for itself")
  func twoModules() {
    let paths = ["Services/Sync/Core/A.swift", "Services/Query/Core/A.swift"]
    let files = paths.map { SourceFile(path: $0, text: "struct A {\n}\nextension A {\n}\n") }
    #expect(TypeSizes(files).sizes.map(\.value) == [4, 4])
  }
}

/// How many lines each type has.
struct TypeSizes {
  struct TypeName: Hashable {
    let module: String
    /// With the names of the types around it.
    let name: String
  }

  private struct Piece {
    var type: TypeName
    let isExtension: Bool
    var lines: Int
  }

  private(set) var sizes: [TypeName: Int] = [:]
  /// Files that could not be read as they are meant.
  private(set) var unbalanced: [String] = []

  init(_ files: [SourceFile]) {
    var pieces: [Piece] = []
    for file in files {
      guard let found = Self.pieces(of: file) else {
        unbalanced.append(file.path)
        continue
      }
      pieces += found
    }
    var homes: [String: Set<String>] = [:]
    for piece in pieces where !piece.isExtension { homes[piece.type.name, default: []].insert(piece.type.module) }
    for piece in pieces {
      // What extends another module's type counts there, where it is known which one that is.
      var type = piece.type
      if let home = homes[type.name], !home.contains(type.module), home.count == 1, let only = home.first {
        type = TypeName(module: only, name: type.name)
      }
      sizes[type, default: 0] += piece.lines
    }
  }

  /// The folder of the module that the file belongs to.
  private static func module(of path: String) -> String {
    path.split(separator: "/").prefix(3).joined(separator: "/")
  }

  private static let declaration =
    #"^\s*(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated|distributed"#
    + #"|@\w+(?:\([^)]*\))?)\s+)*"#
    + #"(class|struct|enum|actor|protocol|extension)\s+([A-Za-z_][\w.]*)"#

  /// - Returns: nil when braces do not match.
  private static func pieces(of file: SourceFile) -> [Piece]? {
    guard let declaration = try? NSRegularExpression(pattern: declaration) else { return nil }
    var pieces: [Piece] = []
    var open: [(piece: Int, depth: Int)] = []
    var announced: (name: String, isExtension: Bool, line: Int)?
    var (depth, isText) = (0, false)
    for (number, code) in file.code.enumerated() {
      let wasText = isText
      if (file.lines[number].components(separatedBy: "\"\"\"").count - 1) % 2 == 1 { isText.toggle() }
      // The line on which a long text begins may hold code before it, and the one on which it ends behind it.
      let line = wasText ? (isText ? "" : code.components(separatedBy: "\"\"\"").last ?? "") : code
      let range = NSRange(line.startIndex..., in: line)
      if announced == nil, let match = declaration.firstMatch(in: line, range: range),
        let kind = Range(match.range(at: 1), in: line), let name = Range(match.range(at: 2), in: line),
        !["func", "var", "let", "subscript"].contains(String(line[name]))
      {
        announced = (String(line[name]), line[kind] == "extension", number)
      }
      var lineOwner = open.last?.piece
      for character in line {
        if character == "{" {
          depth += 1
          if let (name, isExtension, first) = announced {
            let outer = open.last.map { pieces[$0.piece].type.name + "." } ?? ""
            let type = TypeName(module: module(of: file.path), name: outer + name)
            pieces.append(Piece(type: type, isExtension: isExtension, lines: number - first))
            open.append((pieces.count - 1, depth))
            lineOwner = pieces.count - 1
            announced = nil
          }
        } else if character == "}" {
          if open.last?.depth == depth { open.removeLast() }
          depth -= 1
        }
      }
      if let lineOwner { pieces[lineOwner].lines += 1 }
    }
    return depth == 0 && open.isEmpty ? pieces : nil
  }
}
