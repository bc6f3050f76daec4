/// What an operation touches. Operations of one frame that touch the same run in their order, the others side by side.
package enum OperationScope: Sendable, Hashable {
  case zone(container: String, zone: String)
  /// The list of a container's zones.
  case zones(container: String)
  /// Record types of a container.
  case types(container: String)
  /// The user's lock of an app's database.
  case lock(container: String)
  /// The device itself: hello, its subscriptions, its acknowledgements.
  case session
}

/// Which operations of a frame run one after another.
package enum Lanes {
  /// Indices into `scopes`, ascending within a lane; lanes in the order of their first operation.
  package static func plan(_ scopes: [OperationScope]) -> [[Int]] {
    var lanes: [[Int]] = []
    var laneOfScope: [OperationScope: Int] = [:]
    for (index, scope) in scopes.enumerated() {
      if let lane = laneOfScope[scope] {
        lanes[lane].append(index)
      } else {
        laneOfScope[scope] = lanes.count
        lanes.append([index])
      }
    }
    precondition(lanes.reduce(0) { $0 + $1.count } == scopes.count, "an operation is in no lane, or in two")
    precondition(lanes.count == laneOfScope.count, "operations of one scope are in two lanes")
    assert(lanes.allSatisfy { zip($0, $0.dropFirst()).allSatisfy(<) }, "operations of one scope change places")
    return lanes
  }
}
