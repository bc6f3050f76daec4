public import CaravanModel

/// What a package says of its app in `/usr/share/caravan/apps/NAME.conf`: lines of `name = …` and `uid = …`, of which
/// the second has a number or the name of a user; where the app is to be started for what arrives while it does not run
/// (CK-85) also `start = …`, and `start-for = …` with names of tables. What follows `#` is a comment.
public struct AppRegistration: Sendable, Hashable {
  /// A longer file is something else.
  public static let maximumBytes = 4 << 10

  public enum User: Sendable, Hashable {
    case number(UInt32)
    case name(String)
  }

  /// How the app is started when it does not run.
  public struct Start: Sendable, Hashable {
    /// The path of a socket at which somebody listens in the app's place.
    public var socket: String
    /// What of these tables the app has not been told starts it.
    public var tables: Set<String>
  }

  /// Tables that may start one app.
  public static let startTables = 32

  public let app: ContainerID
  public let user: User
  /// nil: it is not started.
  public let start: Start?

  /// - Throws: `invalidData` with what is wrong.
  public init(parsing text: String) throws(CaravanError) {
    var values: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.prefix { $0 != "#" }
      guard content.contains(where: { !$0.isWhitespace }) else { continue }
      let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
      guard parts.count == 2, ["name", "uid", "start", "start-for"].contains(parts[0]), values[parts[0]] == nil else {
        throw CaravanError(
          .invalidData,
          "the line '\(line.prefix(80))' is not 'name = …', 'uid = …', 'start = …' or 'start-for = …', each once")
      }
      values[parts[0]] = parts[1]
    }
    guard let name = values["name"], let user = values["uid"], !user.isEmpty else {
      throw CaravanError(.invalidData, "it needs a line 'name = …' and a line 'uid = …'")
    }
    app = try ContainerID(name)
    self.user = UInt32(user).map(User.number) ?? .name(user)
    start = try Self.start(values)
  }

  private static func start(_ values: [String: String]) throws(CaravanError) -> Start? {
    guard let socket = values["start"] else {
      guard values["start-for"] == nil else {
        throw CaravanError(.invalidData, "'start-for' says for what the app is started: 'start = SOCKET' says how")
      }
      return nil
    }
    guard socket.hasPrefix("/") else {
      throw CaravanError(.invalidData, "'start = \(socket.prefix(80))' is not the path of a socket, from the root on")
    }
    let named = values["start-for"].map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    let tables = named ?? [NotificationLog.name]
    guard (1...startTables).contains(tables.count) else {
      throw CaravanError(.invalidData, "'start-for' has names of 1 to \(startTables) tables, with spaces between")
    }
    return Start(socket: socket, tables: Set(tables))
  }

  /// - Parameter passwords: the lines of passwd(5).
  /// - Returns: the user's number; nil: there is no such user.
  public static func number(of user: String, in passwords: String) -> UInt32? {
    for line in passwords.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, fields[0] == user { return UInt32(fields[2]) }
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop(while: \.isWhitespace)
    guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...end])
  }
}
