internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// `caravan quota show|set|reset`: what users and containers hold and may hold (CK-102).
enum QuotaCommands {
  private static let user = Flag<String?>("user", "U", "whose private databases, in every container")
  private static let container = Flag<String?>("container", "C", "whose public database")
  private static let environment = Flag<String>(
    "environment", "E", "development or production: each has quotas of its own",
    default: Environment.development.rawValue)
  private static let records = Flag<String?>("records", "N", "most live records; 'any': no limit")
  private static let bytes = Flag<String?>("bytes", "N", "most bytes, chunks included, or such as 500M or 2G; 'any'")
  private static let json = Flag<Bool>("json", "for programs")
  private static let flags: FlagList =
    [Flag<String?>.suiteDirectory, user, container, environment, json] + Deployment.brokerFlags

  static let tools = [
    Tool(
      Command("caravan quota show", "Shows what an account uses and may use.", flags: flags)
    ) { options, terminal in try await run(options, terminal) { _ in QuotaRequest() } },
    Tool(
      Command(
        "caravan quota set", "Says what an account may use. What is there already stays.",
        flags: flags + [records, bytes]), changesCloud: true
    ) { options, terminal in
      let (records, bytes) = (try limit(options[records]), try limit(options[bytes]))
      guard records != nil || bytes != nil else {
        throw CaravanError(.invalidData, "--records or --bytes is required: what may it use?")
      }
      try await run(options, terminal) { state in
        QuotaRequest(
          set: CaravanWire.Quota(
            CaravanModel.Quota(
              records: records.map(\.number) ?? state.quota.records, bytes: bytes.map(\.number) ?? state.quota.bytes)))
      }
    },
    Tool(
      Command("caravan quota reset", "Gives an account the quota that storage was started with.", flags: flags),
      changesCloud: true
    ) { options, terminal in try await run(options, terminal) { _ in QuotaRequest(useDefault: true) } },
  ]

  /// A limit that was given; nil in it: none.
  private struct Limit: Sendable {
    let number: UInt64?
  }

  private static func limit(_ text: String?) throws(CaravanError) -> Limit? {
    guard let text else { return nil }
    if text == "any" { return Limit(number: nil) }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [Substring: UInt64] = ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    guard let number = UInt64(digits), let unit = units[text.dropFirst(digits.count)] else {
      throw CaravanError(.invalidData, "'\(text)' is no limit: use a number, with K, M, G or T behind it, or 'any'")
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow, product <= UInt64(Int64.max) else {
      throw CaravanError(.invalidData, "'\(text)' is more than can be counted: use 'any'")
    }
    return Limit(number: product)
  }

  private static func account(_ options: Options) throws(CaravanError) -> Account {
    let environment = try Environment(flag: options[Self.environment])
    switch (options[user], options[container]) {
    case (let user?, nil): return .user(try UserID(user), environment)
    case (nil, let container?): return .container(try ContainerID(container), environment)
    case (nil, nil), (_?, _?): throw CaravanError(.invalidData, "either --user or --container is required")
    }
  }

  /// - Parameter change: what to ask for, from what there is.
  private static func run(
    _ options: Options, _ terminal: Terminal, _ change: @Sendable (AccountState) -> QuotaRequest
  ) async throws(CaravanError) {
    let account = try account(options)
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let state = try await bus.with(terminal.host) { bus throws(CaravanError) in
      let storage = StorageClient(bus: bus, host: terminal.host, writer: "@cli")
      let state = try await storage.quota(QuotaRequest(), of: account)
      let request = change(state)
      return request == QuotaRequest() ? state : try await storage.quota(request, of: account)
    }
    show(state, asJSON: options[json], terminal)
  }

  private static func show(_ state: AccountState, asJSON: Bool, _ terminal: Terminal) {
    if asJSON {
      func limit(_ number: UInt64?) -> JSON { number.map { .int(Int64(clamping: $0)) } ?? .null }
      let object: JSON = [
        "account": .string(state.account.key), "records": .int(state.used.records), "bytes": .int(state.used.bytes),
        "max_records": limit(state.quota.records), "max_bytes": limit(state.quota.bytes),
        "default": .bool(state.isDefault),
      ]
      return terminal.say(object.encoded())
    }
    var table = TextTable(["", "USED", "ALLOWED"])
    table.add(["records", "\(state.used.records)", state.quota.records.map(String.init) ?? "any"])
    table.add(["bytes", "\(state.used.bytes)", state.quota.bytes.map(String.init) ?? "any"])
    terminal.say("\(state.account)\(state.isDefault ? ", as everybody" : "")\n\(table.text)")
  }
}
