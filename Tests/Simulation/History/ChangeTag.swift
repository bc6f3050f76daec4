internal import CaravanAgentCore
internal import CaravanModel

/// Names one local change for ever: the device and how many came before. It is a cell of the row, so that every copy of
/// a row says which change made it.
public struct ChangeTag: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let device: String
  public let number: Int

  public init(device: String, number: Int) {
    self.device = device
    self.number = number
  }

  /// From a cell; nil when it is none.
  public init?(_ text: String) {
    let parts = text.split(separator: ".")
    guard text.hasPrefix("#"), parts.count == 2, let number = Int(parts[1]) else { return nil }
    self.init(device: String(parts[0].dropFirst()), number: number)
  }

  public var description: String { "#\(device).\(number)" }
  public static func < (a: Self, b: Self) -> Bool { (a.device, a.number) < (b.device, b.number) }
}

/// One user's copy of a table, whichever device it is on: what converges.
public struct Place: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let user: String
  public let app: String
  public let table: String

  public init(user: String, app: String, table: String) {
    self.user = user
    self.app = app
    self.table = table
  }

  var id: TableID { TableID(app: ContainerID(unchecked: app), name: table) }
  var database: DatabaseID {
    DatabaseID(container: ContainerID(unchecked: app), environment: .development, owner: UserID(unchecked: user))
  }

  public var description: String { "\(user)/\(app)/\(table)" }
  public static func < (a: Self, b: Self) -> Bool { (a.user, a.app, a.table) < (b.user, b.app, b.table) }
}

/// One row of a place.
public struct RowKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let place: Place
  public let row: String

  public init(_ place: Place, _ row: String) {
    self.place = place
    self.row = row
  }

  public var description: String { "\(place)/\(row)" }
  public static func < (a: Self, b: Self) -> Bool { (a.place, a.row) < (b.place, b.row) }
}
