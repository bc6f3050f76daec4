extension Checker {
  /// Each notification of a user's log comes to each of their targets that want it, or is given up and counted as that,
  /// or is behind the end of the target (CK-85).
  static let pushesArrive = Checker("CK-85 every notification is pushed or visibly given up") { history in
    let pushes = Pushes(history.pushes)
    return pushes.targets.flatMap(pushes.missing) + pushes.targets.flatMap(pushes.misreported)
  }

  /// Nothing comes to a target but what its own user's log had, under one id at each try, in the order of the log, and
  /// no more in a minute than its server said (CK-85).
  static let pushesTrue = Checker("CK-85 a target gets its user's notifications alone, each under one id") { history in
    let pushes = Pushes(history.pushes)
    return pushes.strays + pushes.renamed + pushes.targets.flatMap { pushes.disordered($0) + pushes.hurried($0) }
  }
}

/// What became of the notifications of all logs.
struct Pushes {
  /// One registration of a target.
  struct Target {
    /// As it was kept, one after the other: what it wants may have changed.
    var kept: [KeptTarget]
    /// It is there in the end.
    var isThere = true
    var standings: [TargetStanding] = []
    var calls: [PushCall] = []

    var name: String { "\(kept[0].user)'s \(kept[0].id) at \(kept[0].url)" }
  }

  private(set) var targets: [Target] = []
  /// What came that should not have.
  private(set) var strays: [String] = []
  private var logs: [String: [LoggedPush]] = [:]
  /// Since then nothing goes wrong; nil: that did not begin.
  private var quietSince: UInt64?

  init(_ events: [PushEvent]) {
    var indexes: [String: Int] = [:]
    var byURL: [String: [Int]] = [:]
    var current: [String: Int] = [:]
    var time: UInt64 = 0
    for event in events {
      switch event {
      case .logged(let user, let item): logs[user, default: []].append(item)
      case .kept(let target):
        let name = "\(target.user)/\(target.id)"
        let index = indexes["\(name)/\(target.registration)"] ?? targets.count
        if let old = current[name] { targets[old].isThere = false }
        if index == targets.count {
          targets.append(Target(kept: [target]))
          indexes["\(name)/\(target.registration)"] = index
        } else {
          targets[index].kept.append(target)
          targets[index].isThere = true
        }
        byURL[target.url, default: []].append(index)
        current[name] = index
      case .removed(let user, let id):
        if let old = current.removeValue(forKey: "\(user)/\(id)") { targets[old].isThere = false }
      case .told(let user, let id, let standing):
        // What is said of one that was another target before is nobody's.
        guard let index = indexes["\(user)/\(id)/\(standing.registration)"] else { continue }
        targets[index].standings.append(standing)
      case .came(let call):
        time = call.time
        take(call, byURL[call.url] ?? [])
      case .unreadable(let url): strays.append("what came to \(url) is no notification")
      case .quiet: quietSince = time
      }
    }
  }

  private mutating func take(_ call: PushCall, _ indexes: [Int]) {
    guard let newest = indexes.last else {
      strays.append("\(call.what) came to \(call.url), which is no target")
      return
    }
    let user = targets[newest].kept[0].user
    guard let item = logs[user]?.first(where: { $0.what == call.what && $0.at == call.at }) else {
      strays.append("\(call.what) of \(call.at) came to \(targets[newest].name), whose log has it not")
      return
    }
    // One address may have been that of several registrations, of which the newest that begins before it is meant.
    let index = indexes.last { targets[$0].kept.contains { $0.reaches(item) } } ?? newest
    if !targets[index].kept.contains(where: { $0.wants(call.what) }) {
      strays.append("\(call.what) came to \(targets[index].name), which does not want it")
    }
    targets[index].calls.append(call)
  }

  // MARK: What is to come

  /// What a target that is there is to have by the end, in the order of the log.
  private func due(_ target: Target) -> [LoggedPush] {
    guard target.isThere, let user = target.kept.first?.user else { return [] }
    let end = target.standings.last.flatMap { $0.hasEnded ? $0.position ?? KeptTarget.Position(life: 0, seq: 0) : nil }
    return (logs[user] ?? []).filter { item in
      target.kept.allSatisfy { $0.wants(item.what) && $0.reaches(item) }
        && end.map { item.life == $0.life && item.seq <= $0.seq } ?? true
    }
  }

  func missing(_ target: Target) -> [String] {
    var refused = 0
    var found: [String] = []
    for item in due(target) {
      let own = target.calls.filter { $0.what == item.what }
      if own.contains(where: \.isTaken) { continue }
      if own.contains(where: \.isRefused) {
        refused += 1
      } else {
        found.append("\(item.what) did not come to \(target.name)\(own.isEmpty ? "" : ", which did not take it")")
      }
    }
    let counted = target.standings.last?.givenUp ?? 0
    if counted < refused {
      found.append("\(target.name) refused \(refused) notifications, and \(counted) are counted as given up")
    }
    return found
  }

  /// What users are told of a target, and is not so.
  func misreported(_ target: Target) -> [String] {
    var found: [String] = []
    if target.standings.contains(where: \.hasEnded), !target.calls.contains(where: \.isGone) {
      found.append("\(target.name) has ended, though its server did not say so")
    }
    for lost in Set(target.standings.flatMap(\.last)).sorted(by: { ($0.source, $0.number) < ($1.source, $1.number) })
    where !target.calls.contains(where: {
      $0.what.source == lost.source && $0.what.number == lost.number && $0.status == lost.status
    }) {
      found.append("\(lost) is given up by \(target.name), which did not answer so")
    }
    return found
  }

  // MARK: What comes

  /// A notification has one id for each registration of a target, and an id is of one notification.
  var renamed: [String] {
    var meanings: [String: String] = [:]
    var found: [String] = []
    for (index, target) in targets.enumerated() {
      for (what, calls) in Dictionary(grouping: target.calls, by: \.what) {
        let ids = Set(calls.map(\.id)).sorted()
        if ids.count > 1 { found.append("\(what) came to \(target.name) as \(ids)") }
        for id in ids {
          let meaning = "\(index): \(what)"
          if let other = meanings.updateValue(meaning, forKey: id), other != meaning {
            found.append("\(id) is of \(other) and of \(meaning)")
          }
        }
      }
    }
    return found.sorted()
  }

  /// What comes to a target for the first time is behind all that came before.
  func disordered(_ target: Target) -> [String] {
    // One that wants others by now may have begun with them further back.
    guard Set(target.kept.map(\.subscriptions)).count == 1 else { return [] }
    let seqs = Dictionary((logs[target.kept[0].user] ?? []).map { ($0.what, $0.seq) }) { $1 }
    var newest: UInt64 = 0
    var seen: Set<SeenNotification> = []
    return target.calls.compactMap { call in
      guard seen.insert(call.what).inserted, let seq = seqs[call.what] else { return nil }
      defer { newest = max(newest, seq) }
      return seq < newest ? "\(call.what) came to \(target.name) after what the log has behind it" : nil
    }
  }

  /// How many came in a minute once nobody dies any more, and so nobody forgets what went before.
  func hurried(_ target: Target) -> [String] {
    guard let since = quietSince, let most = target.kept.map(\.perMinute).max(), most > 0,
      target.kept.allSatisfy({ $0.perMinute == most })
    else { return [] }
    let times = target.calls.map(\.time).filter { $0 > since + 30_000 }
    let count = times.map { first in times.count { $0 >= first && $0 < first + 60_000 } }.max() ?? 0
    return count > most ? ["\(count) calls in a minute came to \(target.name), which takes \(most)"] : []
  }
}
