package import CaravanModel

/// What a process can be told not to do, while others of the suite are of another release, or for good (CK-103). What
/// the first release did is no feature: devices of every release have it.
package enum Feature: String, Sendable, Hashable, CaseIterable {
  case changedZones = "changed-zones"
  case diffSync = "diff-sync"
  case groups
  case reverse
  case snapshots
}

package struct Features: Sendable, Hashable {
  private let disabled: Set<Feature>

  package static let all = Features(disabled: [])

  package init(disabled: Set<Feature>) { self.disabled = disabled }

  /// - Parameter text: names, with commas between them.
  /// - Throws: `invalidData` for one that is none.
  package init(disabling text: String) throws(CaravanError) {
    var disabled: Set<Feature> = []
    for name in text.split(separator: ",") {
      guard let feature = Feature(rawValue: String(name)) else {
        throw CaravanError(
          .invalidData,
          "'\(name)' cannot be disabled: use \(Feature.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      disabled.insert(feature)
    }
    self.disabled = disabled
  }

  /// - Parameter feature: what an operation needs; nil: what every release does.
  /// - Throws: `featureDisabled`.
  package func check(_ feature: Feature?) throws(CaravanError) {
    guard let feature, disabled.contains(feature) else { return }
    throw CaravanError(.featureDisabled, "'\(feature.rawValue)' is turned off here: do without it")
  }
}
