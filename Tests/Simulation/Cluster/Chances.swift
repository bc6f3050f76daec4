internal import CaravanBus
internal import CaravanRuntime
internal import CaravanTestKit

/// What becomes of messages in clusters that are compared: by the way that each goes and the moment, and by nothing
/// that others send. What goes the same way at the same moment has the same fate.
struct Chances: Sendable {
  let simulation: Simulation

  func of(_ passage: Passage) -> any RandomSource {
    // An answer is named by a number, which counts what was asked before it.
    let what = passage.isReply ? "answer" : passage.subject
    return SeededRandom(seed: seed("\(passage.sender) \(passage.receiver) \(what)"))
  }

  /// How long each message is on its way from one to another, beside its delay. Hardly two ways are equally long, so
  /// what two devices send at one moment comes at two: a service has done what it can with the one before it gets the
  /// other, and how many jobs that took does not change which of them is first.
  func length(of passage: Passage) -> Duration {
    var dice = Dice(seed: simulation.seed, "from \(passage.sender) to \(passage.receiver)")
    return .nanoseconds(Int64(dice.within(1...1_000_000)))
  }

  /// Which of a group it is that gets what is sent now.
  var ofGroups: any RandomSource { Draw(chances: self) }

  private func seed(_ name: String) -> UInt64 {
    var digest = Digest()
    digest.add(simulation.seed)
    digest.add(simulation.now.nanoseconds)
    digest.add(name)
    return digest.value
  }

  private struct Draw: RandomSource {
    let chances: Chances

    func next() -> UInt64 { SeededRandom(seed: chances.seed("group")).next() }
  }
}
