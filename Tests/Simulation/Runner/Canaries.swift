import CaravanRuntime
import CaravanSimulation
import Foundation

/// Plays every breakage until the checkers find it: one that is not found is a promise that nobody watches over.
struct Canaries {
  /// Within so many each is to be found.
  static let seeds = 300

  let jobs: Int

  func play() -> Int32 {
    var missed = 0
    for breakage in Breakage.allCases {
      let started = Date()
      let sum = Workers(
        breakage: breakage.rawValue, isTwice: breakage.showsInTwo, shows: false, stops: true, isQuiet: true
      ).sum(first: 1, count: Self.seeds, jobs: jobs)
      let seconds = String(format: "%.1f", Date().timeIntervalSince(started))
      if let first = sum.first {
        print("\(breakage.rawValue): seed \(first.seed) after \(seconds) s, \(first.what)")
      } else {
        missed += 1
        print("\(breakage.rawValue): NOT FOUND in \(sum.seeds) seeds, \(seconds) s")
      }
    }
    print("\(Breakage.allCases.count - missed) passed, \(missed) failed")
    return missed == 0 ? ExitCode.success : ExitCode.failure
  }
}
