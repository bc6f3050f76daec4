/// What goes to the cloud by itself: a row, or the rows of a batch, which go together.
public enum PushUnit: Sendable, Hashable {
  case row(Int64)
  case batch(Int64)
}

/// In which order a unit and those that it needs go: the cloud takes no row that refers to one it does not have
/// (CK-27, CK-28), so whoever is referred to goes first.
///
/// The store answers what is asked: `next`, `answer`, `next`, … until there is something to do.
public struct PushOrder: Sendable {
  /// What is to be done next.
  public enum Step: Sendable, Hashable {
    /// Which units have to be at the cloud before this one? Answer.
    case ask(PushUnit)
    /// These go, in this order, and the unit last.
    case go([PushUnit])
    /// One of those needed cannot go now, so the unit waits.
    case hold
    /// These need each other: they go together or never.
    case join([PushUnit])
  }

  /// A unit whose needs are being looked after, and those of them that are left; nil: not known yet.
  private struct Visit: Sendable {
    let unit: PushUnit
    var needs: [PushUnit]?
  }

  /// From the unit to what it needs, to what that needs, and so on.
  private var path: [Visit]
  private var onPath: Set<PushUnit>
  private var order: [PushUnit] = []
  private var settled: Set<PushUnit>
  private var isHeld = false

  /// - Parameter chosen: units that go before anyway.
  public init(to unit: PushUnit, after chosen: Set<PushUnit> = []) {
    precondition(!chosen.contains(unit), "\(unit) would go twice")
    (path, onPath) = ([Visit(unit: unit, needs: nil)], [unit])
    settled = chosen
  }

  /// - Returns: the next step; `go`, `hold` and `join` are the last.
  public mutating func next() -> Step {
    while !isHeld, let visit = path.last {
      assert(path.count == onPath.count, "a unit is looked after twice")
      guard let needs = visit.needs else { return .ask(visit.unit) }
      guard let need = needs.last else {
        path.removeLast()
        onPath.remove(visit.unit)
        settled.insert(visit.unit)
        order.append(visit.unit)
        continue
      }
      path[path.count - 1].needs?.removeLast()
      if settled.contains(need) { continue }
      guard onPath.insert(need).inserted else {
        return .join(path.drop { $0.unit != need }.map(\.unit))
      }
      path.append(Visit(unit: need, needs: nil))
    }
    return isHeld ? .hold : .go(order)
  }

  /// - Parameter needs: of the unit asked about, without itself; nil: it cannot go now.
  public mutating func answer(_ needs: [PushUnit]?) {
    precondition(path.last.map { $0.needs == nil } == true, "nobody has asked")
    guard let needs else {
      isHeld = true
      return
    }
    precondition(!needs.contains(path[path.count - 1].unit), "a unit needs itself")
    // Taken from the end: the first one goes first.
    path[path.count - 1].needs = needs.reversed()
  }
}
