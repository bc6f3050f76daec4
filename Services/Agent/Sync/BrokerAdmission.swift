internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

/// Whether the broker lets this device in, as the store remembers it (REC-08).
final class BrokerAdmission: Sendable {
  private let state: Mutex<Admission>
  /// Digest of the credentials that the device has now.
  private let credentials: @Sendable () -> String
  private let store: any SyncStore
  private let metrics: SyncMetrics
  private let host: Host
  /// The store remembers a refusal of other credentials than the device has now.
  private let isOutdated: Bool

  /// - Parameter known: what the store remembers.
  init(
    _ known: Admission.Refusal?, credentials: @escaping @Sendable () -> String, store: any SyncStore,
    metrics: SyncMetrics, host: Host
  ) {
    let admission = Admission(credentials: credentials(), known: known)
    isOutdated = known != nil && admission.refusal == nil
    state = Mutex(admission)
    metrics.refused.set(admission.refusal == nil ? 0 : 1)
    (self.credentials, self.store, self.metrics, self.host) = (credentials, store, metrics, host)
  }

  var refusal: Admission.Refusal? { state.withLock { $0.refusal } }

  /// How long a refused device leaves the broker alone, in nanoseconds; nil: it is not refused.
  func rest(random: UInt64) -> UInt64? { state.withLock { $0.rest(random: random) } }

  /// The store forgets a refusal of credentials that the device has no more.
  func dropOutdated() async { if isOutdated { await keep() } }

  /// The broker is there, and has refused the credentials.
  func refuse() async {
    let (shown, now) = (credentials(), host.clock.wallTime.milliseconds)
    let (isNew, isDropped) = state.withLock { state in
      let wasRefused = state.refusal != nil
      let isNew = state.refused(shown, at: now)
      return (isNew, wasRefused && state.refusal == nil)
    }
    if isDropped {
      metrics.refused.set(0)
      await keep()
    }
    guard isNew else { return }
    metrics.refused.set(1)
    host.log.warning("\(Admission.Refusal.reason): it is tried rarely from now on", [.reason: Admission.Refusal.remedy])
    await keep()
  }

  func admit() async {
    guard await clear() else { return }
    host.log.info("the broker takes the credentials of this device again")
  }

  /// - Returns: whether the device was refused.
  func clear() async -> Bool {
    guard state.withLock({ $0.clear() }) else { return false }
    metrics.refused.set(0)
    await keep()
    return true
  }

  /// Without a disk that takes it, it is known until the agent stops, and then found out again.
  private func keep() async {
    do throws(CaravanError) { try await store.save(refusal) } catch {
      host.log.warning("whether the broker refuses this device could not be written down", [.error: error.description])
    }
  }
}

/// Whether the device may speak at all, for those who wait for a change of that.
struct SpeechPermission: Sendable {
  private(set) var permitted = Promise<Void>()
  private(set) var forbidden = Promise<Void>()

  mutating func tell(_ isPermitted: Bool) {
    if isPermitted {
      if forbidden.value != nil { forbidden = Promise() }
      permitted.fulfil(())
    } else {
      if permitted.value != nil { permitted = Promise() }
      forbidden.fulfil(())
    }
  }
}
