import CaravanEncoding
package import CaravanModel

/// What notifications of one subscription show, bound to the record type: it makes fields of the log of one record.
package struct BoundContent: Sendable {
  private let content: NotificationContent
  private let titleArguments: [FieldDefinition?]
  private let bodyArguments: [FieldDefinition?]
  private let fields: [FieldDefinition?]

  /// Beyond all fields of the log.
  fileprivate static let firstOrigin: UInt32 = 1 << 16

  /// - Parameter type: a field that it does not have any more is as one without a value. nil: of no records.
  package init(_ content: NotificationContent, _ type: RecordType?) {
    func bound(_ names: [String]) -> [FieldDefinition?] {
      names.map { name in type?.field(named: name).flatMap { $0.isTellable ? $0 : nil } }
    }
    precondition(type != nil || content.named.isEmpty, "what is of no records tells something of them")
    self.content = content
    titleArguments = bound(content.titleArguments)
    bodyArguments = bound(content.bodyArguments)
    fields = bound(content.fields)
  }

  /// Whether something of the record travels.
  package var hasValues: Bool { !titleArguments.isEmpty || !bodyArguments.isEmpty || !fields.isEmpty }

  /// Fields of the log, and where their values are from: `current(in:)` is what the log takes.
  /// - Parameter record: nil: nothing of it is told, as of one that has left the answer.
  package func shown(of record: RecordFields?) -> RecordFields {
    typealias Field = NotificationLog.Field
    var log = RecordFields()
    for (field, text) in [
      (Field.title, content.title), (.body, content.body), (.titleKey, content.titleKey), (.bodyKey, content.bodyKey),
      (.sound, content.sound),
    ] where !text.isEmpty { log[field.rawValue] = .text(text) }
    if content.badges { log[Field.badge.rawValue] = .integer(1) }
    guard let record, hasValues else { return log }
    var room = ValueRoom()
    for (field, arguments) in [(Field.titleArguments, titleArguments), (.bodyArguments, bodyArguments)] {
      guard !arguments.isEmpty else { continue }
      log[field.origins] = .list(arguments.map { .integer(Int64($0?.id ?? 0)) })
      let texts = arguments.map { argument in
        room.take(text: argument.map { record.value(of: $0).argumentText(of: $0.kind) } ?? "")
      }
      precondition(texts.count == arguments.count, "arguments of a text have lost their places")
      log[field.rawValue] = .list(texts.map { .text($0) })
    }
    if !fields.isEmpty {
      log[Field.fields.origins] = .list(fields.map { .integer(Int64($0?.id ?? 0)) })
      var object = JSON.Object()
      for (name, field) in zip(content.fields, fields) {
        if let json = room.take(json: field.map { record.value(of: $0).json } ?? .null) { object[name] = json }
      }
      log[Field.fields.rawValue] = .text(JSON.object(object).encoded())
    }
    if room.isCut { log[Field.isCut.rawValue] = .integer(1) }
    return log
  }
}

extension NotificationLog.Field {
  /// Of a field with values, beside the log's own fields: ids of the record's fields that they are of.
  fileprivate var origins: UInt32 { BoundContent.firstOrigin + rawValue }
}

extension RecordFields {
  /// Whether `BoundContent` has put values of a record here, which `current(in:)` is to look at.
  package var hasValues: Bool { ascending.contains { $0.id >= BoundContent.firstOrigin } }

  /// What `BoundContent` has made, as the log takes it: without values of fields that were removed from the type since,
  /// which nobody gets (CK-91).
  /// - Parameter type: as it is now; nil: it is removed.
  package func current(in type: RecordType?) -> RecordFields {
    typealias Field = NotificationLog.Field
    var log = RecordFields(values.filter { $0.key < BoundContent.firstOrigin })
    var isCut = false
    func isThere(_ id: Int64) -> Bool { id == 0 || type?.field(id: UInt32(clamping: id)) != nil }
    for field in [Field.titleArguments, .bodyArguments] {
      let ids = origins(of: field)
      guard case .list(var texts) = self[field.rawValue], texts.count == ids.count else { continue }
      for (index, id) in ids.enumerated() where !isThere(id) { (texts[index], isCut) = (.text(""), true) }
      log[field.rawValue] = .list(texts)
    }
    let ids = Set(origins(of: .fields))
    if case .text(let text) = self[Field.fields.rawValue], !ids.allSatisfy(isThere),
      var object = (try? JSON.parse(text))?.objectValue
    {
      for name in object.members.map(\.name) {
        guard type?.field(named: name).map({ ids.contains(Int64($0.id)) }) != true else { continue }
        (object[name], isCut) = (nil, true)
      }
      log[Field.fields.rawValue] = .text(JSON.object(object).encoded())
    }
    if isCut { log[Field.isCut.rawValue] = .integer(1) }
    return log
  }

  private func origins(of field: NotificationLog.Field) -> [Int64] {
    guard case .list(let items) = self[field.origins] else { return [] }
    return items.map { if case .integer(let id) = $0 { id } else { 0 } }
  }
}

/// What is left of the bytes that values of one notification may have.
private struct ValueRoom {
  private var bytes = Limits.notificationValueBytes
  /// Something did not fit.
  private(set) var isCut = false

  /// As much of a text as fits, in whole characters.
  mutating func take(text: String) -> String {
    take(text) { $0.utf8.count }
  }

  /// The value as it is; of a text that does not fit whole characters from its beginning. nil: nothing of it fits.
  mutating func take(json: JSON) -> JSON? {
    if case .string(let text) = json {
      guard bytes > Self.quotes else {
        isCut = true
        return nil
      }
      bytes -= Self.quotes
      let part = take(text) { JSON.string($0).encodedBytes().count - Self.quotes }
      guard !part.isEmpty || text.isEmpty else {
        bytes += Self.quotes
        return nil
      }
      return .string(part)
    }
    let size = json.encodedBytes().count
    guard size <= bytes else {
      isCut = true
      return nil
    }
    bytes -= size
    precondition(bytes >= 0, "a value was taken that has no room")
    return json
  }

  private static let quotes = 2

  private mutating func take(_ text: String, _ size: (String) -> Int) -> String {
    // No spelling is shorter than the text itself.
    if text.utf8.count <= bytes, case let whole = size(text), whole <= bytes {
      bytes -= whole
      return text
    }
    isCut = true
    var part = ""
    for character in text {
      let more = size(String(character))
      guard more <= bytes else { break }
      bytes -= more
      part.append(character)
    }
    precondition(bytes >= 0 && part.utf8.count < text.utf8.count, "a text was cut that had room")
    return part
  }
}

extension RecordFields {
  /// What is of another kind than the field is null.
  fileprivate func value(of field: FieldDefinition) -> Value {
    let value = self[field.id]
    return field.kind.accepts(value, isList: field.isList) ? value : .null
  }
}

extension Value {
  /// As a text of the app shows it.
  fileprivate func argumentText(of kind: FieldKind) -> String {
    switch self {
    case .null, .asset, .assetList: ""
    case .text(let text): text
    case .integer(let number) where kind == .date && RFC3339.range.contains(number):
      RFC3339.text(milliseconds: number)
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .data(let bytes): Base64.encode(bytes)
    case .location(let place): "\(place.latitude),\(place.longitude)"
    case .reference(let reference): reference.target
    case .list: json.encoded()
    }
  }
}
