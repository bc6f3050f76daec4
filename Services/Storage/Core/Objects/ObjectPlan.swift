package import CaravanModel

/// An object at its place in the object store: `container/environment/owner/zone/record/field`, as people would look
/// for it.
package struct PlacedObject: Sendable, Hashable {
  package var path: String
  /// Tells contents apart.
  package var fingerprint: String

  package init(path: String, fingerprint: String) {
    self.path = path
    self.fingerprint = fingerprint
  }

  /// As the store keeps it. Neither part has a space.
  package init(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    path = parts.first.map(String.init) ?? ""
    fingerprint = parts.count > 1 ? String(parts[1]) : ""
  }

  package var text: String {
    precondition(!path.utf8.contains(0x20), "a path with a space would be cut at it when it is read back")
    return "\(path) \(fingerprint)"
  }
}

extension PlacedObject {
  /// - Parameters:
  ///   - field: its name.
  ///   - index: in a list of objects.
  package static func path(_ zone: ZoneID, record: String, field: String, index: Int? = nil) -> String {
    precondition(index ?? 0 >= 0, "no object of a list is before its first")
    let database = zone.database
    let parts = [
      database.container.text, database.environment.rawValue, database.owner?.text ?? "_public", zone.name, record,
      field,
    ]
    return (parts + (index.map { [String($0)] } ?? [])).map(escaped).joined(separator: "/")
  }

  /// Letters, digits, `-`, `_` and `.` as they are; the rest as `~` and two hexadecimal digits a byte: no URL, file
  /// system or tool has another idea of these. A leading dot would hide a file, or mean a folder.
  private static func escaped(_ part: String) -> String {
    var text = ""
    for (index, byte) in part.utf8.enumerated() {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: text.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x2e where index > 0: text += "."
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "~0\(digits)" : "~\(digits)"
      }
    }
    precondition(text.utf8.first != 0x2e, "a part of a path would hide a file, or mean a folder")
    assert(!text.utf8.contains(0x2f) && !text.utf8.contains(0x20), "a part of a path would be two")
    return text
  }
}

/// What is to be done so that the object store has what a record has.
package struct ObjectPlan: Sendable, Hashable {
  /// To be put, with what they are to be made of.
  package let puts: [PlacedObject]
  /// To be removed.
  package let removals: [PlacedObject]
  /// There already, as they should be.
  package let kept: [PlacedObject]

  /// - Parameters:
  ///   - wanted: what the record has.
  ///   - there: what was put before.
  package init(wanted: [PlacedObject], there: [PlacedObject]) {
    let known = Set(there)
    let paths = Set(wanted.map(\.path))
    precondition(paths.count == wanted.count, "two objects of a record have one path")
    kept = wanted.filter(known.contains)
    puts = wanted.filter { !known.contains($0) }
    removals = there.filter { !paths.contains($0.path) }
    // Nobody removes what is still wanted, and what is there afterwards is what is wanted.
    assert(
      Set(there.map(\.path)).subtracting(removals.map(\.path)).union(puts.map(\.path)) == paths,
      "the object store would not have what the record has")
  }
}

/// What becomes of a try that failed.
package enum ObjectRetry {
  private static let longest: Int64 = 300

  /// Whether another one can succeed.
  package static func isHopeless(_ error: CaravanError) -> Bool { hopeless.contains(error.code) }

  private static let hopeless: Set<ErrorCode> = [
    .limitExceeded, .invalidData, .schemaViolation, .tableNotFound, .recordDamaged,
  ]

  /// Doubled with every try, up to five minutes.
  package static func wait(after attempts: Int) -> Duration {
    precondition(attempts >= 0, "nothing was tried fewer than no times")
    return .seconds(min(1 << Int64(min(attempts, 16)), longest))
  }
}
