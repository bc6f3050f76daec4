import CaravanModel
import CaravanNotifyCore
import CaravanWire

extension TargetProgress {
  init(_ stored: StoredTargetState) {
    self.init(position: stored.position?.model())
    for one in stored.numbers.prefix(NotifyLimits.sourcesPerTarget) { numbers[one.source] = one.number }
    guard let state = stored.state else { return }
    (delivered, givenUp) = (state.delivered, state.givenUp)
    (status, problem, hasEnded) = (state.status, state.problem, state.ended)
    failingSince = state.failingSinceMilliseconds == 0 ? nil : Int64(clamping: state.failingSinceMilliseconds)
    last = state.last.prefix(Limits.pushDeadLetters).map {
      GivenUp(
        source: $0.source, number: $0.number, status: $0.status, problem: $0.problem,
        at: Int64(clamping: $0.atMilliseconds))
    }
  }
}

extension StoredTargetState {
  init(_ progress: TargetProgress, registration: [UInt8]) {
    self.init(
      registration: registration, position: progress.position.map { CaravanWire.ChangePosition($0) },
      state: PushState(progress),
      numbers: progress.numbers.sorted { $0.key < $1.key }.map { SourceNumber(source: $0.key, number: $0.value) })
  }
}

extension PushState {
  fileprivate init(_ progress: TargetProgress) {
    self.init(
      delivered: progress.delivered, givenUp: progress.givenUp, status: progress.status, problem: progress.problem,
      failingSinceMilliseconds: UInt64(clamping: progress.failingSince ?? 0), ended: progress.hasEnded,
      last: progress.last.map {
        GivenUp(
          source: $0.source, number: $0.number, status: $0.status, problem: $0.problem,
          atMilliseconds: UInt64(clamping: $0.at))
      })
  }
}
