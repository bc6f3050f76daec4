internal import CLICore
internal import Client
internal import Encoding
internal import Model
internal import Runtime

/// `caravan app`: by hand what an app does with `CaravanClient`.
enum AppCommands {
  /// Flags with a value that may stand before the command's word.
  static let leadingFlags: Set<String> = ["socket", "app"]

  static let tools: [Tool] = tables + AppRowCommands.tools + AppSyncCommands.tools + AppConflictCommands.tools + device

  /// Operands of the longest command line.
  static let operandLimit = 1_000

  // MARK: Tables

  private static let localOnly = Flag<Bool>("local-only", "keep the table on this device")

  private static let tables = [
    AppSession.tool(
      "create-table", "Makes a table, or confirms that it is there.", .init("TABLE SCHEMA", 2...2), flags: [localOnly]
    ) { session in
      let table = session.operands[0]
      try await session.client.createTable(table, session.operands[1], isLocalOnly: session.options[localOnly])
      session.say("table '\(table)' is there", json: ["table": .string(table)])
    },
    AppSession.tool("drop-table", "Removes a table with its rows and objects.", .init("TABLE", 1...1)) { session in
      let table = session.operands[0]
      try await session.client.dropTable(table)
      session.say("table '\(table)' is gone", json: ["table": .string(table)])
    },
  ]

  // MARK: The device

  private static let device = [
    AppSession.tool("status", "How the device and the app's tables stand.") { session in
      let status = try await session.client.status()
      session.say(text(status), json: json(status))
    },
    AppSession.tool(
      "set-link", "Announces or simulates the device's link.", .init("wired|wifi|cellular|roaming|none", 1...1)
    ) { session in
      let link = try LinkText.parse(session.operands[0])
      try await session.client.setLink(link)
      session.say("the link is \(LinkText.name(link))", json: ["link": .string(LinkText.name(link))])
    },
  ]

  private static func text(_ status: DeviceStatus) -> String {
    let state = status.isConnected ? "connected" : "not connected"
    let head = "device \(status.device) of \(status.user), link \(LinkText.name(status.link)), \(state)"
    guard !status.tables.isEmpty else { return "\(head)\nno tables: caravan app create-table" }
    var table = TextTable([
      "TABLE", ">ROWS", ">DIRTY", ">PENDING", ">CONFLICTS", ">TORN", "LAST SYNC", ">UP", ">DOWN", "LOST",
      "REFUSED",
    ])
    for item in status.tables {
      table.add(
        [item.name] + [item.rows, item.dirty, item.pending, item.conflicts, item.torn].map(String.init) + [
          time(item.lastSync).map { String($0.prefix(19)) } ?? "never", Size.text(item.bytesUp),
          Size.text(item.bytesDown), item.loss.map(lost) ?? "-", item.refused,
        ])
    }
    return "\(head)\n\(table.text)"
  }

  private static func lost(_ loss: DeviceStatus.Loss) -> String {
    "\(loss.lostInQueue + loss.lostToBusyServer) of \(loss.accepted)"
  }

  private static func json(_ status: DeviceStatus) -> JSON {
    [
      "device": .string(status.device), "user": .string(status.user), "link": .string(LinkText.name(status.link)),
      "connected": .bool(status.isConnected), "tables": .array(status.tables.map(json)),
      "counters": .object(JSON.Object(sorting: status.counters.mapValues { .int(Int64(clamping: $0)) })),
    ]
  }

  private static func json(_ table: DeviceStatus.Table) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "table": .string(table.name), "rows": number(table.rows), "dirty": number(table.dirty),
      "pending": number(table.pending), "conflicts": number(table.conflicts), "torn": number(table.torn),
      "last_sync": time(table.lastSync).map(JSON.string) ?? .null, "bytes_up": number(table.bytesUp),
      "bytes_down": number(table.bytesDown), "refused": table.refused.isEmpty ? .null : .string(table.refused),
      "schema": .string(table.schema), "loss": table.loss.map(json) ?? .null,
    ]
  }

  private static func json(_ loss: DeviceStatus.Loss) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "maximum_permille": number(UInt64(loss.tolerance.maximumPermille)), "accepted": number(loss.accepted),
      "settled": number(loss.settled), "expired": number(loss.expired),
      "lost": ["queue": number(loss.lostInQueue), "server": number(loss.lostToBusyServer)],
    ]
  }

  /// RFC 3339; nil: never.
  private static func time(_ milliseconds: UInt64) -> String? {
    milliseconds == 0 ? nil : WallTime(milliseconds: Int64(clamping: milliseconds)).description
  }
}
