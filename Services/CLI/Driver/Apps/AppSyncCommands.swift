internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// Registrations, `sync` and `watch`.
enum AppSyncCommands {
  private static let period = Flag<Seconds>("period", "S", "how often to look, in seconds; 0: at once")
  private static let tolerance = Flag<Seconds>(
    "delay-tolerance", "S", "how long a change may wait for company, in seconds", default: Seconds(.zero))
  private static let link = Flag<String>(
    "link", "LINK", "the dearest link to use: wired, wifi, cellular, roaming",
    default: LinkClass.wifi.name)
  private static let maximumLoss = Flag<Double>(
    "max-loss", "PERCENT", "new rows only go along with other data, and so many may be lost", default: 0)
  private static let lossLife = Flag<Seconds>(
    "loss-ttl", "S", "rows that may be lost are not sent later than this", default: Seconds(.zero))
  private static let lossOnRequest = Flag<Bool>("loss-on-request", "only rows written with --may-be-lost may be lost")
  private static let onlyWrite = Flag<Bool>("write", "only send")
  private static let onlyRead = Flag<Bool>("read", "only fetch")
  private static let events = Flag<Bool>("events", "shows what each sync of the table came to instead")
  private static let after = Flag<Int?>(
    "after", "NUMBER",
    "begins behind the event of this number, as --json shows them; without it, with what no watch "
      + "has shown")
  private static let count = Flag<Int?>("count", "N", "end after so many calls")

  private static let oneTable = Command.Operands("TABLE", 1...1)

  static let tools = [
    AppSession.tool(
      "register-write", "Sends the table's changes in the background.", oneTable,
      flags: [period, tolerance, link, maximumLoss, lossLife, lossOnRequest]
    ) { session in
      let (period, tolerance, link) = try registration(session)
      try await session.table.registerWriteSync(
        period: period, delayTolerance: tolerance, link: link, loss: try loss(session))
      done(session, "registered")
    },
    AppSession.tool(
      "register-read", "Fetches others' changes in the background.", oneTable, flags: [period, tolerance, link]
    ) { session in
      let (period, tolerance, link) = try registration(session)
      try await session.table.registerReadSync(period: period, delayTolerance: tolerance, link: link)
      done(session, "registered")
    },
    AppSession.tool("unregister-write", "Ends what register-write began.", oneTable) { session in
      try await session.table.unregisterWriteSync()
      done(session, "unregistered")
    },
    AppSession.tool("unregister-read", "Ends what register-read began.", oneTable) { session in
      try await session.table.unregisterReadSync()
      done(session, "unregistered")
    },
    AppSession.tool(
      "sync", "Sends and fetches now, and waits until that is done.", oneTable, flags: [onlyWrite, onlyRead]
    ) { session in try await sync(session) },
    AppSession.tool(
      "watch", "Shows new data and conflicts as they come, until it is interrupted.", oneTable,
      flags: [count, events, after]
    ) { session in
      if session.options[events] { try await listen(session) } else { try await watch(session) }
    },
  ]

  private static func registration(
    _ session: AppSession
  ) throws(CaravanError) -> (period: Duration, tolerance: Duration, link: LinkClass) {
    guard let link = try LinkText.parse(session.options[link], or: []) else {
      throw CaravanError(.invalidData, "--link none would never sync: use unregister instead")
    }
    return (session.options[period].duration, session.options[tolerance].duration, link)
  }

  private static func loss(_ session: AppSession) throws(CaravanError) -> LossTolerance? {
    let percent = session.options[maximumLoss]
    guard (0...100).contains(percent) else {
      throw CaravanError(.invalidData, "--max-loss \(percent): give a percentage from 0 to 100")
    }
    let life = session.options[lossLife].duration
    guard percent > 0 else {
      guard life == .zero, !session.options[lossOnRequest] else {
        throw CaravanError(.invalidData, "--loss-ttl and --loss-on-request say nothing without --max-loss")
      }
      return nil
    }
    return LossTolerance(
      maximumPermille: UInt32((percent * 10).rounded(.down)), timeToLive: life == .zero ? nil : life,
      isOnRequest: session.options[lossOnRequest])
  }

  private static func done(_ session: AppSession, _ what: String) {
    session.say("table '\(session.operands[0])' is \(what)", json: ["table": .string(session.operands[0])])
  }

  private static func sync(_ session: AppSession) async throws(CaravanError) {
    switch (session.options[onlyWrite], session.options[onlyRead]) {
    case (true, false): try await session.table.writeSyncNow()
    case (false, true): try await session.table.readSyncNow()
    case (true, true), (false, false): try await session.table.syncNow()
    }
    done(session, "synced")
  }

  private static func calls(_ session: AppSession) throws(CaravanError) -> Int {
    let calls = session.options[count] ?? .max
    guard calls > 0 else { throw CaravanError(.invalidData, "--count \(calls): give 1 or more") }
    return calls
  }

  private static func listen(_ session: AppSession) async throws {
    var left = try calls(session)
    try await session.table.listen()
    for try await event in session.client.syncEvents {
      session.say(text(event), json: json(event))
      left -= 1
      if left == 0 { return }
    }
  }

  static func text(_ event: SyncEvent) -> String {
    func rows(_ count: UInt64) -> String { "\(count) row\(count == 1 ? "" : "s")" }
    var parts: [String] = []
    if event.isWrite {
      parts.append("\(rows(event.rowsSent)) sent")
      if event.deletionsSent > 0 { parts.append("\(rows(event.deletionsSent)) deleted at the cloud") }
    } else {
      parts.append("\(rows(event.rowsReceived)) received")
    }
    if event.isResumed { parts.append("after an interruption") }
    parts.append(event.isComplete ? "nothing is left" : "more is left")
    return "\(event.isWrite ? "sent" : "fetched")  \(event.table)  \(parts.joined(separator: ", "))"
  }

  private static func json(_ event: SyncEvent) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "kind": .string(event.isWrite ? "sent" : "fetched"), "table": .string(event.table),
      "rows_sent": number(event.rowsSent), "deletions_sent": number(event.deletionsSent),
      "rows_received": number(event.rowsReceived), "resumed": .bool(event.isResumed),
      "complete": .bool(event.isComplete), "syncs": number(event.sessions),
    ]
  }

  private static func watch(_ session: AppSession) async throws {
    var left = try calls(session)
    try await session.table.watch(after: session.options[after].map { UInt64(max(0, $0)) })
    while left > 0, let upcall = try await session.client.nextUpcall() {
      left -= 1
      let kind =
        switch upcall.kind {
        case .newData: "new-data"
        case .conflict: "conflict"
        case .rowsLost: "rows-lost"
        case .lookAnew: "look-anew"
        }
      let names = upcall.lost.isEmpty ? "" : ": \(upcall.lost.joined(separator: ", "))"
      session.say(
        "\(kind)  \(upcall.table)  \(upcall.rows) row\(upcall.rows == 1 ? "" : "s")\(names)",
        json: [
          "kind": .string(kind), "table": .string(upcall.table), "rows": .int(Int64(clamping: upcall.rows)),
          "lost": .array(upcall.lost.map(JSON.string)), "row_ids": .array(upcall.rowIDs.map(JSON.string)),
          "number": .int(Int64(clamping: upcall.number)),
        ])
    }
  }
}

/// A time in seconds, `600` or `0.5`; or with a unit, `10m`.
struct Seconds: FlagValue, CustomStringConvertible {
  let duration: Duration

  init(_ duration: Duration) { self.duration = duration }

  init?(flagText: String) {
    if let seconds = Double(flagText), seconds.isFinite, (0...1e9).contains(seconds) {
      duration = .milliseconds(Int64((seconds * 1000).rounded()))
    } else if let duration = Duration(flagText: flagText) {
      self.duration = duration
    } else {
      return nil
    }
  }

  static var flagKind: String { "a number of seconds" }

  var description: String { "\(Double(duration.wholeMilliseconds) / 1000)" }
}
