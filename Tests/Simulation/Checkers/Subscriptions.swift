extension Checker {
  /// Who takes in every notification of the log, and asks anew where it says that something was missed, knows which
  /// records are in the answer and which zones there are: no enter, leave or change is missed, or that is told.
  static let subscribersKnow = Checker("CK-82 a subscriber misses nothing untold") { history in
    history.watches.sorted { $0.key < $1.key }.flatMap { Subscriptions($0.value).findings }
  }

  /// An answer is what its zone was at one time (CK-80), not before what the asker knows of.
  static let answersWere = Checker("CK-80 an answer is a state of the zone") { history in
    history.watches.sorted { $0.key < $1.key }.map(\.value).flatMap { events in
      events.enumerated().compactMap { index, event in
        guard case .answered(let answer) = event else { return nil }
        return WatchedZones.states(of: answer.zone, events[...index], since: answer.since).contains {
          $0.compactMapValues { answer.query.has($0.number) ? $0.seq : nil } == answer.found
        } ? nil : "'\(answer.query.id)' of \(answer.zone) found \(answer.found.sorted { $0.key < $1.key })"
      }
    }
  }
}

/// What the zones were at each time.
enum WatchedZones {
  typealias Records = [String: WatchedRecord]

  /// - Returns: the records that there were after `since` events, and then after each further commit to the zone.
  static func states(of zone: String, _ events: ArraySlice<WatchEvent>, since: Int) -> [Records] {
    var state: Records = [:]
    var states: [Records] = []
    for (index, event) in events.enumerated() {
      if index == since { states.append(state) }
      guard apply(event, of: zone, to: &state), index >= since else { continue }
      states.append(state)
    }
    return states.isEmpty ? [state] : states
  }

  /// - Returns: whether it changed something.
  @discardableResult
  static func apply(_ event: WatchEvent, of zone: String, to state: inout Records) -> Bool {
    switch event {
    case .wrote(zone, _, let records):
      for record in records { state[record.name] = record.number == nil ? nil : record }
      return true
    case .deletedZone(zone):
      state = [:]
      return true
    default: return false
    }
  }

  static func names(_ events: [WatchEvent]) -> [String] {
    Set(
      events.compactMap { event in
        switch event {
        case .wrote(let zone, _, _), .deletedZone(let zone): zone
        default: nil
        }
      }
    ).sorted()
  }
}

/// What a subscriber learns from the log, beside what there was.
struct Subscriptions {
  private struct Told {
    let index: Int
    let what: SeenNotification
  }

  private let events: [WatchEvent]
  private var told: [Told] = []
  private var problems: [String] = []

  init(_ events: [WatchEvent]) {
    self.events = events
    var numbers: [UInt64: [UInt64: SeenNotification]] = [:]
    for (index, event) in events.enumerated() {
      guard case .told(let what) = event else { continue }
      let other = numbers[what.source, default: [:]].updateValue(what, forKey: what.number)
      if let other, other != what { problems.append("\(what) is in the log in place of \(other)") }
      if other == nil { told.append(Told(index: index, what: what)) }
    }
    told.sort { ($0.what.source, $0.what.number) < ($1.what.source, $1.what.number) }
    for what in told.map(\.what) where what.number > 1 && numbers[what.source]?[what.number - 1] == nil {
      problems.append("nothing has the number before \(what)")
    }
  }

  var findings: [String] { problems + promised.flatMap { findings($0.query, since: $0.index) } }

  /// Subscriptions as they are in the end, each since somebody was told that it counts.
  private var promised: [(query: WatchedQuery, index: Int)] {
    var found: [String: (query: WatchedQuery, index: Int)] = [:]
    for (index, event) in events.enumerated() {
      switch event {
      case .changing(let id): found[id] = nil
      case .subscribed(let query): found[query.id] = (query, index)
      default: continue
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  private func findings(_ query: WatchedQuery, since index: Int) -> [String] {
    let own = told.filter { $0.index > index && $0.what.subscription == query.id }
    let zones = WatchedZones.names(events)
    let isOfZones = query.subject == .zones
    return repeated(own, query)
      + zones.filter(query.isAbout).flatMap { zone in
        // What was told before is asked for anew.
        let loss = own.last { told in
          told.what.reason == .missed && (told.what.zone.isEmpty || told.what.zone == zone)
        }
        let start = max(index, loss?.index ?? index)
        let rest = own.filter { told in
          told.what.zone == zone
            && loss.map { ($0.what.source, $0.what.number) <= (told.what.source, told.what.number) } ?? true
            && !isOlder(told, than: index)
        }
        return isOfZones
          ? zoneFinding(query, zone, rest, start).map { [$0] } ?? [] : recordFindings(query, zone, rest, start)
      }
  }

  /// What was on its way to the log when the subscription became what it is.
  private func isOlder(_ told: Told, than index: Int) -> Bool {
    events[..<index].contains { event in
      guard case .wrote(told.what.zone, _, let records) = event else { return false }
      return records.contains { $0.name == told.what.record && $0.seq == told.what.version }
    }
  }

  private func repeated(_ own: [Told], _ query: WatchedQuery) -> [String] {
    var seen: Set<[String]> = []
    return own.compactMap { told in
      let what = told.what
      guard what.reason != .missed else { return nil }
      let mark = [what.zone, what.record, "\(what.version)", what.record.isEmpty ? what.reason.rawValue : ""]
      return seen.insert(mark).inserted ? nil : "'\(query.id)' is told twice: \(what)"
    }
  }

  // MARK: Records

  private func recordFindings(_ query: WatchedQuery, _ zone: String, _ told: [Told], _ start: Int) -> [String] {
    var (before, now): (WatchedZones.Records, WatchedZones.Records) = ([:], [:])
    var newest: [String: Int] = [:]
    var truth: [String: [UInt64: Bool]] = [:]
    for (index, event) in events.enumerated() {
      guard WatchedZones.apply(event, of: zone, to: &now) else { continue }
      if index <= start { before = now }
      guard case .wrote(_, _, let records) = event else { continue }
      for record in records {
        newest[record.name] = index
        truth[record.name, default: [:]][record.seq] = query.has(record.number)
      }
    }
    var found: [String] = []
    for name in truth.keys.sorted() {
      let own = told.filter { $0.what.record == name }
      for case let notification in own.map(\.what) where notification.reason != .missed {
        if truth[name]?[notification.version] != notification.reason.isThere {
          found.append("'\(query.id)' is told what is not so: \(notification)")
        }
      }
      let (was, isThere) = (query.has(before[name]?.number), query.has(now[name]?.number))
      guard let last = own.last?.what, last.reason != .missed else {
        if was != isThere {
          found.append("'\(query.id)' is not told that \(zone)/\(name) \(isThere ? "enters" : "leaves")")
        }
        continue
      }
      let isKnown = last.reason.isThere == isThere
      if !isKnown { found.append("'\(query.id)': \(zone)/\(name) is \(isThere ? "in" : "out"), after \(last)") }
      if isKnown, isThere, query.hearsChanges, newest[name] ?? 0 > start, let seq = now[name]?.seq, last.version < seq {
        found.append("'\(query.id)' is not told of version \(seq) of \(zone)/\(name), after \(last)")
      }
    }
    return found
  }

  // MARK: Zones

  private func zoneFinding(_ query: WatchedQuery, _ zone: String, _ told: [Told], _ start: Int) -> String? {
    var (was, isThere) = (false, false)
    for (index, event) in events.enumerated() {
      switch event {
      case .wrote(zone, _, _): isThere = true
      case .deletedZone(zone): isThere = false
      default: continue
      }
      if index <= start { was = isThere }
    }
    guard let last = told.last(where: { $0.what.reason != .missed })?.what else {
      return was == isThere ? nil : "'\(query.id)' is not told that \(zone) is \(isThere ? "made" : "deleted")"
    }
    return last.reason.isThere == isThere
      ? nil : "'\(query.id)': zone \(zone) is \(isThere ? "there" : "deleted"), after \(last)"
  }
}
