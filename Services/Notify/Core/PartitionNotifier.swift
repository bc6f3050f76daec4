package import CaravanModel

/// The devices of one owned partition, and how far its log has been followed. Pure: every event returns what to send.
package struct PartitionNotifier: Sendable {
  private struct Subscriber {
    let device: EnrolledDevice
    /// Of the device among `devices`.
    let place: Int
    /// Of the zone in its list.
    let slot: Int
  }

  /// What came of an event, for the driver to carry out and count.
  package struct Effects: Sendable, Equatable {
    package var sends: [PendingNotification] = []
    package var resends: [PendingNotification] = []
    package var coalesced = 0
    package var gaveUp: [EnrolledDevice] = []
    /// When the devices it touched want to be looked at again.
    package var wake = Wake()

    package init() {}

    mutating func add(_ step: DeviceNotifier.Step, of device: EnrolledDevice) {
      switch step {
      case .nothing: return
      case .send(let pending): sends.append(pending)
      case .resend(let pending): resends.append(pending)
      case .giveUp: gaveUp.append(device)
      }
    }
  }

  /// The last log position that has been taken in.
  package private(set) var position: UInt64
  /// Each at its place; nil: a place that is free.
  private var devices: [DeviceNotifier?] = []
  private var places: [EnrolledDevice: Int] = [:]
  private var freePlaces: [Int] = []
  private var subscribers: [ZoneID: [Subscriber]] = [:]
  private var wallTimes = DueTimes()
  private var monotonicTimes = DueTimes()
  /// The wall clock as it was seen last.
  private var wall: Int64
  private var hasWallGoneBack = false
  private var nextNumber: UInt64
  private let deviceLimit: Int

  /// - Parameter wall: the wall time now. Numbers begin with it, so that no late answer to an owner before fits them.
  package init(startedAt wall: Int64, position: UInt64, deviceLimit: Int = NotifyLimits.devicesPerPartition) {
    precondition(deviceLimit > 0, "a partition without room for devices notifies nobody")
    nextNumber = UInt64(max(0, wall)) << 20 + 1
    self.wall = wall
    self.position = position
    self.deviceLimit = deviceLimit
  }

  package var deviceCount: Int { places.count }
  package var awayCount: Int { devices.count { $0?.presence == .away } }
  package subscript(device: EnrolledDevice) -> DeviceNotifier? { places[device].flatMap { devices[$0] } }

  /// Everything up to here is known to every device, or belongs to one that is away and will ask by itself.
  package var confirmed: UInt64 {
    devices.reduce(position) { floor, device in
      guard let oldest = device?.oldestUnconfirmed else { return floor }
      return min(floor, oldest - 1)
    }
  }

  /// When `tick` has something to do; nil on both clocks: never.
  package mutating func nextWake() -> Wake {
    // What nobody waits for any more is looked over here.
    while let (due, place) = wallTimes.first, devices[place]?.wake.wall != due { lookAgain(at: place, wall: due) }
    while let (due, place) = monotonicTimes.first, devices[place]?.wake.monotonic != due {
      lookAgain(at: place, monotonic: due)
    }
    return Wake(wall: wallTimes.first?.due, monotonic: monotonicTimes.first?.due)
  }

  private mutating func lookAgain(at place: Int, wall: Int64 = .min, monotonic: Int64 = .min) {
    _ = wallTimes.popDue(wall)
    _ = monotonicTimes.popDue(monotonic)
    schedule(place, devices[place]?.wake ?? Wake())
  }

  private mutating func schedule(_ place: Int, _ wake: Wake) {
    wallTimes.schedule(place, at: wake.wall)
    monotonicTimes.schedule(place, at: wake.monotonic)
  }

  // MARK: Lists

  /// A device's list.
  /// - Parameter isCurrent: the device just sent it. Otherwise it was found in the store, where it may be older than
  ///   what the device sent: an older generation than the known one is then ignored.
  /// - Throws: `limitExceeded` for a new device when there are too many.
  package mutating func setList(
    _ list: DeviceList, of device: EnrolledDevice, isCurrent: Bool, now: Moment
  ) throws(CaravanError) -> Effects {
    var effects = Effects()
    look(at: now)
    let list = shared(list)
    guard let place = places[device], let known = devices[place] else {
      try admit(DeviceNotifier(device: device, list: list))
      return effects
    }
    guard isCurrent || list.generation >= known.list.generation, list != known.list else { return effects }
    unindex(known)
    apply(place, &effects) { $0.replace(list, now: now, number: &$1) }
    index(place, known.device, list)
    checkInvariants()
    return effects
  }

  /// The list with the zones that others' lists have, too, where they are the same: names take more room than all else.
  private func shared(_ list: DeviceList) -> DeviceList {
    list.mapZones { zone in subscribers.index(forKey: zone).map { subscribers[$0].key } ?? zone }
  }

  private mutating func admit(_ notifier: DeviceNotifier) throws(CaravanError) {
    remove(notifier.device)
    guard places.count < deviceLimit else {
      throw CaravanError(
        .limitExceeded, "this partition notifies \(places.count) devices already: remove subscriptions of unused ones")
    }
    let place = freePlaces.popLast() ?? devices.count
    if place == devices.count { devices.append(notifier) } else { devices[place] = notifier }
    places[notifier.device] = place
    index(place, notifier.device, notifier.list)
    checkInvariants()
  }

  /// Each device has one place, and each of its subscriptions one entry.
  private func checkInvariants() {
    precondition(places.count + freePlaces.count == devices.count, "a place is nobody's, and not free")
    precondition(places.count <= deviceLimit, "\(places.count) devices of \(deviceLimit)")
    // Looking at all of many devices after each event would make the tests of many slow, and find nothing more.
    guard places.count <= 64 else { return }
    assert(places.allSatisfy { devices[$0.value]?.device == $0.key }, "a device is at another's place")
    assert(freePlaces.allSatisfy { devices[$0] == nil }, "a place is free where somebody is")
    assert(
      subscribers.values.reduce(0) { $0 + $1.count } == devices.reduce(0) { $0 + ($1?.list.items.count ?? 0) },
      "a subscription hears of nothing, or somebody else of it")
  }

  /// The device's list was deleted.
  package mutating func remove(_ device: EnrolledDevice) {
    guard let place = places.removeValue(forKey: device), let known = devices[place] else { return }
    unindex(known)
    devices[place] = nil
    freePlaces.append(place)
    checkInvariants()
  }

  /// All lists of a user were deleted.
  package mutating func removeAll(of user: UserID) {
    for device in devices where device?.device.user == user { if let device { remove(device.device) } }
  }

  private mutating func index(_ place: Int, _ device: EnrolledDevice, _ list: DeviceList) {
    for (slot, item) in list.items.enumerated() {
      subscribers[item.zone, default: []].append(Subscriber(device: device, place: place, slot: slot))
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
  /// - Parameter inline: what it wrote, if that is small; asked for when somebody wants to know.
  package mutating func changed(
    _ zone: ZoneID, writer: String, position: UInt64, now: Moment, inlinePage: () -> InlinePage? = { nil }
  ) -> Effects {
    precondition(position > self.position, "change \(position) came after \(self.position) was taken in")
    self.position = position
    look(at: now)
    var effects = Effects()
    var coalesced = 0
    let author = try? EnrolledDevice(writer)
    guard let listeners = subscribers[zone], listeners.contains(where: { $0.device != author }) else {
      return effects
    }
    let inlinePage = inlinePage()
    for subscriber in listeners where subscriber.device != author {
      apply(subscriber.place, &effects) { device, number in
        let (step, isCoalesced) = device.changed(
          subscriber.slot, at: position, inlinePage: inlinePage, now: now, number: &number)
        if isCoalesced { coalesced += 1 }
        return step
      }
    }
    effects.coalesced = coalesced
    return effects
  }

  /// What the device was told, and what of it arrived, is not known: everything is told, each device at its own
  /// time within the sweep, so that they do not all come at once.
  package mutating func sweep(_ device: EnrolledDevice, now: Moment) {
    guard let place = places[device] else { return }
    let spread = device.text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let delay = Int64((spread >> 1) % UInt64(NotifyLimits.sweepMilliseconds))
    devices[place]?.sweep(at: now.monotonic + delay)
    schedule(place, Wake(monotonic: now.monotonic + delay))
  }

  /// The log no longer holds what came before `position`.
  package mutating func sweepAll(upTo position: UInt64, now: Moment) {
    precondition(position >= self.position, "the log went back from \(self.position) to \(position)")
    self.position = position
    for device in devices { if let device { sweep(device.device, now: now) } }
  }

  package mutating func acked(_ number: UInt64, device: EnrolledDevice, now: Moment) -> Effects {
    look(at: now)
    var effects = Effects()
    guard let place = places[device] else { return effects }
    apply(place, &effects) { $0.acked(number, now: now, next: &$1) }
    return effects
  }

  package mutating func tick(_ now: Moment) -> Effects {
    look(at: now)
    var effects = Effects()
    // A wall clock that went back may have brought everybody's next multiple nearer.
    let wall = hasWallGoneBack ? Int64.max : now.wall
    hasWallGoneBack = false
    var due: [Int] = []
    while let place = wallTimes.popDue(wall) { due.append(place) }
    while let place = monotonicTimes.popDue(now.monotonic) { due.append(place) }
    for place in due { apply(place, &effects) { $0.tick(now, number: &$1) } }
    return effects
  }

  private mutating func look(at now: Moment) {
    if now.wall < wall { hasWallGoneBack = true }
    wall = now.wall
  }

  /// The device is here; the caller asks the store what it lacks, then calls `attached`.
  package mutating func attachBegan(_ device: EnrolledDevice) {
    if let place = places[device] { devices[place]?.attachBegan() }
  }

  /// - Parameter behind: by subscription, whether the store has more than the device; of generation `generation`.
  package mutating func attached(
    _ device: EnrolledDevice, generation: UInt64, behind: Bitmap?, now: Moment
  ) -> Effects {
    look(at: now)
    var effects = Effects()
    guard let place = places[device] else { return effects }
    let usable = devices[place]?.list.generation == generation ? behind : nil
    apply(place, &effects) { $0.attached(behind: usable, now: now, number: &$1) }
    return effects
  }

  private mutating func apply(
    _ place: Int, _ effects: inout Effects,
    _ event: (inout DeviceNotifier, inout UInt64) -> DeviceNotifier.Step
  ) {
    let before = nextNumber
    guard let (step, wake, device) = devices[place]?.taking(&nextNumber, event) else { return }
    if case .send(let pending) = step {
      precondition(
        pending.number == before && nextNumber == before + 1, "two notifications have number \(pending.number)")
    } else {
      precondition(nextNumber == before, "a number was taken for no notification")
    }
    effects.add(step, of: device)
    effects.wake = effects.wake.earlier(wake)
    schedule(place, wake)
  }
}

extension DeviceNotifier {
  /// In place, without a copy.
  fileprivate mutating func taking(
    _ number: inout UInt64, _ event: (inout DeviceNotifier, inout UInt64) -> Step
  ) -> (Step, Wake, EnrolledDevice) {
    let step = event(&self, &number)
    return (step, wake, device)
  }
}
