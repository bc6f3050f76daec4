package import CaravanModel
package import CaravanRuntime
package import CaravanSyncCore
import CaravanWire

/// For upgrades of one process after the other, and for whoever wants less (CK-103).
package enum FeatureFlags {
  private static let disabled = Flag<String>(
    "disable", "FEATURE,…", "what not to do: changed-zones, diff-sync, groups, reverse, snapshots",
    environment: "CARAVAN_DISABLE", default: "")

  package static let all: FlagList = [disabled]

  /// - Throws: `invalidData` for a feature that is none.
  package static func features(_ options: Options) throws(CaravanError) -> Features {
    try Features(disabling: options[disabled])
  }
}

extension CaravanWire.Operation {
  /// nil: every release does it.
  var feature: Feature? {
    switch kind {
    case .lock, .unlock, .beginGroup, .upload, .commitGroup, .operation, .removeOperation: .groups
    case .syncBegin, .syncContinue: .diffSync
    case .changedZones: .changedZones
    case .pull(let pull): pull.snapshot ? .snapshots : pull.mode == .reverse ? .reverse : nil
    case .hello, .propose, .push, .settle, .subscribe, .ack, .ticket, .drop, .read, .zones, .createZone, .whoAmI,
      .schema, .query, .subscriptions, .pushTargets, nil:
      nil
    }
  }
}
