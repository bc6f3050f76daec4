internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime

// Whether the broker lets this device in (REC-08).
extension SyncEngine {
  /// - Parameter known: what the store remembers.
  func recallAdmission(_ known: Admission.Refusal?) async {
    admission = Admission(credentials: identity.credentials, known: known)
    metrics.refused.set(admission.refusal == nil ? 0 : 1)
    if known != nil, admission.refusal == nil { await keepAdmission() }
  }

  /// The broker is there, and has refused the credentials.
  func refusedByBroker() async {
    guard admission.refused(at: host.clock.wallTime.milliseconds) else { return }
    metrics.refused.set(1)
    host.log.warning("\(Admission.Refusal.reason): it is tried rarely from now on", [.reason: Admission.Refusal.remedy])
    await keepAdmission()
  }

  func admitted() async {
    guard admission.clear() else { return }
    metrics.refused.set(0)
    host.log.info("the broker takes the credentials of this device again")
    await keepAdmission()
  }

  public func resetDevice() async {
    guard admission.clear() else { return }
    metrics.refused.set(0)
    attemptNow.raise()
    await keepAdmission()
  }

  /// Without a disk that takes it, it is known until the agent stops, and then found out again.
  private func keepAdmission() async {
    do throws(CaravanError) { try await store.save(admission.refusal) } catch {
      host.log.warning("whether the broker refuses this device could not be written down", [.error: error.description])
    }
  }
}
