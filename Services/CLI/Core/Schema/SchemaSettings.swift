import CaravanModel

/// How records of a type behave, as a schema's text says it: `conflicts fieldMerge, ttl 30d`.
enum SchemaSettings {
  /// What is not as usual; empty where everything is.
  static func text(_ settings: TypeSettings) -> String {
    let usual = TypeSettings()
    var parts: [String] = []
    if settings.conflicts != usual.conflicts { parts.append("conflicts \(settings.conflicts.rawValue)") }
    if settings.fallback != usual.fallback { parts.append("fallback \(settings.fallback.rawValue)") }
    if settings.extensionMilliseconds != usual.extensionMilliseconds {
      parts.append("extension-within \(settings.extensionMilliseconds)ms")
    }
    if settings.ttlMilliseconds != usual.ttlMilliseconds {
      parts.append("ttl \(LifetimeText.text(settings.ttlMilliseconds))")
    }
    if settings.hidesExpired != usual.hidesExpired { parts.append("hide-expired \(settings.hidesExpired)") }
    if let bytes = settings.chunkBytes { parts.append("chunk-size \(bytes >> 10)K") }
    return parts.joined(separator: ", ")
  }

  /// Where no role may do anything: a type without grants has the usual ones.
  static let noGrants = "grants nothing"

  static let names = ["conflicts", "fallback", "extension-within", "ttl", "hide-expired", "chunk-size"]

  /// - Returns: whether there is such a setting, and it can have this value.
  static func set(_ name: String, to value: String, in settings: inout TypeSettings) -> Bool {
    switch name {
    case "conflicts": return ConflictPolicy(rawValue: value).map { settings.conflicts = $0 } != nil
    case "fallback": return ConflictPolicy(rawValue: value).map { settings.fallback = $0 } != nil
    case "extension-within":
      return milliseconds(value).flatMap(UInt32.init(exactly:)).map { settings.extensionMilliseconds = $0 } != nil
    case "ttl": return milliseconds(value).map { settings.ttlMilliseconds = $0 } != nil
    case "hide-expired": return Bool(value).map { settings.hidesExpired = $0 } != nil
    case "chunk-size":
      return TypeSettings.chunkSizes.first { "\($0 >> 10)K" == value.uppercased() }.map { settings.chunkBytes = $0 }
        != nil
    default: return false
    }
  }

  private static func milliseconds(_ text: String) -> UInt64? {
    if text == "never" { return 0 }
    if text.hasSuffix("ms") { return UInt64(text.dropLast(2)) }
    return try? LifetimeText.milliseconds(text)
  }
}
