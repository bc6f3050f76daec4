import CaravanModel
import Testing

/// Why `body` was refused.
func refusal(
  _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> CaravanError {
  do { try await body() } catch let error as CaravanError { return error }
  Issue.record("nothing was refused", sourceLocation: sourceLocation)
  throw CaravanError(.internalError, "")
}
