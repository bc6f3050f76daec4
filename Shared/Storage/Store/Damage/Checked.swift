package import CaravanModel

/// What a write has come to that depends on chunks which nobody may have read lately.
package enum Checked<Value: Sendable>: Sendable {
  case done(Value)
  /// Nothing was written: these have to be read first.
  case mustRead([ChunkHash])
}
