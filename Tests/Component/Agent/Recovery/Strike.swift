import CaravanBus
import CaravanRuntime
import CaravanTestKit

/// What hits a device in the middle of an operation (SIM-75).
enum Blow: String, Sendable, CaseIterable {
  /// The connection goes, and comes back later.
  case network
  case appKill = "app kill"
  case agentKill = "agent kill"
  /// What was not synced to the disk is gone.
  case powerCut = "power cut"
  /// The agent's end, and then that of its recovery by a power cut, at each change that it makes to the disk.
  case recoveryCut = "power cuts in the recovery"

  var endsTheAgent: Bool {
    switch self {
    case .network, .appKill: false
    case .agentKill, .powerCut, .recoveryCut: true
    }
  }
}

/// A network that lets everything pass until the message that a test waits for: then the blow falls, at once.
final class Strike: FaultPolicy {
  private struct State {
    var target: (@Sendable (Passage) -> Bool)?
    var blow: (@Sendable () -> Void)?
    var device = "device"
    var isCut = false
    var hasHit = false
  }

  private let state = Mutex(State())

  /// - Parameters:
  ///   - device: whom it hits.
  ///   - cuts: nothing reaches or leaves the device from the message on, which is lost as well.
  ///   - blow: at the moment of the message.
  func arm(
    _ device: String, cuts: Bool, at target: @escaping @Sendable (Passage) -> Bool, blow: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.device = device
      state.hasHit = false
      state.target = target
      state.blow = { [self] in
        if cuts { cut() }
        blow()
      }
    }
  }

  var hasHit: Bool { state.withLock { $0.hasHit } }

  func cut() { state.withLock { $0.isCut = true } }

  func heal() {
    state.withLock { state in
      (state.isCut, state.target) = (false, nil)
    }
  }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    let blow = state.withLock { state -> (@Sendable () -> Void)? in
      guard let target = state.target, target(passage) else { return nil }
      (state.target, state.hasHit) = (nil, true)
      return state.blow
    }
    blow?()
    return state.withLock { state in
      let isTheirs = passage.sender == state.device || passage.receiver == state.device
      return state.isCut && isTheirs ? [] : [.zero]
    }
  }
}
