/// The fewest moments that touch every interval, found by somebody who knows all of them: always the end of the first
/// interval that has none yet. What a coalescer can at best do with.
struct TransferOptimum {
  struct Interval {
    /// From when there is something to send, and until when its transfer has to begin.
    var release: UInt64
    var deadline: UInt64
  }

  let moments: [UInt64]

  init(_ intervals: [Interval]) {
    var moments: [UInt64] = []
    for interval in intervals.sorted(by: { $0.deadline < $1.deadline }) {
      if let last = moments.last, last >= interval.release { continue }
      moments.append(interval.deadline)
    }
    self.moments = moments
  }
}
