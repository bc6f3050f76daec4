public import CaravanModel

extension DatabaseRef {
  public init(_ id: DatabaseID) {
    self.init(
      container: id.container.text, environment: id.environment.rawValue, owner: id.owner?.text ?? "", shard: id.shard)
  }

  /// - Throws: `invalidData` when a part is absent or not of its form.
  public func model() throws(CaravanError) -> DatabaseID {
    guard let environment = CaravanModel.Environment(rawValue: environment) else {
      throw CaravanError(
        .invalidData, "environment '\(self.environment)' does not exist: use development or production")
    }
    guard shard < CaravanModel.ContainerSettings.mostShards else {
      throw CaravanError(
        .invalidData, "a database has no shard \(shard): there are at most \(CaravanModel.ContainerSettings.mostShards)"
      )
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
  /// - Throws: `invalidData` saying which message is malformed; `limitExceeded` when it has too many elements.
  public static func decode(_ data: [UInt8]) throws(CaravanError) -> Self {
    do { return try Self(decoding: data) } catch {
      if case .limitExceeded(let what) = error { throw CaravanError(.limitExceeded, "\(Self.self): \(what)") }
      throw CaravanError(.invalidData, "\(Self.self): \(error)")
    }
  }
}

extension WireMessage {
  /// One message out of another, read before the rest is looked at: whoever may not be answered is refused at the cost
  /// of this alone.
  /// - Parameters:
  ///   - field: its number; it is one of the first few fields, as writers put them in the order of their numbers.
  ///   - bytes: that it may have at most.
  /// - Returns: nil when it is not there.
  /// - Throws: as `decode`.
  public static func decodeAhead(
    _ field: UInt32, of data: [UInt8], bytes: Int
  ) throws(CaravanError) -> Self? {
    let content: Range<Int>?
    do { content = try WireReader.first(field, of: data) } catch {
      throw CaravanError(.invalidData, "\(Self.self): \(error)")
    }
    guard let content else { return nil }
    guard content.count <= bytes else {
      throw CaravanError(.limitExceeded, "\(Self.self): \(content.count) bytes, the limit is \(bytes)")
    }
    return try decode(Array(data[content]))
  }
}

extension Fields {
  /// Whether a record's body can be unpacked by those who will read it: what is stored travels as it came, and one that
  /// a device or an index refused would stay in their way.
  /// - Throws: `limitExceeded`; `invalidData`.
  public static func check(_ body: [UInt8]) throws(CaravanError) {
    do { try WireScan.check(body, shape) } catch {
      if case .limitExceeded(let what) = error { throw CaravanError(.limitExceeded, "a record's body: \(what)") }
      throw CaravanError(.invalidData, "a record's body: \(error)")
    }
  }
}

/// The value, or the refusal that names the absent field.
public func required<Value>(_ value: Value?, _ field: StaticString) throws(CaravanError) -> Value {
  guard let value else { throw CaravanError(.invalidData, "\(WireError.missingField("\(field)"))") }
  return value
}
