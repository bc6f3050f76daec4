internal import CaravanBus
package import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanSchemaClient
internal import CaravanStorageClient

/// Who holds credentials of its own, beside devices.
package enum Holder: String, Sendable, CaseIterable {
  case storage, sync, schema, notify, query, push, gateway
  /// Whoever operates the suite, through this program.
  case cli
  /// Tells the suite of the connections that the broker has.
  case connections
  /// Watches connections at the broker and revokes devices there: in the system account, unlike all others.
  case system

  /// Also the middle of its inbox. No user can have it: a user's name has no `_`, and the broker lets a device listen
  /// below the inbox of its user and its own name only.
  package var userName: String { "svc_\(rawValue)" }

  /// A request's answer may come so late.
  fileprivate static let answerLifetime: Int64 = 120_000_000_000

  /// The subjects its code needs, and nothing else (architecture §4). Answers go where their requests say, once.
  package var permissions: Permissions {
    var permissions = Permissions(
      publish: Permissions.Rules(allow: asks), subscribe: Permissions.Rules(allow: listens + ["inbox.\(userName).>"]))
    if asks.isEmpty { permissions.publish = .nothing }
    if isService { permissions.responses = Permissions.Responses(count: 1, lifetime: Self.answerLifetime) }
    return permissions
  }

  private var isService: Bool {
    switch self {
    case .storage, .sync, .schema, .notify, .query, .push, .gateway, .connections: true
    case .cli, .system: false
    }
  }

  /// What it publishes to.
  private var asks: [String] {
    switch self {
    case .storage:
      [SubjectPattern.everyChange.text, Subject.discovery(.ping, service: "caravan-storage").text]
        + Self.schema([.type])
    case .sync:
      Self.storage([
        .commit, .commits, .settle, .group, .lock, .changes, .fetch, .zones, .changed, .create, .drop, .lease,
        .schedule, .cancel, .parcel, .damage, .time,
      ])
        + Self.schema([.type, .types, .propose, .change, .history, .container, .grants, .roles, .members])
        + Self.partitioned(.notify, ["attach"]) + Self.partitioned(.query, ["find", "subscriptions"])
        + [Subject.service(.push, method: "register").text]
        + [SubjectPattern.everyAck(nil).text, SubjectPattern.everyExtension.text]
    case .schema: Self.storage([.commit, .commits, .changes, .fetch, .zones])
    case .notify:
      Self.storage([.zones, .changes, .fetch, .commit, .commits] + Self.following)
        + ["svc.notify.*", "inbox.*.*.notify", Subject.service(.push, method: "deliver").text]
    case .query:
      Self.storage([.zones, .changes, .fetch, .commit, .commits] + Self.following)
        + Self.schema([.type, .types, .template, .container, .roles]) + Self.partitioned(.query, ["shard"])
        + ["svc.query.*"]
    case .gateway: Self.storage([.commit, .commits, .changes, .fetch]) + Self.discovery
    case .cli:
      // Nobody serves `floor`: `caravan bench` answers itself there, as storage.
      Self.storage([.status, .quota, .schedule, .cancel, .actions, .move, .damage, .clock])
        + Self.partitioned(.storage, ["floor"])
        + Self.schema(SchemaMethod.allCases)
        + Self.partitioned(.query, ["find"]) + Self.discovery
    // It answers, and asks nobody.
    case .push, .connections: []
    case .system: [Subject.claimsUpdate.text, Subject.connections(account: "*").text]
    }
  }

  /// What it subscribes to, beside its inbox.
  private var listens: [String] {
    switch self {
    case .storage: ["svc.storage.>", SubjectPattern.everyChunks(nil).text] + Self.discovery
    case .sync: [SubjectPattern.everyExchange.text] + Self.discovery
    case .schema: ["svc.schema.*"] + Self.discovery
    case .notify: ["svc.notify.>", SubjectPattern.everyAck(nil).text, SubjectPattern.everyChange.text] + Self.discovery
    case .query: ["svc.query.>", SubjectPattern.everyChange.text] + Self.discovery
    case .gateway: [SubjectPattern.everyRenewal.text] + Self.discovery
    case .push: ["svc.push.*"] + Self.discovery
    case .connections: Self.discovery
    case .cli: []
    case .system: [SubjectPattern.everyConnection(account: "*").text]
    }
  }

  private static let discovery = ["$SRV.>"]

  /// What owners of partitions ask storage; each other they ask at `svc.<service>.<member>`.
  private static let following: [StorageMethod] = [.log, .heads, .lease, .cursor]

  private static func storage(_ methods: [StorageMethod]) -> [String] { methods.map(\.pattern.text) }
  private static func schema(_ methods: [SchemaMethod]) -> [String] { methods.map(\.subject.text) }

  private static func partitioned(_ service: ServiceName, _ methods: [String]) -> [String] {
    methods.map { SubjectPattern.everyPartition(service, method: $0).text }
  }
}

extension UserClaims {
  /// Of a server app, under one name for each of its containers. These names are tags as well, so that the program
  /// finds in its credentials as whom it speaks.
  static func serverApp(_ app: ServerApp, as names: [EnrolledDevice]) -> UserClaims {
    precondition(names.allSatisfy { $0.user == app.user }, "the credentials of '\(app)' would be another's as well")
    return UserClaims(
      .explicit(.serverApp(as: names)), tags: ["user:\(app.user)"] + names.map { "container:\($0.token)" },
      limits: .device)
  }
}

extension UserLimits {
  /// Of a device's connection: an agent has some forty subscriptions, one for each answer that it waits for.
  static let device = UserLimits(subscriptions: 128, payload: Int64(NATSConfiguration.messageBytes))
}

extension UserScope {
  /// Of whatever signs devices.
  package static func devices(signedBy key: PublicNKey) -> UserScope {
    UserScope(key: key, role: "device", permissions: .device, limits: .device)
  }
}

extension Permissions {
  /// What the broker makes of a device's user and its name, which is `<device>_<enrolment>` (architecture §4).
  /// Credentials from before enrolments had numbers are named after the device alone: they may hear that they are too
  /// old, at the inbox of that time, which is below no user's: there, the token after the user has a number.
  static let device = Permissions(
    publish: Rules(allow: ["edge.{{tag(user)}}.{{name()}}.>"]),
    subscribe: Rules(allow: ["inbox.{{tag(user)}}.{{name()}}.>", "inbox.{{name()}}.r.>", "inbox.{{name()}}.notify"]))

  /// Of a server app (MOB-56): what a device has, for each of its names, and no renewal, as its credentials stay good.
  static func serverApp(as names: [EnrolledDevice]) -> Permissions {
    precondition(!names.isEmpty, "an empty list of subjects allows all there are")
    let places = names.map { "edge.\($0.user).\($0.token)" }
    return Permissions(
      publish: Rules(allow: places.flatMap { ["\($0).exchange", "\($0).chunks.*", "\($0).acks.*"] }),
      subscribe: Rules(allow: names.map { "\($0.inbox).>" }))
  }

  /// Of a program that decides the conflicts of one record type (CK-36): it hears disputes of that type, answers each
  /// once, and neither asks nor hears anything else.
  static func decider(of container: ContainerID, type: String) -> Permissions {
    var permissions = Permissions(
      publish: .nothing, subscribe: Rules(allow: [Subject.extension(container, type: type).text]))
    permissions.responses = Responses(count: 1, lifetime: Holder.answerLifetime)
    return permissions
  }
}
