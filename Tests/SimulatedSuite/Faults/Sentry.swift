internal import Bus
internal import Runtime

/// Stands at the way out of every device, before the weather does: while a device has no link, nothing may leave it
/// (I13), and a frail one lets pass so much and no more.
final class Sentry: FaultPolicy {
  private let faults: FaultPlan
  private let recorder: Recorder
  private let unlinked = Mutex<Set<String>>([])
  private let frail = Mutex<[String: Frailty]>([:])
  private let snap: @Sendable (String, Duration) -> Void

  /// - Parameter snap: takes a device's connection away for so long.
  init(_ faults: FaultPlan, _ recorder: Recorder, snap: @escaping @Sendable (String, Duration) -> Void) {
    self.faults = faults
    self.recorder = recorder
    self.snap = snap
  }

  /// - Parameter hasLink: as the device's agent has been told; true already while it is being told.
  func look(at device: String, hasLink: Bool) {
    unlinked.withLock { if hasLink { $0.remove(device) } else { $0.insert(device) } }
  }

  /// - Parameter frailty: nil: the link bears everything.
  func weaken(_ device: String, _ frailty: Frailty?) { frail.withLock { $0[device] = frailty } }

  /// Whether the link of one of both breaks under it.
  private func breaks(_ passage: Passage) -> Bool {
    let broken = frail.withLock { frail -> (String, Duration?)? in
      for name in [passage.sender, passage.receiver] where frail[name]?.breaks(under: passage.bytes) == true {
        return (name, frail[name]?.outage)
      }
      return nil
    }
    guard let (name, outage) = broken else { return false }
    if let outage { snap(name, outage) }
    return true
  }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    if unlinked.withLock({ $0.contains(passage.sender) }) {
      recorder.trespassed("\(passage.sender) has no link and sends \(passage.bytes) bytes to \(passage.subject)")
    }
    return breaks(passage) ? [] : faults.copies(of: passage, random: random)
  }
}
