public import Model

extension DatabaseRef {
  public init(_ id: DatabaseID) {
    self.init(
      container: id.container.text, environment: id.environment.rawValue, owner: id.owner?.text ?? "", shard: id.shard)
  }

  /// - Throws: `invalidData` when a part is absent or not of its form.
  public func model() throws(CaravanError) -> DatabaseID {
    guard let environment = Model.Environment(rawValue: environment) else {
      throw CaravanError(
        .invalidData, "environment '\(self.environment)' does not exist: use development or production")
    }
    guard shard < Model.ContainerSettings.mostShards else {
      throw CaravanError(
        .invalidData, "a database has no shard \(shard): there are at most \(Model.ContainerSettings.mostShards)")
    }
    return DatabaseID(
      container: try ContainerID(container), environment: environment, owner: owner.isEmpty ? nil : try UserID(owner),
      shard: shard)
  }
}

extension ZoneRef {
  public init(_ id: ZoneID) { self.init(database: DatabaseRef(id.database), zone: id.name) }

  /// - Throws: `invalidData` when a part is absent or not of its form.
  public func model() throws(CaravanError) -> ZoneID { try ZoneID(required(database, "database").model(), zone) }
}

extension Failure {
  public init(_ error: CaravanError) {
    self.init(
      code: error.code.rawValue, message: error.message, retryAfterMilliseconds: error.retryAfterMilliseconds ?? 0,
      deferred: error.isDeferral)
  }

  /// A code that this release does not know becomes `internalError`, with the code kept in the message.
  public func model() -> CaravanError {
    let known = ErrorCode(rawValue: code)
    var error = CaravanError(
      known ?? .internalError, known == nil ? "\(code): \(message)" : message,
      retryAfterMilliseconds: retryAfterMilliseconds == 0 ? nil : retryAfterMilliseconds)
    error.isDeferral = deferred
    return error
  }
}

extension WireMessage {
  /// Decodes what came from outside.
  /// - Throws: `invalidData` saying which message is malformed.
  public static func decode(_ data: [UInt8]) throws(CaravanError) -> Self {
    do { return try Self(decoding: data) } catch { throw CaravanError(.invalidData, "\(Self.self): \(error)") }
  }
}

/// The value, or the refusal that names the absent field.
public func required<Value>(_ value: Value?, _ field: StaticString) throws(CaravanError) -> Value {
  guard let value else { throw CaravanError(.invalidData, "\(WireError.missingField("\(field)"))") }
  return value
}
