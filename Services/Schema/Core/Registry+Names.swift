package import CaravanModel

extension Registry {
  /// - Throws: `schemaViolation` naming what is wrong with the name, the fields or the settings of a proposal.
  package static func check(_ proposal: RecordType) throws(CaravanError) {
    try check("record type", name: proposal.name)
    guard (1...Limits.fieldsPerType).contains(proposal.fields.count) else {
      throw CaravanError(
        .schemaViolation,
        "record type '\(proposal.name)' has \(proposal.fields.count) fields: give it 1 to \(Limits.fieldsPerType)")
    }
    var seen: Set<String> = []
    for field in proposal.fields {
      try check("field", name: field.name)
      guard seen.insert(field.name.lowercased()).inserted else {
        throw CaravanError(
          .schemaViolation, "field '\(field.name)' of '\(proposal.name)' stands twice (case does not count): rename one"
        )
      }
      // Storage counts what objects name, and cannot read what is encrypted.
      guard !(field.isEncrypted && field.kind == .object) else {
        throw CaravanError(
          .schemaViolation,
          "field '\(field.name)' of '\(proposal.name)' is an encrypted object: encrypt the object's bytes instead")
      }
      guard field.effectiveIndexes.isSubset(of: field.possibleIndexes) else {
        throw CaravanError(
          .schemaViolation,
          "field '\(field.name)' of '\(proposal.name)' is \(field.shape), which can be \(field.possibleIndexes), not "
            + "\(field.effectiveIndexes)")
      }
    }
    if let settings = proposal.settings { try check(settings, of: proposal.name) }
  }

  private static func check(_ settings: TypeSettings, of type: String) throws(CaravanError) {
    switch settings.fallback {
    case .manual, .fieldMerge, .lastWriterWins: break
    case .deterministic, .serverExtension:
      throw CaravanError(
        .schemaViolation,
        "record type '\(type)' falls back on \(settings.fallback.rawValue): choose manual, fieldMerge or "
          + "lastWriterWins")
    }
    guard settings.extensionMilliseconds <= SchemaLimits.extensionMilliseconds else {
      throw CaravanError(
        .schemaViolation,
        "record type '\(type)' gives its extension \(settings.extensionMilliseconds) ms: "
          + "the limit is \(SchemaLimits.extensionMilliseconds)")
    }
    guard settings.ttlMilliseconds <= SchemaLimits.ttlMilliseconds else {
      throw CaravanError(
        .schemaViolation,
        "record type '\(type)' keeps its records \(settings.ttlMilliseconds) ms: "
          + "the limit is \(SchemaLimits.ttlMilliseconds), 0 means for ever")
    }
    if let bytes = settings.chunkBytes, !TypeSettings.chunkSizes.contains(bytes) {
      throw CaravanError(
        .schemaViolation,
        "record type '\(type)' cuts objects into chunks of \(bytes) bytes: choose one of "
          + TypeSettings.chunkSizes.map(String.init).joined(separator: ", "))
    }
  }

  /// A letter, then letters, digits and `_`: names become columns and tables of a device's database.
  package static func checkTypeName(_ name: String) throws(CaravanError) { try check("record type", name: name) }

  package static func checkTemplateName(_ name: String) throws(CaravanError) { try check("template", name: name) }

  private static func check(_ kind: StaticString, name: String) throws(CaravanError) {
    let utf8 = name.utf8
    let isWord = utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    guard (1...SchemaLimits.nameBytes).contains(utf8.count), isWord, let first = utf8.first, isLetter(first) else {
      throw CaravanError(
        .schemaViolation,
        "\(kind) name '\(name.prefix(80))' is not allowed: a letter, then letters, digits or _, "
          + "at most \(SchemaLimits.nameBytes)")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
}
