import CaravanModel
import CaravanRuntime
import CaravanWire

/// Which partitions one instance of a service holds, and which it should: its fair share among the instances alive.
/// Pure; times are of the monotonic clock of this machine.
struct Ownership: Sendable {
  struct Held: Sendable, Equatable {
    let token: UInt64
    let until: Instant
  }

  struct Plan: Sendable, Equatable {
    var acquire: [Partition] = []
    var release: [Partition] = []
  }

  let service: String
  let member: String
  let timing: LeaseTiming
  /// What is shared; the same in every instance.
  let partitions: [Partition]
  private(set) var held: [Partition: Held] = [:]
  /// Members that could not be reached in the last round.
  private(set) var suspects: Set<String> = []

  init(service: String, member: String, timing: LeaseTiming, partitions: [Partition] = Partition.all) {
    timing.validate()
    (self.service, self.member, self.timing, self.partitions) = (service, member, timing, partitions)
  }

  // MARK: Names

  var prefix: String { "\(service)/" }
  var memberLease: String { "\(service)/member/\(member)" }
  func lease(_ partition: Partition) -> String { "\(service)/\(partition)" }

  private func member(of lease: String) -> String? {
    let prefix = "\(service)/member/"
    return lease.hasPrefix(prefix) ? String(lease.dropFirst(prefix.count)) : nil
  }

  private func partition(of lease: String) -> Partition? {
    guard lease.hasPrefix(prefix), let number = UInt32(lease.dropFirst(prefix.count)) else { return nil }
    return try? Partition(number)
  }

  // MARK: Leases

  /// Until when a lease counts that was asked for at `sent`.
  func expiry(sent: Instant) -> Instant { sent + (timing.duration - timing.margin) }

  /// Takes in the answer to a request for leases sent at `sent`.
  /// - Parameter isRenewal: nothing is gained by it. A partition whose work ended while the request was on its way may
  ///   be granted once more; nobody would work on it.
  /// - Returns: partitions gained, and those this instance thought to hold and does not.
  mutating func answered(
    _ grants: [LeaseGrant], sent: Instant, isRenewal: Bool = false
  ) -> (gained: [Partition], lost: [Partition]) {
    var gained: [Partition] = []
    var lost: [Partition] = []
    for grant in grants {
      guard let partition = partition(of: grant.name) else { continue }
      switch (held[partition], grant.granted) {
      case (nil, true) where isRenewal: continue
      case (nil, true):
        held[partition] = Held(token: grant.token, until: expiry(sent: sent))
        gained.append(partition)
      case (let known?, true) where known.token == grant.token:
        held[partition] = Held(token: known.token, until: max(known.until, expiry(sent: sent)))
      case (.some, _):
        // Somebody else held it in between.
        held[partition] = nil
        lost.append(partition)
      case (nil, false): continue
      }
    }
    return (gained, lost)
  }

  /// The work on a partition has ended: it no longer counts as held, whatever the store says.
  mutating func ended(_ partition: Partition) { held[partition] = nil }

  // MARK: The dead

  /// Whom to ask for a sign of life: the other holders of leases.
  func others(_ listed: [LeaseGrant]) -> [String] { Set(listed.map(\.holder)).subtracting([member, ""]).sorted() }

  /// Who is gone: nobody heard the question for a sign of life, twice in a row, so that a connection that is just
  /// being made again is not taken for a death. Should it live after all, it finds its leases gone and its token old.
  mutating func dead(unreachable: Set<String>) -> Set<String> {
    defer { suspects = unreachable }
    return unreachable.intersection(suspects)
  }

  // MARK: Share

  /// What to take and give up, given every lease of the service that is alive.
  /// - Parameter ending: partitions whose work has not ended yet, though they may no longer be held: not to be begun
  /// anew.
  func plan(_ listed: [LeaseGrant], ending: Set<Partition> = []) -> Plan {
    let members = Set(listed.compactMap { member(of: $0.name) } + [member]).sorted()
    let rank = members.firstIndex(of: member) ?? 0
    let share = self.share(of: rank, among: members.count)
    let others = Set(listed.filter { $0.holder != member }.compactMap { partition(of: $0.name) })
    let order = self.preference(of: rank, among: members.count)
    var plan = Plan()
    if held.count < share {
      let free = order.filter { held[$0] == nil && !others.contains($0) && !ending.contains($0) }
      plan.acquire = Array(free.prefix(share - held.count))
    } else {
      plan.release = Array(order.reversed().filter { held[$0] != nil }.prefix(held.count - share))
    }
    return plan
  }

  /// Whether more is to come: others will give some up, or leases of the dead will expire.
  func isShort(_ listed: [LeaseGrant]) -> Bool {
    let members = Set(listed.compactMap { member(of: $0.name) } + [member]).sorted()
    return held.count < share(of: members.firstIndex(of: member) ?? 0, among: members.count)
  }

  /// Shares differ by one at most and add up to all partitions.
  func share(of rank: Int, among members: Int) -> Int {
    precondition((0..<members).contains(rank), "member \(rank) of \(members)")
    let count = partitions.count
    return count / members + (rank < count % members ? 1 : 0)
  }

  /// Every member begins elsewhere, so that they seldom want the same.
  func preference(of rank: Int, among members: Int) -> [Partition] {
    let start = rank * partitions.count / members
    return Array(partitions[start...] + partitions[..<start])
  }
}
