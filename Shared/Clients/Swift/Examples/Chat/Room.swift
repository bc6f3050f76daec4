import CaravanClient
import FoundationEssentials
import Glibc

/// The room: records of two types in the public database, which everybody reads, and of which nobody changes another's.
struct Room {
  let client: CaravanClient
  let memory: Memory
  /// Subscriptions are made as the schema's templates say, which production wants.
  let usesTemplates: Bool

  private var users: Table { client.table("users") }
  private var messages: Table { client.table("messages") }

  // MARK: Writing

  /// A user's record is called as the user is: no two records of a database have one name, and only who has made a
  /// record saves it again. So nobody speaks under another's name.
  func join(as name: String) async throws {
    let user = CloudRecord("user-\(name)", ["joined": .integer(Int64(Date().timeIntervalSince1970 * 1000))])
    let outcome = try await users.cloud(.public).save(user, mode: .changedKeys)
    if case .refused(let error) = outcome, error.code == .accessDenied {
      throw CaravanError(.objectExists, "somebody else is called '\(name)' here: take another name")
    }
    try await memory.remember("me", outcome.get()?.modified?.user ?? "")
    try await say("\(name) has joined")
    if usesTemplates {
      try await client.subscribe("messages", template: "messages", in: .public)
    } else {
      // Silent: the app shows what a notification carries, and need not ask for the record.
      try await messages.subscribe(
        "messages", events: .enters, showing: NotificationContent(fields: ["text"]), in: .public)
    }
  }

  /// Says it once, also where the answer is lost on its way: the same changes can be committed again, and of a picture
  /// goes then what had not arrived.
  func say(_ text: String, with picture: [UInt8]? = nil) async throws {
    var message = CloudRecord("message-\(UUID().uuidString)", ["text": .text(text)])
    if let picture { message.contents["photo"] = picture }
    let changes = CloudChanges(saving: [message])
    let outcomes: [CloudOutcome]
    do { outcomes = try await messages.cloud(.public).commit(changes) } catch {
      guard error.code == .timedOut else { throw error }
      outcomes = try await messages.cloud(.public).commit(changes)
    }
    try outcomes[0].get()
  }

  // MARK: Topics

  func add(_ topic: String) async throws {
    if usesTemplates {
      try await client.subscribe("topic-\(topic)", template: "topic", parameters: [.text(topic)], in: .public)
    } else {
      let banner = NotificationContent(
        title: "A topic of yours", bodyKey: "SAYS", bodyArguments: ["text"], badges: true, sound: "ping",
        fields: ["text"])
      try await messages.subscribe(
        "topic-\(topic)", to: .init("text MATCH ?", [.text(topic)]), events: .enters, showing: banner, in: .public)
    }
  }

  func remove(_ topic: String) async throws { try await client.unsubscribe("topic-\(topic)", in: .public) }

  func topics() async throws -> [String] { try await client.subscriptions(in: .public).compactMap { topic(of: $0.id) } }

  private func topic(of subscription: String) -> String? {
    subscription.hasPrefix("topic-") ? String(subscription.dropFirst("topic-".count)) : nil
  }

  // MARK: Reading

  /// How many messages about the user's topics nobody has seen on this device.
  func missed() async throws -> Int {
    do { try await client.fetchNotifications() } catch {
      // Without a network it is those that had come before.
      guard error.isTransient else { throw error }
    }
    let me = try await memory.recall("me")
    var count = 0
    for try await note in client.notifications(after: try await cursor(), waits: false) {
      if note.content.badges, note.act?.user != me { count += 1 }
    }
    return count
  }

  /// Shows each message once, also those that came while nobody listened, and those about topics with a banner.
  func listen(waits: Bool) async throws {
    let missed = try await missed()
    if missed > 0 { show("\(missed) message\(missed == 1 ? "" : "s") about your topics while you were away") }
    var names = Names(users)
    let me = try await memory.recall("me")
    for try await note in client.notifications(after: try await cursor(), waits: waits) {
      if let line = await line(of: note, me, &names) { show(line, rings: !note.content.sound.isEmpty) }
      try await memory.remember("cursor", note.cursor.description)
    }
  }

  private func cursor() async throws -> NotificationCursor {
    try await memory.recall("cursor").flatMap(NotificationCursor.init) ?? .start
  }

  /// What a notification shows; nil: nothing.
  private func line(of note: CloudNotification, _ me: String?, _ names: inout Names) async -> String? {
    guard note.reason != .missed else { return "there was more: caravan-chat history shows it" }
    let (name, content) = (await names.name(of: note.act), note.content)
    guard let topic = topic(of: note.subscription) else { return "\(name): \(content.fields["text"]?.textValue ?? "")" }
    // Nobody needs to be told of their own words.
    guard note.act?.user != me else { return nil }
    let body = texts[content.bodyKey, default: { _ in "" }](content.bodyArguments)
    return "*** \(content.title), \(topic): \(name) \(body)"
  }

  /// The last messages, oldest first.
  func history(_ limit: Int) async throws {
    let order = [CloudOrder("___createTime", isDescending: true)]
    var names = Names(users)
    for found in try await messages.queryCloud(in: .public, orderBy: order, limit: limit).all().reversed() {
      let act = found.row.created
      let time = Date(timeIntervalSince1970: Double(act?.milliseconds ?? 0) / 1000).formatted(.iso8601)
      let picture = found.row.objects["photo"].map { " [\($0) bytes: caravan-chat photo \(found.row.id) FILE]" } ?? ""
      show("\(time)  \(await names.name(of: act)): \(found.row["text"].textValue ?? "")\(picture)")
    }
  }

  /// Writes a message's picture to a file. It stays in the cloud: no more of it than a piece is on this device.
  func savePhoto(of message: String, to path: String) async throws {
    let cloud = messages.cloud(.public)
    guard let record = try await cloud.fetch(message, columns: ["photo"]), record.objects["photo"] != nil else {
      throw CaravanError(.noSuchObject, "there is no message '\(message)' with a picture: see caravan-chat history")
    }
    try await Picture.write(cloud.contents(of: "photo", in: record), to: path)
  }
}

/// Texts that notifications name, in this app's language.
let texts: [String: @Sendable ([String]) -> String] = ["SAYS": { "says: \($0.first ?? "")" }]

/// How users call themselves, by how the cloud calls them in this app.
struct Names {
  private let users: Table
  private var known: [String: String] = [:]

  init(_ users: Table) { self.users = users }

  mutating func name(of act: RowAct?) async -> String {
    guard let user = act?.user, !user.isEmpty else { return "somebody" }
    if let name = known[user] { return name }
    let found = users.queryCloud(
      .init("___createdBy = ?", [.text(user)]), in: .public, orderBy: [CloudOrder("___modTime", isDescending: true)],
      limit: 1)
    // Without a network a message shows all the same.
    guard let id = (try? await found.all())?.first?.row.id, id.hasPrefix("user-") else { return "somebody" }
    let name = String(id.dropFirst("user-".count))
    known[user] = name
    return name
  }
}

/// At once, even into a pipe; what others have written gets no control of the terminal.
func show(_ line: String, rings: Bool = false) {
  let harmless = line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
  print((rings ? "\u{7}" : "") + String(String.UnicodeScalarView(harmless)))
  fflush(nil)
}
