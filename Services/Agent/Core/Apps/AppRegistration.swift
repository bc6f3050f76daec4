public import CaravanModel

/// What a package says of its app in `/usr/share/caravan/apps/NAME.conf`: lines of `name = …` and `uid = …`, of which
/// the second has a number or the name of a user. What follows `#` is a comment.
public struct AppRegistration: Sendable, Hashable {
  /// A longer file is something else.
  public static let maximumBytes = 4 << 10

  public enum User: Sendable, Hashable {
    case number(UInt32)
    case name(String)
  }

  public let app: ContainerID
  public let user: User

  /// - Throws: `invalidData` with what is wrong.
  public init(parsing text: String) throws(CaravanError) {
    var values: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.prefix { $0 != "#" }
      guard content.contains(where: { !$0.isWhitespace }) else { continue }
      let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
      guard parts.count == 2, ["name", "uid"].contains(parts[0]), values[parts[0]] == nil else {
        throw CaravanError(.invalidData, "the line '\(line.prefix(80))' is not 'name = …' or 'uid = …', each once")
      }
      values[parts[0]] = parts[1]
    }
    guard let name = values["name"], let user = values["uid"], !user.isEmpty else {
      throw CaravanError(.invalidData, "it needs a line 'name = …' and a line 'uid = …'")
    }
    app = try ContainerID(name)
    self.user = UInt32(user).map(User.number) ?? .name(user)
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
