package import Model

/// The devices of one owned partition, and how far its log has been followed. Pure: every event returns what to send.
package struct PartitionNotifier: Sendable {
  private struct Subscriber {
    let device: DeviceID
    let slot: Int
  }

  /// What came of an event, for the driver to carry out and count.
  package struct Effects: Sendable, Equatable {
    package var sends: [Offer] = []
    package var resends: [Offer] = []
    package var coalesced = 0
    package var gaveUp: [DeviceID] = []
    /// When the devices it touched want to be looked at again.
    package var wake = Wake()

    package init() {}

    mutating func add(_ step: DeviceNotifier.Step, of device: DeviceID) {
      switch step {
      case .nothing: return
      case .send(let offer): sends.append(offer)
      case .resend(let offer): resends.append(offer)
      case .giveUp: gaveUp.append(device)
      }
    }
  }

  /// The last log position that has been taken in.
  package private(set) var position: UInt64
  private var devices: [DeviceID: DeviceNotifier] = [:]
  private var subscribers: [ZoneID: [Subscriber]] = [:]
  /// Devices with a timer or a notification out.
  private var active: Set<DeviceID> = []
  private var nextNumber: UInt64
  private let deviceLimit: Int

  /// - Parameter wall: the wall time now. Numbers begin with it, so that no late answer to an owner before fits them.
  package init(startedAt wall: Int64, position: UInt64, deviceLimit: Int = NotifyLimits.devicesPerPartition) {
    nextNumber = UInt64(max(0, wall)) << 20 + 1
    self.position = position
    self.deviceLimit = deviceLimit
  }

  package var deviceCount: Int { devices.count }
  package var awayCount: Int { devices.values.count { $0.presence == .away } }
  package subscript(device: DeviceID) -> DeviceNotifier? { devices[device] }

  /// Everything up to here is known to every device, or belongs to one that is away and will ask by itself.
  package var confirmed: UInt64 {
    active.reduce(position) { floor, device in
      guard let oldest = devices[device]?.oldestUnconfirmed else { return floor }
      return min(floor, oldest - 1)
    }
  }

  /// When `tick` has something to do; nil on both clocks: never.
  package var wake: Wake { active.reduce(Wake()) { $0.earlier(devices[$1]?.wake ?? Wake()) } }

  // MARK: Lists

  /// A device's list.
  /// - Parameter isCurrent: the device just sent it. Otherwise it was found in the store, where it may be older than
  ///   what the device sent: an older generation than the known one is then ignored.
  /// - Throws: `limitExceeded` for a new device when there are too many.
  package mutating func setList(
    _ list: DeviceList, user: UserID, device: DeviceID, isCurrent: Bool, now: Moment
  ) throws(CaravanError) -> Effects {
    var effects = Effects()
    guard let known = devices[device], known.user == user else {
      try admit(DeviceNotifier(user: user, device: device, list: list))
      return effects
    }
    guard isCurrent || list.generation >= known.list.generation, list != known.list else { return effects }
    unindex(known)
    apply(device, &effects) { $0.replace(list, now: now, number: &$1) }
    index(device, list)
    return effects
  }

  private mutating func admit(_ notifier: DeviceNotifier) throws(CaravanError) {
    if let former = devices[notifier.device] { unindex(former) }
    guard devices.count < deviceLimit || devices[notifier.device] != nil else {
      throw CaravanError(
        .limitExceeded, "this partition notifies \(devices.count) devices already: remove subscriptions of unused ones")
    }
    devices[notifier.device] = notifier
    index(notifier.device, notifier.list)
  }

  /// The device's list was deleted.
  package mutating func remove(_ device: DeviceID) {
    guard let known = devices.removeValue(forKey: device) else { return }
    unindex(known)
    active.remove(device)
  }

  /// All lists of a user were deleted.
  package mutating func removeAll(of user: UserID) {
    for device in devices.values.filter({ $0.user == user }).map(\.device) { remove(device) }
  }

  private mutating func index(_ device: DeviceID, _ list: DeviceList) {
    for (slot, item) in list.items.enumerated() {
      subscribers[item.zone, default: []].append(Subscriber(device: device, slot: slot))
    }
  }

  private mutating func unindex(_ notifier: DeviceNotifier) {
    for item in notifier.list.items {
      subscribers[item.zone]?.removeAll { $0.device == notifier.device }
      if subscribers[item.zone]?.isEmpty == true { subscribers[item.zone] = nil }
    }
  }

  // MARK: Events

  /// A commit of the partition's log: everybody subscribed to its zone hears of it, but for who made it (CK-81).
  /// - Parameter cargo: what it wrote, if that is small; asked for when somebody wants to know.
  package mutating func changed(
    _ zone: ZoneID, writer: String, position: UInt64, now: Moment, cargo: () -> Cargo? = { nil }
  ) -> Effects {
    precondition(position > self.position, "change \(position) came after \(self.position) was taken in")
    self.position = position
    var effects = Effects()
    var coalesced = 0
    let listeners = (subscribers[zone] ?? []).filter { $0.device.text != writer }
    let cargo = listeners.isEmpty ? nil : cargo()
    for subscriber in listeners {
      apply(subscriber.device, &effects) { device, number in
        let (step, isCoalesced) = device.changed(
          subscriber.slot, at: position, cargo: cargo, now: now, number: &number)
        if isCoalesced { coalesced += 1 }
        return step
      }
    }
    effects.coalesced = coalesced
    return effects
  }

  /// What the device was told, and what of it arrived, is not known: everything is offered, each device at its own
  /// time within the sweep, so that they do not all come at once.
  package mutating func sweep(_ device: DeviceID, now: Moment) {
    guard devices[device] != nil else { return }
    let spread = device.text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let delay = Int64((spread >> 1) % UInt64(NotifyLimits.sweepMilliseconds))
    devices[device]?.sweep(at: now.monotonic + delay)
    active.insert(device)
  }

  /// The log no longer holds what came before `position`.
  package mutating func sweepAll(upTo position: UInt64, now: Moment) {
    precondition(position >= self.position, "the log went back from \(self.position) to \(position)")
    self.position = position
    for device in devices.keys.sorted() { sweep(device, now: now) }
  }

  package mutating func acked(_ number: UInt64, device: DeviceID, user: UserID, now: Moment) -> Effects {
    var effects = Effects()
    guard devices[device]?.user == user else { return effects }
    apply(device, &effects) { $0.acked(number, now: now, next: &$1) }
    return effects
  }

  package mutating func tick(_ now: Moment) -> Effects {
    var effects = Effects()
    for device in active.sorted() {
      apply(device, &effects) { $0.tick(now, number: &$1) }
    }
    return effects
  }

  /// The device is here; the caller asks the store what it lacks, then calls `attached`.
  package mutating func attachBegan(_ device: DeviceID) { devices[device]?.attachBegan() }

  /// - Parameter behind: by subscription, whether the store has more than the device; of generation `generation`.
  package mutating func attached(
    _ device: DeviceID, generation: UInt64, behind: Bitmap?, now: Moment
  ) -> Effects {
    var effects = Effects()
    guard let known = devices[device] else { return effects }
    let usable = known.list.generation == generation ? behind : nil
    apply(device, &effects) { $0.attached(behind: usable, now: now, number: &$1) }
    return effects
  }

  private mutating func apply(
    _ device: DeviceID, _ effects: inout Effects,
    _ event: (inout DeviceNotifier, inout UInt64) -> DeviceNotifier.Step
  ) {
    var number = nextNumber
    guard let step = devices[device]?.taking({ event(&$0, &number) }) else { return }
    nextNumber = number
    effects.add(step, of: device)
    let wake = devices[device]?.wake ?? Wake()
    effects.wake = effects.wake.earlier(wake)
    if wake == Wake() { active.remove(device) } else { active.insert(device) }
  }
}

extension DeviceNotifier {
  /// In place, without a copy.
  fileprivate mutating func taking(_ event: (inout DeviceNotifier) -> Step) -> Step { event(&self) }
}
