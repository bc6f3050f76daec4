internal import Bus
internal import Runtime

/// Stands at the way out of every device, before the weather does: while a device has no link, nothing may leave it
/// (I13).
final class Sentry: FaultPolicy {
  private let faults: FaultPlan
  private let recorder: Recorder
  private let unlinked = Mutex<Set<String>>([])

  init(_ faults: FaultPlan, _ recorder: Recorder) {
    self.faults = faults
    self.recorder = recorder
  }

  /// - Parameter hasLink: as the device's agent has been told; true already while it is being told.
  func look(at device: String, hasLink: Bool) {
    unlinked.withLock { if hasLink { $0.remove(device) } else { $0.insert(device) } }
  }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    if unlinked.withLock({ $0.contains(passage.sender) }) {
      recorder.trespassed("\(passage.sender) has no link and sends \(passage.bytes) bytes to \(passage.subject)")
    }
    return faults.copies(of: passage, random: random)
  }
}
