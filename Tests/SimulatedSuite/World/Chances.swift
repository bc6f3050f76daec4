internal import Runtime
internal import TestKit

/// What becomes of messages, from the seed and from who sends to whom when: what others send changes nothing in it.
final class Chances: Sendable {
  private struct Way: Hashable {
    let sender: String
    let receiver: String
  }

  private let simulation: Simulation
  private let known = Mutex<[Way: any RandomSource]>([:])

  init(_ simulation: Simulation) { self.simulation = simulation }

  func of(_ sender: String, _ receiver: String) -> any RandomSource {
    known.withLock { known in
      let way = Way(sender: sender, receiver: receiver)
      if let source = known[way] { return source }
      let source = simulation.host("\(sender) to \(receiver)").host.random
      known[way] = source
      return source
    }
  }
}
