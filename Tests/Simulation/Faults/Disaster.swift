internal import CaravanBackup
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanStoreSQLite
internal import CaravanTestKit

/// The cloud's files are lost, all of them, and come back as a backup has them: what was committed since is only where
/// devices still hold it (R17, UNI-18). Now and then that happens again before there is a newer backup.
struct Disaster: Rarity {
  private let suite: Suite
  private var dice: Dice
  private var path: String { "\(suite.ground.directory)/backup" }
  private var storage: Part { suite.services[0] }

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "disaster")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    let span = Int((end - clock.now).wholeMilliseconds)
    guard (try? await clock.sleep(for: dice.milliseconds(span / 3...2 * span / 3))) != nil, backUp() else {
      return
    }
    var isAgain = false
    var last = storage.machine.host.clock.wallTime
    repeat {
      guard (try? await clock.sleep(for: dice.milliseconds(2_000...span / 3))) != nil, clock.now < end else { return }
      // What is given must have a later time than before: a clock that was set back in between is the operator's fault.
      let now = storage.machine.host.clock.wallTime
      guard now.milliseconds > last.milliseconds + 1_000 else { return }
      last = now
      for part in suite.services { suite.crash(part) }
      restore()
      for part in suite.services { part.start() }
      await strike(clock)
      isAgain.toggle()
    } while isAgain && dice.happens(500)
  }

  /// What devices remember of pushes that the cloud has taken back outlives them.
  private mutating func strike(_ clock: any Clock) async {
    for device in suite.devices where dice.happens(400) {
      guard (try? await clock.sleep(for: dice.milliseconds(0...3_000))) != nil else { return }
      suite.crash(device.part)
      try? await clock.sleep(for: dice.milliseconds(50...1_000))
      device.part.start()
    }
  }

  /// - Returns: false: there is nothing that could be backed up.
  private func backUp() -> Bool {
    do throws(CaravanError) {
      let now = storage.machine.host.clock.wallTime
      let summary = try BackupFile.write(SQLiteSnapshot(storage.directory), to: path, at: now)
      suite.ground.recorder.note("a backup has \(summary.records) records of \(summary.zones.count) zones")
      return true
    } catch {
      suite.ground.recorder.note("no backup: \(error)")
      return false
    }
  }

  private func restore() {
    storage.loseFiles()
    let (directory, host) = (storage.directory, storage.machine.host)
    var heads: [UInt32: UInt64] = [:]
    var options = StoreOptions.simulation(.directory(directory))
    options.tombstones = suite.scale.tombstones
    (options.files, options.readersPerFile) = (suite.scale.files, suite.scale.readers)
    do throws(CaravanError) {
      let summary = try BackupFile.restore(path, at: host.clock.wallTime) { () throws(CaravanError) in
        try SQLiteRestore(options, host: host)
      } checking: { () throws(CaravanError) in
        try SQLiteSnapshot(directory)
      }
      try BackupFile.read(path) { item in
        if case .head(let partition, let head) = item { heads[partition.number] = head }
      }
      var zones: [Place: UInt64] = [:]
      for zone in summary.zones {
        guard let owner = zone.id.database.owner else { continue }
        zones[Place(user: owner.text, app: zone.id.database.container.text, table: zone.id.name)] = zone.seq
      }
      suite.ground.recorder.restored(zones, heads)
    } catch { suite.ground.recorder.trespassed("a backup cannot be restored: \(error)") }
  }
}
