import Foundation
import Testing

/// Goal: the shape of the tree is kept by a test, not by memory. Method: rules over the text of every Swift file; each
/// rule carries a canary that it must catch, so that no rule can fall silent.
@Suite struct LintTests {
  private static let files = Result { try SourceTree.files() }

  @Test("every rule catches its canary", arguments: Rule.all.map(\.name))
  func canary(name: String) throws {
    let rule = try #require(Rule.all.first { $0.name == name })
    #expect(!rule.check(rule.canary).isEmpty)
  }

  @Test("every file keeps every rule", arguments: Rule.all.map(\.name))
  func tree(name: String) throws {
    let rule = try #require(Rule.all.first { $0.name == name })
    let files = try Self.files.get().filter { !$0.path.hasPrefix("Tests/Lint/") }
    #expect(files.count > 50, "the tree was not found")
    let violations = files.flatMap(rule.check)
    #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
  }

  @Test("every Swift file lies in a folder that has its layer")
  func rooms() throws {
    for file in try Self.files.get() {
      let parts = file.path.split(separator: "/").map(String.init)
      if parts[0] == "Services", parts[1] != "Examples" {
        let driver = parts[1] == "Agent" ? Rule.device : ["Driver"]
        #expect((["Core", "Main"] + driver).contains(parts[2]), "\(file.path)")
      } else if parts[0] == "Shared" {
        #expect(
          Rule.modules[parts[1]] != nil || file.path.hasPrefix("Shared/Bridges/C/"),
          "\(file.path): give the folder a layer in Rules.swift")
      }
    }
  }

  @Test("the committed code is what the generator makes of Protos")
  func generated() throws {
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("caravan-generate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    try run(SourceTree.root.appendingPathComponent("Protos/generate").path, [scratch.path])
    for folder in ["Shared/Bridges/C/Wire", "Shared/Messaging/Wire/Generated"] {
      let made = try tree(scratch.appendingPathComponent(folder))
      let committed = try tree(SourceTree.root.appendingPathComponent(folder))
      #expect(!made.isEmpty)
      #expect(made.keys.sorted() == committed.keys.sorted())
      for (path, data) in made { #expect(committed[path] == data, "\(folder)/\(path): run Protos/generate") }
    }
  }

  private func run(_ path: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  private func tree(_ folder: URL) throws -> [String: Data] {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return try names.reduce(into: [:]) { files, name in
      let url = folder.appendingPathComponent(name)
      guard !url.hasDirectoryPath, !((try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false) else {
        return
      }
      files[name] = try Data(contentsOf: url)
    }
  }
}
