/// Why an encoded body cannot be stored.
package enum BodyProblem: Error {
  /// Some reader could not decode it.
  case malformed(StaticString)
  /// A value of another shape than the record type says.
  case violation(FieldDefinition, actual: String)
  case tooManyChunks(Int)
  case tooManyItems(Int)
  case tooManyReferences(Int)

  /// - Parameters:
  ///   - record: named in the message.
  ///   - type: name of its record type.
  package func refusal(of record: String, type: String) -> CaravanError {
    switch self {
    case .malformed(let what):
      CaravanError(.invalidData, "record '\(record)' is no encoded Fields, it has \(what): encode it again")
    case .violation(let field, let actual):
      CaravanError(
        .schemaViolation,
        "record '\(record)' of '\(type)': field '\(field.name)' is \(field.shape), not \(actual): "
          + "send a \(field.isEncrypted ? "data" : field.shape) value")
    case .tooManyChunks(let count):
      CaravanError(
        .limitExceeded,
        "record '\(record)' has an object of \(count) chunks: the limit is \(Limits.chunksPerObject), make it smaller"
      )
    case .tooManyItems(let count):
      CaravanError(
        .limitExceeded, "record '\(record)' has a list of \(count) items: the limit is \(Limits.listItems), split it")
    case .tooManyReferences(let count):
      CaravanError(
        .limitExceeded,
        "record '\(record)' has \(count) owning or validating references: the limit is \(Limits.referencesPerRecord)")
    }
  }
}
