import CaravanModel

/// Which push targets of a partition are to be looked at, and when: as many at once as there are places, of which each
/// user has a share. Times are of the monotonic clock, in milliseconds.
package struct PushSchedule: Sendable {
  private var targets: [LogName: Set<TargetName>] = [:]
  /// Targets whose log may have something that they have not, and that are not running: from when on they may be.
  private var waiting: [TargetName: Int64] = [:]
  /// Of those running: whether there is something new since they began.
  private var running: [TargetName: Bool] = [:]
  private var runningByUser: [UserID: Int] = [:]
  /// Of those that do not wait: before when they are not to be looked at.
  private var resting: [TargetName: Int64] = [:]

  package init() {}

  package var count: Int { targets.values.reduce(0) { $0 + $1.count } }

  /// A target is there, or is another one by now: it is looked at soon.
  package mutating func put(_ name: TargetName) {
    targets[name.log, default: []].insert(name)
    resting[name] = nil
    if running[name] != nil { running[name] = true } else { waiting[name] = 0 }
  }

  package mutating func remove(_ name: TargetName) {
    targets[name.log]?.remove(name)
    if targets[name.log]?.isEmpty == true { targets[name.log] = nil }
    (waiting[name], resting[name]) = (nil, nil)
  }

  /// A log has something new.
  package mutating func changed(_ log: LogName) {
    for name in targets[log] ?? [] {
      if running[name] != nil {
        running[name] = true
      } else if waiting[name] == nil {
        waiting[name] = resting[name] ?? 0
      }
      resting[name] = nil
    }
  }

  /// Those to be looked at now; each is running until `ended`.
  package mutating func start(_ now: Int64) -> [TargetName] {
    var started: [TargetName] = []
    let due = waiting.filter { $0.value <= now }
    for (name, _) in due.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      guard running.count < NotifyLimits.pushesAtOnce else { break }
      guard hasPlace(name.log.user) else { continue }
      waiting[name] = nil
      running[name] = false
      runningByUser[name.log.user, default: 0] += 1
      started.append(name)
    }
    return started
  }

  /// - Parameters:
  ///   - isBehind: it has not come to the end of the log.
  ///   - notBefore: nil: it is looked at no more, until it is put again.
  package mutating func ended(_ name: TargetName, isBehind: Bool, notBefore: Int64?) {
    guard let hasMore = running.removeValue(forKey: name) else { return }
    runningByUser[name.log.user, default: 1] -= 1
    if runningByUser[name.log.user] == 0 { runningByUser[name.log.user] = nil }
    guard targets[name.log]?.contains(name) == true else { return }
    if let notBefore, isBehind || hasMore { waiting[name] = notBefore } else { resting[name] = notBefore ?? .max }
  }

  /// When `start` has something to say that it does not say now; nil: after a change, or once a place is free, only.
  package var nextWake: Int64? {
    guard running.count < NotifyLimits.pushesAtOnce else { return nil }
    return waiting.filter { $0.value < .max && hasPlace($0.key.log.user) }.values.min()
  }

  private func hasPlace(_ user: UserID) -> Bool {
    let count = runningByUser[user, default: 0]
    precondition((0...running.count).contains(count), "a user has \(count) of \(running.count) places")
    return count < NotifyLimits.pushesAtOncePerUser
  }
}
