internal import CaravanChangeStream
internal import CaravanStore

/// How large a cluster is and how long it lives: by seed, within what a second pays for.
struct Scale: Sendable {
  var users: [String]
  /// Devices and whose they are.
  var devices: [(name: String, user: String)]
  var tables: [Table]
  /// Clients of diff sync, of the first user: in some clusters.
  var diffClients: [String]
  /// Virtual time during which everything may go wrong.
  var faultTime: Duration
  /// Mean time between two things an app does.
  var appPause: Int
  /// Mean time between two faults.
  var faultPause: Int
  /// Faults happen as this seed says; nil: as the cluster's own.
  var faultSeed: UInt64?
  /// No more of them than so many.
  var faults: Int?
  /// Short, so that tombstones are purged while devices are away.
  var tombstones = TombstoneRule()
  /// The cloud's files are lost once, and come back from a backup.
  var hasRestore = false
  /// A user has less room than they use, for a while.
  var hasQuota = false
  /// Somebody writes groups, and somebody looks whether all of each is there.
  var hasGroups = false
  /// Records refer to one another, and some are deleted.
  var hasReferences = false
  /// A device's table shows snapshots, and somebody writes records of it in twos (UNI-13).
  var hasPairs = false
  /// A device takes samples, of which some may be lost.
  var hasSamples = false
  /// Somebody reads after pauses that are longer than tombstones are kept.
  var hasLateReader = false
  /// In the end a write is timed.
  var isProbed = false
  /// Somebody reads by snapshots, more slowly than others write.
  var hasSlowReader: Bool
  /// Long where a cluster lives for weeks: whoever owns partitions looks at them so often.
  var leases = Self.leases(of: 18)
  /// Whether there is a query service, and its answers are looked at.
  var isQueried = true
  /// There are two stores, and users move from one to the other all the time (CK-100): in some clusters.
  var hasMoves = false
  /// What devices keep of tables in the beginning, in the order of both; empty: everything, always.
  var shares: [[Share]] = []
  /// Links break in the middle of transfers (MOB-23).
  var hasFlakyLinks = false
  /// Objects have chunks that such links do not let pass whole.
  var hasLargeChunks = false
  /// A device is revoked, and its name enrolled again.
  var hasGuest = false
  /// An app on their devices means harm.
  var hasHostileApps = false
  /// Storage's partitions lie in so many files.
  var files = 1
  /// Connections that read each of them beside the writer.
  var readers = 0
  /// The power fails whenever a process dies, and what is acknowledged is synced.
  var hasPowerCuts = false
  /// Devices have budgets of bytes, for a while (MOB-47).
  var hasBudgets = false
  /// Somebody has subscribed to zones that others write.
  var hasSubscribers = false
  /// Users have what these are told pushed to servers and browsers (CK-85).
  var hasPushes = false
  /// So many push services, each of which has so many calls on their way at once.
  var pushServices = 1
  var pushLanes = 1
  /// The cloud's disk loses bytes of chunks (TRU-10).
  var hasRot = false

  struct Table: Sendable, Hashable {
    var app: String
    var name: String
    var schema: String
    /// Rows are named by a key out of few, so that devices create and re-create the same.
    var hasKey: Bool
    var hasObject: Bool
    /// Nil: synced on demand only.
    var period: Int?
    var delayTolerance: Int
  }

  /// - Parameter users: nil: as the seed says.
  init(seed: UInt64, users given: [String]? = nil) {
    var dice = Dice(seed: seed, "scale")
    let chosen = dice.happens(300) ? ["ann", "bob"] : ["ann"]
    users = given ?? chosen
    var devices: [(name: String, user: String)] = []
    for user in users {
      for _ in 0..<(users.count == 1 ? dice.within(2...3) : 2) {
        devices.append((name: "d\(devices.count + 1)", user: user))
      }
    }
    self.devices = devices
    tables = (0..<dice.within(1...3)).map { Self.table($0, &dice) }
    var others = Dice(seed: seed, "diaries")
    diffClients = others.happens(120) ? ["c1", "c2"] : []
    faultTime = dice.milliseconds(60_000...170_000)
    appPause = dice.within(2_500...6_000)
    faultPause = dice.within(6_000...20_000)
    var rare = Dice(seed: seed, "rarities")
    // A history that was cut off is not what witnesses and readers of snapshots can tell of.
    hasRestore = rare.happens(90) && !Witnesses.areHere(seed)
    (hasQuota, hasGroups, hasSamples) =
      (rare.happens(100), rare.happens(120) && !hasRestore, rare.happens(80) && !hasRestore)
    hasLateReader = rare.happens(150) && !hasRestore
    isProbed = rare.happens(200)
    hasSlowReader = dice.happens(250) && !hasRestore
    var stores = Dice(seed: seed, "stores")
    hasMoves = stores.happens(60) && !hasRestore
    var parts = Dice(seed: seed, "shares")
    if parts.happens(hasRestore ? 500 : 250) {
      shares = devices.map { _ in
        tables.map { parts.happens(120) ? .own : Share.random(of: $0, &parts) }
      }
    }
    var flaky = Dice(seed: seed, "frail links")
    hasFlakyLinks = flaky.happens(200)
    hasLargeChunks = hasFlakyLinks && flaky.happens(300)
    var kin = Dice(seed: seed, "has kindred")
    hasReferences = kin.happens(120)
    var pairs = Dice(seed: seed, "has twins")
    hasPairs = pairs.happens(hasRestore ? 400 : 120)
    var budgets = Dice(seed: seed, "budgets")
    hasBudgets = budgets.happens(120)
    // Whoever gives up rows, or gets back what is older, may leave bytes that no device has.
    var rot = Dice(seed: seed, "has rot")
    hasRot = rot.happens(150) && !hasRestore && shares.isEmpty
    var hostile = Dice(seed: seed, "hostile apps are here")
    hasHostileApps = hostile.happens(80)
    var disks = Dice(seed: seed, "disks")
    if disks.happens(100) { (files, readers) = (disks.within(2...3), disks.within(1...2)) }
    // A sample that may be lost is not promised to outlast a power cut (UNI-16).
    hasPowerCuts = disks.happens(50) && !hasSamples
    var guests = Dice(seed: seed, "guests")
    // A restore would bring back whoever is revoked.
    hasGuest = guests.happens(80) && !hasRestore
    var wires = Dice(seed: seed, "wires are here")
    // What a restored cloud tells again has other versions.
    hasSubscribers = wires.happens(150) && !hasRestore
    var pushes = Dice(seed: seed, "pushes are here")
    hasPushes = pushes.happens(500)
    (pushServices, pushLanes) = (pushes.within(1...2), pushes.within(1...4))
    tombstones.grace = .seconds(30)
    tombstones.activity = dice.milliseconds(40_000...120_000)
  }

  /// Of a cluster that is played twice, with other contents of one user: it has another user.
  init(ofTwo seed: UInt64) {
    self.init(seed: seed, users: ["ann", "bob"])
    // Where long objects are cut depends on what is in them.
    hasLargeChunks = false
    // Whose bytes lie at a place of the disk depends on their hashes.
    hasRot = false
  }

  private static func table(_ number: Int, _ dice: inout Dice) -> Table {
    let (hasKey, hasObject) = (dice.happens(450), dice.happens(600))
    let columns =
      ["name VARCHAR\(hasKey ? " PRIMARY KEY" : "")", "tag VARCHAR", "n INTEGER", "note VARCHAR"]
      + (hasObject ? ["photo OBJECT"] : [])
    return Table(
      app: number == 2 ? "notes" : "album", name: "t\(number)", schema: columns.joined(separator: ", "), hasKey: hasKey,
      hasObject: hasObject, period: dice.happens(150) ? nil : dice.pick([0, 0, 5_000, 30_000]),
      delayTolerance: dice.pick([0, 0, 2_000, 20_000]))
  }

  var isPushed: Bool { hasPushes && hasSubscribers && isQueried }

  /// How the disk of a process fails it; nil: it does not.
  func disk(of part: String, isDevice: Bool, _ breakage: Breakage?) -> CarelessDisk.Forgotten? {
    breakage?.disk(of: part, isDevice: isDevice) ?? (hasPowerCuts ? .nothing : nil)
  }

  static func leases(of seconds: Int64) -> LeaseTiming {
    var timing = LeaseTiming()
    timing.duration = .seconds(seconds)
    timing.renewal = .seconds(seconds * 7 / 18)
    timing.eager = .seconds(1)
    return timing
  }

  func places(of user: String) -> [(table: Table, place: Place)] {
    tables.map { ($0, Place(user: user, app: $0.app, table: $0.name)) }
  }
}
