internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `status`, `reset-device`, `set-link`, `policy`: the device as a whole.
enum AppDeviceCommands {
  private static let metered = Flag<Bool>("metered", "its bytes cost: it counts as cellular at least")
  private static let maximumLink = Flag<String?>(
    "max-link", "LINK", "use no dearer link, whatever apps prefer: wired, wifi, cellular, roaming, or none at all")
  private static let budgets = Flag<[String]>(
    "budget", "LINK=BYTES,...", "bytes a day, 50MB for instance; LINK=unlimited ends it", default: [])

  static let tools = [
    AppSession.tool("status", "How the device and the app's tables stand.") { session in
      let status = try await session.client.status()
      session.say(text(status), json: json(status))
    },
    AppSession.tool(
      "reset-device", "Has a broker that refused the device's credentials tried again, at once."
    ) { session in
      try await session.client.resetDevice()
      session.say("the broker is tried again", json: [:])
    },
    AppSession.tool(
      "set-link", "Announces or simulates the device's link; auto: as the machine says.",
      .init("wired|wifi|cellular|roaming|none|auto", 1...1), flags: [metered]
    ) { session in
      guard session.operands[0] != "auto" else {
        try await session.client.useDetectedLink()
        let status = try await session.client.status()
        return session.say("the link is watched: \(linkText(status))", json: linkJSON(status))
      }
      let link = try LinkText.parse(session.operands[0], or: ["none", "auto"])
      try await session.client.setLink(link, isMetered: session.options[metered])
      let status = try await session.client.status()
      session.say("the link is \(linkText(status))", json: linkJSON(status))
    },
    AppSession.tool(
      "policy", "Shows or sets what the user allows the device, whatever apps prefer.", flags: [maximumLink, budgets]
    ) { session in
      var policy = try await session.client.status().policy
      let old = policy
      if let link = session.options[maximumLink] { policy.maximumLink = try LinkText.parse(link) }
      for text in session.options[budgets] {
        let (link, bytes) = try BudgetText.parse(text)
        policy.dailyBytes[link] = bytes
      }
      if policy != old { try await session.client.setPolicy(policy) }
      let status = try await session.client.status()
      session.say(policyText(status), json: json(policy: status))
    },
  ]

  private static func linkText(_ status: DeviceStatus) -> String {
    let text = "\(status.isMetered ? "metered " : "")\(LinkText.name(status.link))"
    return status.isLinkAssumed ? "unknown, taken for \(text)" : text
  }

  private static let assumed =
    "the system does not say what the link is, so it counts as the dearest that a table names: name its device with "
    + "--device-link, or the link with --link"

  private static func linkJSON(_ status: DeviceStatus) -> JSON {
    [
      "link": .string(LinkText.name(status.link)), "metered": .bool(status.isMetered),
      "link_automatic": .bool(status.isLinkAutomatic), "link_assumed": .bool(status.isLinkAssumed),
    ]
  }

  private static func policyText(_ status: DeviceStatus) -> String {
    let head = "dearest link allowed: \(LinkText.name(status.policy.maximumLink))"
    return ([head] + status.policy.dailyBytes.keys.sorted().map { budgetText($0, status) }).joined(separator: "\n")
  }

  private static func budgetText(_ link: LinkClass, _ status: DeviceStatus) -> String {
    let (spent, budget) = (status.spentToday[link] ?? 0, status.policy.dailyBytes[link] ?? 0)
    return "\(link.name): \(Size.text(spent)) of \(Size.text(budget)) today"
  }

  private static func json(policy status: DeviceStatus) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    let budgets = status.policy.dailyBytes.sorted { $0.key < $1.key }.map { link, bytes -> JSON in
      ["link": .string(link.name), "daily_bytes": number(bytes), "used_today": number(status.spentToday[link] ?? 0)]
    }
    return ["max_link": .string(LinkText.name(status.policy.maximumLink)), "budgets": .array(budgets)]
  }

  static func text(_ status: DeviceStatus) -> String {
    let reason = status.unreachable.isEmpty || !status.refused.isEmpty ? "" : " (\(status.unreachable))"
    let state = status.isConnected ? "connected" : "not connected\(reason)"
    let why = status.refused.isEmpty ? ": see REFUSED" : ""
    let mode = status.mode.needsReset ? ", \(status.mode.rawValue)\(why)" : ""
    var head = "device \(status.device) of \(status.user), link \(linkText(status)), \(state)\(mode)"
    if !status.refused.isEmpty {
      head += "\n\(status.refused), since \(time(status.refusedSince) ?? "now"): \(status.remedy)"
    }
    if status.isLinkAssumed { head += "\n\(assumed)" }
    if status.isDiskFull { head += "\n\(fullDisk)" }
    // Why something may wait.
    if let link = status.link, status.policy.dailyBytes[link] != nil { head += "\n\(budgetText(link, status))" }
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
    let remedies = status.tables.filter { !$0.remedy.isEmpty }.map { "\n\($0.name): \($0.remedy)" }
    let torn =
      status.tables.filter { !$0.tornRows.isEmpty }.map { "\n\($0.name): \(tornText($0))" }
      + status.tables.filter { !$0.cloudDamagedRows.isEmpty }.map { "\n\($0.name): \(cloudDamageText($0))" }
    let gone = status.tables.compactMap(goneText) + status.tables.flatMap(settingTexts)
    let (queries, waiting) = (status.tables.compactMap(queryText), status.tables.compactMap(waitingText))
    return
      "\(head)\n\(table.text)\(gone.joined())\(queries.joined())\(waiting.joined())\(remedies.joined())\(torn.joined())"
  }

  /// What whoever looks after the device, or the cloud, may not have wanted.
  private static func settingTexts(_ table: DeviceStatus.Table) -> [String] {
    table.settingChanges.map { "\n\(table.name): the cloud has changed a setting: \($0)" }
  }

  /// Why a table shows nothing.
  private static func goneText(_ table: DeviceStatus.Table) -> String? {
    guard table.isZoneGone else { return nil }
    let hidden = "\n\(table.name): the cloud says that its zone does not exist, so its rows are hidden"
    guard table.aside > 0 else { return hidden }
    let what = table.aside == 1 ? "1 unsent change is" : "\(table.aside) unsent changes are"
    return "\(hidden); \(what) kept aside (caravan app read \(table.name) --aside), and discarded if it says so again "
      + "10 minutes later"
  }

  /// Why some rows are not here.
  private static func queryText(_ table: DeviceStatus.Table) -> String? {
    guard case .query(let text, let arguments)? = table.properties.replication else { return nil }
    let values = arguments.isEmpty ? "" : " (\(arguments.map(\.shown).joined(separator: ", ")))"
    let pick = table.picksHere ? "; the cloud cannot check that: it sends all rows, and they are picked here" : ""
    return "\n\(table.name): only rows with \(text)\(values)\(pick)"
  }

  /// Why some rows do not show yet.
  private static func waitingText(_ table: DeviceStatus.Table) -> String? {
    guard table.waiting > 0 else { return nil }
    let rows = table.waiting == 1 ? "1 row from the cloud waits" : "\(table.waiting) rows from the cloud wait"
    let what = table.properties.consistency == .snapshot ? "all of the snapshot is" : "their objects are"
    return "\n\(table.name): \(rows) until \(what) here"
  }

  private static func tornText(_ table: DeviceStatus.Table) -> String {
    let more = table.torn > table.tornRows.count ? ", …" : ""
    return "damaged here, and awaited from the cloud: rows \(table.tornRows.joined(separator: ", "))\(more)"
  }

  private static func cloudDamageText(_ table: DeviceStatus.Table) -> String {
    "damaged at the cloud, which shows nobody what they are: rows \(table.cloudDamagedRows.joined(separator: ", "))"
  }

  private static let fullDisk =
    "the disk is full: nothing can be written until there is room; delete rows, drop tables; sync goes on"

  private static func lost(_ loss: DeviceStatus.Loss) -> String {
    "\(loss.lostInQueue + loss.lostToBusyServer) of \(loss.accepted)"
  }

  private static func json(_ status: DeviceStatus) -> JSON {
    [
      "device": .string(status.device), "user": .string(status.user), "link": .string(LinkText.name(status.link)),
      "metered": .bool(status.isMetered), "link_automatic": .bool(status.isLinkAutomatic),
      "link_assumed": .bool(status.isLinkAssumed), "connected": .bool(status.isConnected),
      "unreachable": status.unreachable.isEmpty ? .null : .string(status.unreachable),
      "disk_full": .bool(status.isDiskFull),
      "mode": .string(status.mode.rawValue), "policy": json(policy: status),
      "refused": status.refused.isEmpty ? .null : .string(status.refused),
      "refused_since": time(status.refusedSince).map(JSON.string) ?? .null,
      "remedy": status.remedy.isEmpty ? .null : .string(status.remedy),
      "usage": .array(status.usage.map(json)), "tables": .array(status.tables.map(json)),
      "counters": .object(JSON.Object(sorting: status.counters.mapValues { .int(Int64(clamping: $0)) })),
    ]
  }

  private static func json(_ table: DeviceStatus.Table) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "table": .string(table.name), "rows": number(table.rows), "dirty": number(table.dirty),
      "pending": number(table.pending), "conflicts": number(table.conflicts), "torn": number(table.torn),
      "torn_rows": .array(table.tornRows.map(JSON.string)),
      "cloud_damaged_rows": .array(table.cloudDamagedRows.map(JSON.string)), "waiting": number(table.waiting),
      "zone_is_gone": .bool(table.isZoneGone), "aside": number(table.aside),
      "last_sync": time(table.lastSync).map(JSON.string) ?? .null, "bytes_up": number(table.bytesUp),
      "bytes_down": number(table.bytesDown), "refused": table.refused.isEmpty ? .null : .string(table.refused),
      "remedy": table.remedy.isEmpty ? .null : .string(table.remedy),
      "schema": .string(table.schema), "loss": table.loss.map(json) ?? .null, "mode": .string(table.mode.rawValue),
      "properties": json(table.properties), "picks_here": .bool(table.picksHere),
      "setting_changes": .array(
        table.settingChanges.map { ["setting": .string($0.setting), "was": .string($0.was), "now": .string($0.now)] }),
    ]
  }

  private static func json(_ properties: TableProperties) -> JSON {
    var kept = JSON.Object()
    switch properties.replication {
    case nil, .full: kept["replication"] = .string("full")
    case .localOnly: kept["replication"] = .string("local-only")
    case .recent(let rows, let age):
      kept["replication"] = .string("recent")
      if let rows { kept["recent_rows"] = .int(Int64(clamping: rows)) }
      if let age { kept["recent_seconds"] = .double(Double(age.wholeMilliseconds) / 1_000) }
    case .query(let template, let arguments):
      (kept["replication"], kept["query"]) = (.string("query"), .string(template))
      if !arguments.isEmpty { kept["query_arguments"] = .array(arguments.map(\.json)) }
    }
    kept["store_mode"] = .string((properties.mode ?? .copyOnWrite).rawValue)
    kept["consistency"] = .string((properties.consistency ?? .row).rawValue)
    kept["fetch"] = .object(JSON.Object(sorting: properties.fetch.mapValues { .string($0.rawValue) }))
    return .object(kept)
  }

  private static func json(_ usage: LinkUse) -> JSON {
    [
      "link": .string(usage.link.name), "table": usage.table.map(JSON.string) ?? .null,
      "bytes_up": .int(Int64(clamping: usage.bytesUp)), "bytes_down": .int(Int64(clamping: usage.bytesDown)),
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
