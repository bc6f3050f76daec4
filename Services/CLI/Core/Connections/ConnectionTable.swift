public import CaravanEncoding
public import CaravanModel

/// How many connections the broker is to have.
public struct ConnectionLimits: Sendable, Hashable {
  /// Of one device.
  public var each: Int
  /// Of one server app, which runs on several machines.
  public var eachServerApp: Int
  /// Of the account, services included.
  public var all: Int

  public static let standardEach = 4
  public static let standardEachServerApp = 64
  public static let standardAll = 50_000

  public init(
    each: Int = standardEach, eachServerApp: Int = standardEachServerApp, all: Int = standardAll
  ) {
    precondition(each > 0 && eachServerApp > 0 && all > 0, "a bound of no connections lets nobody in")
    self.each = each
    self.eachServerApp = eachServerApp
    self.all = all
  }

  /// From so many on a warning is due.
  public var warning: Int { all - all / 5 }
}

/// A connection as the broker tells of it.
public struct BrokerConnection: Sendable, Hashable {
  /// The broker's id, and its number for the connection.
  public struct ID: Sendable, Hashable {
    public var server: String
    public var number: UInt64

    public init(server: String, number: UInt64) {
      self.server = server
      self.number = number
    }
  }

  public var id: ID
  /// The public key of its user.
  public var key: String
  /// Who signed the user.
  public var issuer: String
  public var name: String

  public init(id: ID, key: String, issuer: String, name: String) {
    self.id = id
    self.key = key
    self.issuer = issuer
    self.name = name
  }

  /// What a broker says when a connection begins or ends.
  /// - Throws: `invalidData` when it is something else.
  public init(event: JSON) throws(CaravanError) {
    guard let server = event["server"]?["id"]?.stringValue, let client = event["client"],
      let number = client["id"]?.intValue
    else { throw CaravanError(.invalidData, "the broker tells of a connection without its server or number") }
    self.init(
      id: ID(server: server, number: UInt64(clamping: number)), key: client["user"]?.stringValue ?? "",
      issuer: client["issuer_key"]?.stringValue ?? "", name: client["name_tag"]?.stringValue ?? "")
  }

  /// Whether it is a server app's: the account's own key signs these, and services, whose names are other ones.
  public var isServerApp: Bool { (try? UserID(name)).flatMap { ServerApp($0) } != nil }

  /// One of the list of a broker's connections.
  public init?(listed: JSON, by server: String) {
    guard let number = listed["cid"]?.intValue else { return nil }
    self.init(
      id: ID(server: server, number: UInt64(clamping: number)), key: listed["authorized_user"]?.stringValue ?? "",
      issuer: listed["issuer_key"]?.stringValue ?? "", name: listed["name_tag"]?.stringValue ?? "")
  }
}

/// Which connections there are, and of which devices and server apps there are too many.
public struct ConnectionTable: Sendable {
  private let limits: ConnectionLimits
  /// Whose users are devices.
  private let signer: String
  private var connections: [BrokerConnection.ID: BrokerConnection] = [:]
  private var owners: [String: Owner] = [:]
  private var isWarned = false

  private struct Owner {
    let name: String
    let isServerApp: Bool
    var count: Int
  }

  /// - Parameter signer: the public key that signs devices, and nobody else.
  public init(_ limits: ConnectionLimits, signer: String) {
    self.limits = limits
    self.signer = signer
  }

  public var count: Int { connections.count }

  /// Devices that are connected now.
  public var devices: Int { owners.values.count { !$0.isServerApp } }

  /// Those of services are not counted, nor those of programs that decide conflicts.
  private func isCounted(_ connection: BrokerConnection) -> Bool {
    connection.issuer == signer || connection.isServerApp
  }

  public mutating func opened(_ connection: BrokerConnection) {
    // What a broker tells of a connection last is true of it: it may be another user's than was told before.
    if let known = connections[connection.id] {
      guard known != connection else { return }
      closed(known.id)
    }
    connections[connection.id] = connection
    if isCounted(connection) {
      let isServerApp = connection.issuer != signer
      owners[connection.key, default: Owner(name: connection.name, isServerApp: isServerApp, count: 0)].count += 1
    }
    checkInvariants()
  }

  /// The counts of devices are those of their connections.
  private func checkInvariants() {
    precondition(owners.count <= connections.count, "a device is connected by no connection")
    // All of many are not counted again after each.
    guard connections.count <= 64 else { return }
    assert(
      owners.values.reduce(0) { $0 + $1.count } == connections.values.count(where: isCounted),
      "a connection is counted for no device, or for another one")
    assert(owners.values.allSatisfy { $0.count > 0 }, "a device without connections is counted")
  }

  /// One that is not known has ended already, as far as anybody knows.
  public mutating func closed(_ id: BrokerConnection.ID) {
    guard let connection = connections.removeValue(forKey: id), isCounted(connection) else { return }
    guard var owner = owners[connection.key] else { preconditionFailure("a connection of a device was not counted") }
    owner.count -= 1
    precondition(owner.count >= 0, "a device has less than no connections")
    owners[connection.key] = owner.count > 0 ? owner : nil
    checkInvariants()
  }

  /// What a broker lists takes the place of what it told.
  public mutating func replace(with listed: [BrokerConnection]) {
    connections = [:]
    owners = [:]
    for connection in listed { opened(connection) }
  }

  /// A device, or a server app, with more connections than it may have.
  public struct Crowd: Sendable, Hashable {
    public let key: String
    public let name: String
    public let count: Int
    public let limit: Int
    public let isServerApp: Bool
  }

  public func crowd(of key: String) -> Crowd? {
    guard let owner = owners[key] else { return nil }
    let limit = owner.isServerApp ? limits.eachServerApp : limits.each
    guard owner.count > limit else { return nil }
    precondition(owner.count <= count, "a device has more connections than there are")
    return Crowd(
      key: key, name: owner.name, count: owner.count, limit: limit, isServerApp: owner.isServerApp)
  }

  public var crowds: [Crowd] { owners.keys.sorted().compactMap(crowd) }

  /// Whether a warning is due that the account's last bound is near: once, and again only after it was far.
  public mutating func takeWarning() -> Bool {
    let isNear = count >= limits.warning
    defer { isWarned = isNear || (isWarned && count > limits.warning * 7 / 8) }
    return isNear && !isWarned
  }
}
