internal import CaravanModel

/// Puts calls in an order of versions that agrees with time: whoever began after another was answered comes after it.
///
/// Writes have their place. A read has the first that fits: a later one would only leave less room for who comes after.
struct RealTimeOrder {
  /// One call in the order: it begins at one position and leaves the world at another.
  struct Slot {
    enum Place {
      case fixed(from: Seq, to: Seq)
      /// The first position that fits, not before the one given; nil: none does.
      case first((Seq) -> Seq?)
    }

    let call: Int
    let invoked: UInt64
    let returned: UInt64?
    let place: Place

    init(_ call: ZoneCall, _ index: Int, from: Seq, to: Seq) {
      self.call = index
      invoked = call.invoked
      returned = call.returned
      place = .fixed(from: from, to: to)
    }

    init(_ call: ZoneCall, _ index: Int, first: @escaping (Seq) -> Seq?) {
      self.call = index
      invoked = call.invoked
      returned = call.returned
      place = .first(first)
    }
  }

  struct Problem {
    let call: Int
    /// Where the world had come before the call began.
    let floor: Seq
    /// Who had taken it there; nil: nobody, the call fits nowhere.
    let before: Int?
  }

  private(set) var problems: [Problem] = []

  init(_ slots: [Slot]) {
    let slots = slots.sorted { $0.invoked < $1.invoked }
    let byEnd = slots.indices.filter { slots[$0].returned != nil }
      .sorted { (slots[$0].returned ?? 0) < (slots[$1].returned ?? 0) }
    var ends = [Seq](repeating: 0, count: slots.count)
    var ended = byEnd.startIndex
    var (floor, before) = (Seq(0), Int?.none)
    for (index, slot) in slots.enumerated() {
      while ended < byEnd.endIndex, let end = slots[byEnd[ended]].returned, end < slot.invoked {
        if ends[byEnd[ended]] > floor { (floor, before) = (ends[byEnd[ended]], slots[byEnd[ended]].call) }
        ended += 1
      }
      switch slot.place {
      case .fixed(let from, let to):
        if from < floor { problems.append(Problem(call: slot.call, floor: floor, before: before)) }
        ends[index] = to
      case .first(let fit):
        if let place = fit(floor) {
          ends[index] = place
        } else {
          problems.append(Problem(call: slot.call, floor: floor, before: fit(0) == nil ? nil : before))
        }
      }
    }
  }
}
