package import CaravanEncoding
package import CaravanModel

/// A notification as it travels to a target: what a record of the notification log says, in JSON.
package struct PushedNotification: Sendable, Hashable {
  /// The same at each try.
  package let id: String
  package let container: ContainerID
  package let environment: Environment
  package let reason: NotificationLog.Reason
  /// Unix milliseconds.
  package let at: Int64
  /// In the order in which they are left out where there is too little room: the last first.
  private let members: [JSON.Object.Member]
  /// The log has not all that the record had.
  private let isCut: Bool

  /// - Parameter record: of the log.
  /// - Throws: `invalidData` for what is no notification.
  package init(
    id: String, container: ContainerID, environment: Environment, record: RecordFields
  ) throws(CaravanError) {
    func text(_ field: NotificationLog.Field) -> String? {
      record[field.rawValue].textValue
    }
    func number(_ field: NotificationLog.Field) -> Int64? {
      record[field.rawValue].integerValue
    }
    guard let reason = text(.reason).flatMap(NotificationLog.Reason.init) else {
      throw CaravanError(.invalidData, "the log's record is no notification")
    }
    self.id = id
    self.container = container
    self.environment = environment
    self.reason = reason
    at = number(.at) ?? 0
    var members: [JSON.Object.Member] = []
    func add(_ name: String, _ value: JSON?) {
      if let value { members.append(.init(name, value)) }
    }
    add("id", .string(id))
    add("container", .string(container.text))
    add("environment", .string(environment.rawValue))
    add("database", number(.isPublic) == 1 ? "public" : "private")
    add("subscription", text(.subscription).map { .string($0) })
    add("reason", .string(reason.rawValue))
    add("source", number(.source).map { .int($0) })
    add("number", number(.number).map { .int($0) })
    add("at", .string(RFC3339.text(milliseconds: at)))
    for field in [NotificationLog.Field.type, .zone, .record] { add(field.name, text(field).map { .string($0) }) }
    add("version", number(.version).map { .int($0) })
    add("device", text(.device).map { .string($0) })
    for field in [NotificationLog.Field.title, .titleKey, .titleArguments, .body, .bodyKey, .bodyArguments, .sound] {
      switch record[field.rawValue] {
      case .text(let text): add(field.name, .string(text))
      case .list(let texts): add(field.name, .array(texts.map { .string($0.textValue ?? "") }))
      default: continue
      }
    }
    add("badge", number(.badge).map { .int($0) })
    add("fields", text(.fields).flatMap { try? JSON.parse($0) })
    isCut = number(.isCut) == 1
    self.members = members
  }

  /// The whole of it, or as much of it as has room.
  /// - Parameter most: bytes; enough for what every notification has.
  package func json(atMost most: Int) -> JSON {
    var members = members
    while true {
      var object = JSON.Object()
      for member in members { object[member.name] = member.value }
      if isCut || members.count < self.members.count { object["isCut"] = true }
      let json = JSON.object(object)
      guard json.encodedBytes().count > most, members.count > 1 else { return json }
      members.removeLast()
    }
  }

  /// Whether it shows something to a person.
  package var isVisual: Bool { members.contains { ["title", "titleKey", "body", "bodyKey"].contains($0.name) } }

  /// A CloudEvent (version 1.0, JSON format) of it.
  package var cloudEvent: JSON {
    var object = JSON.Object()
    object["specversion"] = "1.0"
    object["id"] = .string(id)
    object["source"] = .string("/containers/\(container.text)/\(environment.rawValue)")
    object["type"] = .string("caravan.notification.\(reason.rawValue)")
    object["time"] = .string(RFC3339.text(milliseconds: at))
    object["datacontenttype"] = "application/json"
    object["data"] = json(atMost: .max)
    return .object(object)
  }
}
