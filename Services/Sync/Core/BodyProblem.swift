import Model

/// Why a pushed body cannot be stored.
enum BodyProblem: Error {
  /// Some reader could not decode it.
  case malformed(StaticString)
  /// A value of another kind than the record type says.
  case violation(FieldDefinition, actual: StaticString)
  case tooManyChunks(Int)

  /// - Parameter record: named in the message.
  func refusal(of record: String, type: String) -> CaravanError {
    switch self {
    case .malformed(let what):
      CaravanError(.invalidData, "record '\(record)' is no encoded Fields, it has \(what): encode it again")
    case .violation(let field, let actual):
      CaravanError(
        .schemaViolation,
        "record '\(record)' of '\(type)': field '\(field.name)' is \(field.kind.rawValue), not \(actual): "
          + "send a \(field.kind.rawValue) value")
    case .tooManyChunks(let count):
      CaravanError(
        .limitExceeded,
        "record '\(record)' has an object of \(count) chunks: the limit is \(Limits.chunksPerObject), make it smaller"
      )
    }
  }
}
