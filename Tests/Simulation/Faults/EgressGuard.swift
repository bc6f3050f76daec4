internal import CaravanBus
internal import CaravanRuntime

/// Checks what leaves every device before the fault plan sees it: while a device has no link, nothing may leave it
/// (I13), what leaves keeps to its budget (MOB-47), and a flaky link lets pass so much and no more.
final class EgressGuard: FaultPolicy {
  private let faults: FaultPlan
  private let recorder: Recorder
  private let chances: Chances?
  private let unlinked = Mutex<Set<String>>([])
  private let flaky = Mutex<[String: FlakyLink]>([:])
  private let rations = Mutex<[String: Ration]>([:])
  private let clock: any Clock
  private let snap: @Sendable (String, Duration) -> Void

  /// What may still leave a device. What leaves in the instant when the user says so may have been let through before.
  private struct Ration {
    let since: Instant
    var left: UInt64
  }

  /// - Parameters:
  ///   - chances: of each way its own; nil: all messages share one source.
  ///   - snap: takes a device's connection away for so long.
  init(
    _ faults: FaultPlan, _ recorder: Recorder, _ chances: Chances? = nil, clock: any Clock,
    snap: @escaping @Sendable (String, Duration) -> Void
  ) {
    self.faults = faults
    self.chances = chances
    self.recorder = recorder
    self.clock = clock
    self.snap = snap
  }

  /// - Parameter hasLink: as the device's agent has been told; true already while it is being told.
  func look(at device: String, hasLink: Bool) {
    unlinked.withLock { if hasLink { $0.remove(device) } else { $0.insert(device) } }
  }

  /// - Parameter bytes: so many may leave from now on, and no more; nil: nobody counts.
  func ration(_ device: String, _ bytes: UInt64?) {
    rations.withLock { $0[device] = bytes.map { Ration(since: clock.now, left: $0) } }
  }

  private func isBeyondRation(_ passage: Passage) -> Bool {
    rations.withLock { rations in
      guard let ration = rations[passage.sender], ration.since < clock.now else { return false }
      guard passage.bytes <= ration.left else { return true }
      rations[passage.sender]?.left -= UInt64(passage.bytes)
      return false
    }
  }

  /// - Parameter flakyLink: nil: the link bears everything.
  func weaken(_ device: String, _ flakyLink: FlakyLink?) { flaky.withLock { $0[device] = flakyLink } }

  /// Whether the link of one of both breaks under it.
  private func breaks(_ passage: Passage) -> Bool {
    let broken = flaky.withLock { flaky -> (String, Duration?)? in
      for name in [passage.sender, passage.receiver] where flaky[name]?.breaks(under: passage.bytes) == true {
        return (name, flaky[name]?.outage)
      }
      return nil
    }
    guard let (name, outage) = broken else { return false }
    if let outage { snap(name, outage) }
    return true
  }

  func trespassed(_ what: String) { recorder.trespassed(what) }

  /// Services remember types for all users of a container, so whoever asks for one spares the next the wait. In
  /// clusters that are compared nobody waits for the registry, or else when one user asks would move what others get.
  private func isOfRegistry(_ passage: Passage) -> Bool {
    [passage.sender, passage.receiver].contains { $0.hasPrefix("schema") }
  }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    if unlinked.withLock({ $0.contains(passage.sender) }) {
      recorder.trespassed("\(passage.sender) has no link and sends \(passage.bytes) bytes to \(passage.subject)")
    }
    if isBeyondRation(passage) {
      recorder.trespassed("\(passage.sender) sends \(passage.bytes) bytes to \(passage.subject) beyond its budget")
    }
    if breaks(passage) { return [] }
    guard let chances else { return faults.copies(of: passage, random: random) }
    if isOfRegistry(passage) { return [.zero] }
    return faults.copies(of: passage, random: chances.of(passage)).map { $0 + chances.length(of: passage) }
  }
}
