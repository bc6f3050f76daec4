public import CaravanModel

extension Subject {
  /// As it travels.
  public var text: String {
    switch self {
    case .exchange(let device): "edge.\(device.user).\(device.token).exchange"
    case .chunks(let device, let partition): "edge.\(device.user).\(device.token).chunks.\(partition)"
    case .acks(let device, let partition): "edge.\(device.user).\(device.token).acks.\(partition)"
    case .renew(let device): "edge.\(device.user).\(device.token).renew"
    case .unnumbered(let user, let device, let rest): "edge.\(user).\(device).\(rest)"
    case .notify(let device): "\(device.inbox).notify"
    case .service(let service, let method): "svc.\(service.rawValue).\(method)"
    case .partitioned(let service, let partition, let method): "svc.\(service.rawValue).\(partition).\(method)"
    case .changes(let partition): "changes.\(partition)"
    case .extension(let container, let type): "ext.\(container).\(type)"
    case .discovery(let verb, let service, let instance):
      ["$SRV", verb.rawValue, service, instance].compactMap(\.self).joined(separator: ".")
    case .claimsUpdate: Self.claimsUpdateText
    case .connection(let account, let isOpen): "$SYS.ACCOUNT.\(account).\(isOpen ? "CONNECT" : "DISCONNECT")"
    case .connections(let account): "$SYS.REQ.ACCOUNT.\(account).CONNZ"
    }
  }

  private static let claimsUpdateText = "$SYS.REQ.CLAIMS.UPDATE"

  /// Longest subject that is looked at.
  private static let maximumBytes = 512

  /// - Throws: `invalidData` when `text` is none of Caravan's subjects.
  public init(parsing text: String) throws(CaravanError) {
    guard text.utf8.count <= Self.maximumBytes, let subject = try? Self.read(text) else {
      throw CaravanError(.invalidData, "'\(text.prefix(80))' is not a subject of Caravan")
    }
    self = subject
  }

  private static func read(_ text: String) throws(CaravanError) -> Subject? {
    if text == claimsUpdateText { return .claimsUpdate }
    let dot = UInt8(ascii: ".")
    let tokens = text.utf8.split(separator: dot, omittingEmptySubsequences: false).map { String(Substring($0)) }
    switch (tokens[0], tokens.count) {
    case ("edge", 4...5): return try device(UserID(tokens[1]), tokens[2], Array(tokens[3...]))
    case ("inbox", 4) where tokens[3] == "notify":
      return .notify(try EnrolledDevice(user: UserID(tokens[1]), token: tokens[2]))
    case ("svc", 3) where isName(tokens[2]):
      return ServiceName(rawValue: tokens[1]).map { Subject.service($0, method: tokens[2]) }
    case ("svc", 4) where isName(tokens[3]):
      let partition = try partition(tokens[2])
      return ServiceName(rawValue: tokens[1]).map { Subject.partitioned($0, partition, method: tokens[3]) }
    case ("changes", 2): return .changes(try partition(tokens[1]))
    case ("ext", 3) where isName(tokens[2]): return .extension(try ContainerID(tokens[1]), type: tokens[2])
    case ("$SRV", 2...4) where tokens.dropFirst(2).allSatisfy(isName):
      let names = tokens.dropFirst(2).map { Optional($0) } + [nil, nil]
      return DiscoveryVerb(rawValue: tokens[1]).map { .discovery($0, service: names[0], instance: names[1]) }
    case ("$SYS", 4)
    where tokens[1] == "ACCOUNT" && isName(tokens[2]) && ["CONNECT", "DISCONNECT"].contains(tokens[3]):
      return .connection(account: tokens[2], isOpen: tokens[3] == "CONNECT")
    case ("$SYS", 5) where tokens[1...2] == ["REQ", "ACCOUNT"] && isName(tokens[3]) && tokens[4] == "CONNZ":
      return .connections(account: tokens[3])
    default: return nil
    }
  }

  private static func device(
    _ user: UserID, _ token: String, _ rest: [String]
  ) throws(CaravanError) -> Subject? {
    guard token.utf8.contains(UInt8(ascii: "_")) else {
      guard rest.allSatisfy(isName) else { return nil }
      return .unnumbered(user: user, device: try DeviceID(token), rest: rest.joined(separator: "."))
    }
    let device = try EnrolledDevice(user: user, token: token)
    switch (rest[0], rest.count) {
    case ("exchange", 1): return .exchange(device)
    case ("renew", 1): return .renew(device)
    case ("chunks", 2): return .chunks(device, try partition(rest[1]))
    case ("acks", 2): return .acks(device, try partition(rest[1]))
    default: return nil
    }
  }

  /// 1–64 of `A-Z a-z 0-9 _ -`: a method, a service or an instance.
  static func isName(_ token: String) -> Bool {
    (1...64).contains(token.utf8.count)
      && token.utf8.allSatisfy {
        (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x2d
      }
  }

  private static func partition(_ token: String) throws(CaravanError) -> Partition {
    guard let number = UInt32(token), String(number) == token else {
      throw CaravanError(.invalidData, "'\(token)' is not a partition")
    }
    return try Partition(number)
  }
}

extension SubjectPattern {
  /// As a broker understands it.
  public var text: String {
    switch self {
    case .exact(let subject): subject.text
    case .everyExchange: "edge.*.*.exchange"
    case .everyChunks(let partition): "edge.*.*.chunks.\(partition?.description ?? "*")"
    case .everyAck(let partition): "edge.*.*.acks.\(partition?.description ?? "*")"
    case .everyRenewal: "edge.*.*.renew"
    case .everyPartition(let service, let method): "svc.\(service.rawValue).*.\(method)"
    case .everyChange: "changes.*"
    case .everyExtension: "ext.*.*"
    case .everyConnection(let account): "$SYS.ACCOUNT.\(account).*"
    }
  }

  public func matches(_ subject: Subject) -> Bool {
    switch (self, subject) {
    case (.exact(let wanted), _): wanted == subject
    case (.everyExchange, .exchange), (.everyRenewal, .renew): true
    case (.everyExchange, .unnumbered(_, _, let rest)): rest == "exchange"
    case (.everyRenewal, .unnumbered(_, _, let rest)): rest == "renew"
    case (.everyChunks(let wanted), .chunks(_, let partition)): wanted == nil || wanted == partition
    case (.everyChunks(let wanted), .unnumbered(_, _, let rest)): Self.fits(rest, "chunks", wanted)
    case (.everyAck(let wanted), .acks(_, let partition)): wanted == nil || wanted == partition
    case (.everyAck(let wanted), .unnumbered(_, _, let rest)): Self.fits(rest, "acks", wanted)
    case (.everyPartition(let service, let method), .partitioned(let toService, _, let toMethod)):
      service == toService && method == toMethod
    case (.everyChange, .changes), (.everyExtension, .extension): true
    case (.everyConnection(let wanted), .connection(let account, _)): wanted == account
    case (.everyExchange, _), (.everyChunks, _), (.everyAck, _), (.everyRenewal, _), (.everyPartition, _),
      (.everyChange, _), (.everyExtension, _), (.everyConnection, _):
      false
    }
  }

  /// As the broker matches: `<method>.<partition>`, or `<method>.*`.
  private static func fits(_ rest: String, _ method: String, _ partition: Partition?) -> Bool {
    let tokens = rest.split(separator: ".")
    return tokens.count == 2 && tokens[0] == method && (partition.map { tokens[1] == $0.description } ?? true)
  }
}
