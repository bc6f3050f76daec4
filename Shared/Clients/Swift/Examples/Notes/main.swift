// Notes with formatted text and a picture: what Caravan asks of an app are the lines that end in "// sync" below.

import CaravanClient
import CommandLineOptions
import FoundationEssentials

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "notes")
let picture = Flag<String?>("picture", "FILE", "a picture that belongs to the note")
let choice = Flag<Kept>("keep", "WHICH", "of a note that was changed twice: mine, theirs or both", default: .both)
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-notes", "Notes that are the same on all your devices.",
  [
    Command("caravan-notes join", "Keeps the notes here in sync.", flags: common),
    Command(
      "caravan-notes write", "Writes a note, or writes it anew: TEXT is Markdown.",
      operands: .init("TITLE TEXT", 2...2), flags: common + [picture]),
    Command(
      "caravan-notes add", "Adds lines to a note; only they travel.", operands: .init("TITLE TEXT", 2...2),
      flags: common),
    Command("caravan-notes list", "Lists the notes.", flags: common),
    Command("caravan-notes show", "Shows a note.", operands: .init("TITLE", 1...1), flags: common),
    Command("caravan-notes settle", "Settles notes that were changed on two devices.", flags: common + [choice]),
  ])

enum Kept: String, FlagValue, CustomStringConvertible {
  case mine, theirs, both

  init?(flagText: String) { self.init(rawValue: flagText) }
  static var flagKind: String { "one of mine, theirs, both" }
  var description: String { rawValue }
}

func open(_ client: CaravanClient) async throws -> Table {
  try await client.createTable(  // sync
    "notes", "title VARCHAR PRIMARY KEY, words INTEGER, text OBJECT, picture OBJECT")  // sync
}

func join(_ notes: Table) async throws {
  try await notes.registerWriteSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
  try await notes.registerReadSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
}

func text(_ title: String, in notes: Table) async throws -> String? {
  for try await row in notes.rows(.init("title=?", [.text(title)])) {  // sync
    let bytes = try await notes.contents(of: "text", row: row.id).all()  // sync
    return String(decoding: bytes, as: UTF8.self)
  }
  return nil
}

func show(_ title: String, in notes: Table) async throws -> String {
  if let text = try await text(title, in: notes) { return text }
  throw CaravanError(.noSuchObject, "there is no note '\(title)'")
}

func words(in text: String) -> Value { .integer(Int64(text.split(whereSeparator: \.isWhitespace).count)) }

func bytes(of file: String) throws -> [UInt8] {
  if let data = try? Data(contentsOf: URL(fileURLWithPath: file)) { return Array(data) }
  throw CaravanError(.invalidData, "'\(file)' cannot be read: is it there, and a file?")
}

/// The text, its number of words and the picture change together, or not at all.
func write(_ title: String, _ text: String, _ picture: [UInt8]?, in notes: Table) async throws {
  let contents = ["text": Array(text.utf8), "picture": picture].compactMapValues { $0 }
  let isThere = try await !notes.rows(.init("title=?", [.text(title)])).all().isEmpty  // sync
  guard isThere else {
    try await notes.write(["title": .text(title), "words": words(in: text)], contents: contents)  // sync
    return
  }
  try await notes.update(  // sync
    .init("title=?", [.text(title)]), ["words": words(in: text)], contents: contents)  // sync
}

func add(_ lines: String, to title: String, in notes: Table) async throws {
  let old = try await show(title, in: notes)
  let addition = (old.hasSuffix("\n") || old.isEmpty ? "" : "\n") + lines
  try await notes.update(  // sync
    .init("title=?", [.text(title)]), ["words": words(in: old + addition)], objects: ["text"]  // sync
  ) { objects in  // sync
    try await objects.write(Array(addition.utf8), to: "text", at: UInt64(old.utf8.count))  // sync
  }  // sync
}

func list(_ notes: Table) async throws {
  for try await row in notes.rows(columns: ["title", "words", "picture"], orderBy: [("title", false)]) {  // sync
    guard case .text(let title) = row["title"], case .integer(let words) = row["words"] else { continue }
    let marks = [row.objects["picture"] == nil ? nil : "picture", row.state == .conflict ? "changed twice" : nil]
    print(([title, "\(words) word\(words == 1 ? "" : "s")"] + marks.compactMap(\.self)).joined(separator: ", "))
  }
}

/// Both texts, one behind the other, is what nobody can be angry about.
func settle(_ keep: Kept, in notes: Table) async throws {
  var both: [(title: String, text: String)] = []
  var count = 0
  try await notes.withConflictResolution { resolution in  // sync
    for conflict in try await resolution.conflicts() {  // sync
      if keep == .both, let theirs = conflict.theirs, case .text(let title) = conflict.mine["title"] {
        let texts = [
          try await notes.contents(of: "text", row: conflict.mine.id).all(),  // sync
          try await notes.contents(of: "text", row: theirs.id, side: .theirs).all(),  // sync
        ].map { String(decoding: $0, as: UTF8.self) }
        both.append((title, texts.joined(separator: "\n\n---\n\n")))
      }
      try await resolution.resolve(conflict.mine.id, keep == .theirs ? .theirs : .mine)  // sync
      count += 1
    }
  }  // sync
  for note in both { try await write(note.title, note.text, nil, in: notes) }
  print("\(count) settled")
}

func run(_ command: Command, _ options: Options) async throws {
  let words = options.operands
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    let notes = try await open(client)
    switch command.name.split(separator: " ").last {
    case "join": try await join(notes)
    case "write":
      try await write(words[0], words[1], options[picture].map(bytes), in: notes)
    case "add": try await add(words[1], to: words[0], in: notes)
    case "list": try await list(notes)
    case "show": print(try await show(words[0], in: notes))
    default: try await settle(options[choice], in: notes)
    }
  }
}

commands.run(run)
