/// What a cellular radio does with transfers. It is promoted before one, and stays on for a tail after it; what begins
/// within the tail goes on with it.
///
/// Defaults are of LTE: Huang et al., "A Close Examination of Performance and Power Characteristics of 4G LTE Networks"
/// (MobiSys 2012).
struct RadioModel: Sendable {
  var promotionSeconds = 0.26
  var tailSeconds = 11.6
  var uplinkMegabits = 5.64
  var roundTripSeconds = 0.07
  /// Of one transfer: a frame and its answer, chunks and theirs.
  static let roundTrips = 2.0

  /// One transfer: when it begins and how much it sends.
  struct Transfer: Sendable {
    var at: Double
    var bytes: Int
  }

  struct Usage: Sendable {
    var transfers = 0
    /// Times the radio was promoted.
    var clusters = 0
    var onSeconds = 0.0
    var bytes = 0
  }

  func seconds(of transfer: Transfer) -> Double {
    Double(transfer.bytes) * 8 / (uplinkMegabits * 1e6) + Self.roundTrips * roundTripSeconds
  }

  /// - Parameter transfers: in any order. Those that overlap share the radio, which sends one after the other.
  func usage(of transfers: [Transfer]) -> Usage {
    var usage = Usage()
    var freeAt = -Double.infinity
    var onUntil = -Double.infinity
    for transfer in transfers.sorted(by: { $0.at < $1.at }) {
      usage.transfers += 1
      usage.bytes += transfer.bytes
      let isCold = transfer.at > onUntil
      if isCold { usage.clusters += 1 }
      let start = max(transfer.at + (isCold ? promotionSeconds : 0), freeAt)
      freeAt = start + seconds(of: transfer)
      let end = freeAt + tailSeconds
      usage.onSeconds += end - (isCold ? transfer.at : onUntil)
      onUntil = end
    }
    return usage
  }
}

/// The fewest moments that touch every interval, found with the future known: always the end of the first one that has
/// none yet. No schedule that meets all deadlines has fewer transfers.
struct TransferOptimum: Sendable {
  struct Interval: Sendable {
    /// From when there is something to send, and until when its transfer has to begin; in seconds.
    var release: Double
    var deadline: Double
  }

  let moments: [Double]

  init(_ intervals: [Interval]) {
    var moments: [Double] = []
    for interval in intervals.sorted(by: { $0.deadline < $1.deadline }) {
      if let last = moments.last, last >= interval.release { continue }
      moments.append(interval.deadline)
    }
    self.moments = moments
  }
}
