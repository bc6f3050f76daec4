public import CaravanModel

/// Who sits at the agent's socket, and how much of it is in whose hands: an app that floods it gets no more than its
/// share, and harms no other.
public struct AppSlots: Sendable {
  public struct Shares: Sendable, Hashable {
    public var connections: AppShare
    /// Requests that wait for the cloud.
    public var waiting: AppShare
    /// Bytes of requests and answers that are here and have not been taken.
    public var bytes: AppShare
    /// Connections of one user that have not said yet which app they are.
    public var nameless: Int
    /// The same of all users together.
    public var namelessOfAll: Int

    public init(
      connections: AppShare, waiting: AppShare, bytes: AppShare, nameless: Int, namelessOfAll: Int
    ) {
      precondition(0 < nameless && nameless <= connections.user)
      precondition(nameless <= namelessOfAll && namelessOfAll <= connections.all)
      self.namelessOfAll = namelessOfAll
      self.connections = connections
      self.waiting = waiting
      self.bytes = bytes
      self.nameless = nameless
    }
  }

  private struct Slot {
    let user: UInt32
    var app: ContainerID?
    var waiting = 0
    var bytes = 0
  }

  private let nameless: Int
  private let namelessOfAll: Int
  private var slots: [UInt64: Slot] = [:]
  private var connections: AppCounters
  private var waiting: AppCounters
  private var bytes: AppCounters
  private var last: UInt64 = 0

  public init(_ shares: Shares) {
    nameless = shares.nameless
    namelessOfAll = shares.namelessOfAll
    connections = AppCounters(shares.connections, "connections")
    waiting = AppCounters(shares.waiting, "requests that wait for the cloud")
    bytes = AppCounters(shares.bytes, "bytes of requests and answers that nobody has taken")
  }

  public var count: Int { slots.count }

  /// Somebody of that user has come.
  /// - Returns: the slot, and whose has to go for it: of too many who do not say who they are the one that came first,
  ///   for who means to does so at once.
  /// - Throws: `serverBusy` when the user has its share, or there are no more.
  public mutating func admit(user: UInt32) throws(CaravanError) -> (slot: UInt64, displaced: UInt64?) {
    let displaced = displacedNameless(by: user)
    let given = displaced.flatMap { slots[$0] }
    if let displaced { leave(displaced) }
    do throws(CaravanError) { try connections.check(adding: 1, user: user, app: nil) } catch {
      // Nobody goes for somebody who is turned away.
      if let displaced, let given {
        slots[displaced] = given
        count(given, 1)
      }
      throw error
    }
    connections.add(1, user: user, app: nil)
    last += 1
    slots[last] = Slot(user: user)
    checkInvariants()
    return (last, displaced)
  }

  private func checkInvariants() {
    precondition(connections.all == slots.count, "\(connections.all) connections on \(slots.count) slots")
    precondition(slots.count <= connections.share.all, "\(slots.count) slots are taken of \(connections.share.all)")
    assert(slots.values.count { $0.app == nil } <= namelessOfAll, "too many have not said who they are")
    assert(slots.values.reduce(0) { $0 + $1.waiting } == waiting.all, "a request waits for nobody")
    assert(slots.values.reduce(0) { $0 + $1.bytes } == bytes.all, "bytes are held by nobody")
  }

  /// Where one user has its share of connections without a name, that user's first has to go; where all users together
  /// have theirs, the first of the user who has most.
  private func displacedNameless(by user: UInt32) -> UInt64? {
    let all = slots.filter { $0.value.app == nil }
    let own = all.filter { $0.value.user == user }
    if own.count >= nameless { return own.keys.min() }
    guard all.count >= namelessOfAll else { return nil }
    let byUser = Dictionary(grouping: all.keys) { all[$0]?.user ?? user }
    return byUser.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.value.min()
  }

  /// It has proven which app it is.
  /// - Throws: `serverBusy` when that has its share of connections; `cancelled` when it had to go.
  public mutating func identify(_ id: UInt64, as app: ContainerID) throws(CaravanError) {
    guard var slot = slots[id] else {
      throw CaravanError(.cancelled, "too many came that did not say who they are: connect again")
    }
    precondition(slot.app == nil && slot.waiting == 0, "who says who it is, says so first, and once")
    let before = slot
    slot.app = app
    slots[id] = nil
    count(before, -1)
    do throws(CaravanError) { try connections.check(adding: 1, user: slot.user, app: app) } catch {
      slots[id] = before
      count(before, 1)
      throw error
    }
    slots[id] = slot
    count(slot, 1)
    checkInvariants()
  }

  /// Bytes of the connection that are here now.
  public mutating func holds(_ count: Int, _ id: UInt64) {
    precondition(count >= 0, "less than nothing is here")
    guard let slot = slots[id] else { return }
    bytes.add(count - slot.bytes, user: slot.user, app: slot.app)
    slots[id]?.bytes = count
  }

  /// Whether a request may be carried out, whose answer will take room.
  /// - Throws: `serverBusy` as long as the app, or those of its user, have their share of bytes.
  public func checkRoom(_ id: UInt64) throws(CaravanError) {
    guard bytes.all > 0, let slot = slots[id] else { return }
    try bytes.check(adding: 0, user: slot.user, app: slot.app)
  }

  /// A request begins to wait for the cloud.
  /// - Throws: `serverBusy` when too many do.
  public mutating func beginWaiting(_ id: UInt64) throws(CaravanError) {
    guard let slot = slots[id] else { throw CaravanError(.cancelled, "the connection has ended: connect again") }
    try waiting.check(adding: 1, user: slot.user, app: slot.app)
    waiting.add(1, user: slot.user, app: slot.app)
    slots[id]?.waiting += 1
  }

  public mutating func endWaiting(_ id: UInt64) {
    guard let slot = slots[id] else { return }
    precondition(slot.waiting > 0, "a request was answered that did not wait")
    waiting.add(-1, user: slot.user, app: slot.app)
    slots[id]?.waiting -= 1
  }

  /// The connection has ended; whoever has left already leaves nothing more.
  public mutating func leave(_ id: UInt64) {
    guard let slot = slots.removeValue(forKey: id) else { return }
    count(slot, -1)
    checkInvariants()
  }

  /// - Parameter sign: 1: what it has counts; -1: no more.
  private mutating func count(_ slot: Slot, _ sign: Int) {
    connections.add(sign, user: slot.user, app: slot.app)
    waiting.add(sign * slot.waiting, user: slot.user, app: slot.app)
    bytes.add(sign * slot.bytes, user: slot.user, app: slot.app)
  }
}
