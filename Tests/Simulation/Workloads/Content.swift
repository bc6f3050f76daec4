internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

/// What a row holds, whoever holds it.
struct Content: Sendable, Hashable {
  /// Of a table with a key; empty in others.
  var name = ""
  var n: Int64 = 0
  var note = ""
  /// nil: the row has no object.
  var photo: [UInt8]?

  /// Of all of it, and of the change that made it.
  func digest(_ tag: ChangeTag) -> UInt64 {
    var digest = Digest()
    digest.add("\(tag)")
    digest.add(name)
    digest.add(UInt64(bitPattern: n))
    digest.add(note)
    digest.add(photo.map { UInt64($0.count) + 1 } ?? 0)
    digest.add(photo ?? [])
    return digest.value
  }

  /// As it is in the run that this is.
  func hidden(by secret: Secret) -> Content {
    Content(name: secret.text(name), n: secret.number(n), note: secret.text(note), photo: photo)
  }

  /// The cells a write of it gives.
  func cells(_ tag: ChangeTag, named: Bool) -> [CellValue] {
    (named ? [CellValue("name", .text(name))] : [])
      + [CellValue("tag", .text("\(tag)")), CellValue("n", .integer(n)), CellValue("note", .text(note))]
  }

  /// The tag and the content that cells hold, without the object; nil when they hold no tag.
  static func read(_ cells: [CellValue]) -> (tag: ChangeTag, content: Content)? {
    var content = Content()
    var tag: ChangeTag?
    for cell in cells {
      switch (cell.column, cell.value) {
      case ("name", .text(let text)): content.name = text
      case ("tag", .text(let text)): tag = ChangeTag(text)
      case ("n", .integer(let number)): content.n = number
      case ("note", .text(let text)): content.note = text
      default: continue
      }
    }
    return tag.map { ($0, content) }
  }
}

/// What every write of the run made of its row.
final class Contents: Sendable {
  private let all = Mutex<[ChangeTag: Content]>([:])

  subscript(tag: ChangeTag) -> Content? { all.withLock { $0[tag] } }
  func keep(_ content: Content, of tag: ChangeTag) { all.withLock { $0[tag] = content } }
}
