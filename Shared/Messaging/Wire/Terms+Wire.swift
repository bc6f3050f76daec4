public import CaravanModel

extension Mutation {
  mutating func add(_ terms: WriteTerms) {
    switch terms.scope {
    case .whole: scope = .whole
    case .changed: scope = .changed
    case .known(let highest): (scope, knownFields) = (.known, highest)
    }
    guards = terms.guards
    references = terms.references.map { Reference($0) }
    switch terms.expiry {
    case .keep: break
    case .never: expires = 0
    case .at(let time): expires = UInt64(max(0, time))
    case .after(let duration): ttlMilliseconds = UInt64(max(0, duration))
    }
    hideExpired = terms.hidesExpired ?? false
    policy = ConflictPolicy(terms.policy)
    stamp = terms.stamp?.rawValue ?? 0
    ancestor = terms.ancestor
    fieldStamps = terms.fieldStamps.sorted { $0.key < $1.key }.map { FieldStamp(id: $0.key, stamp: $0.value.rawValue) }
  }

  /// nil: a plain change.
  /// - Throws: `limitExceeded` when a field has more stamps than types have fields; `invalidData`.
  func terms() throws(CaravanError) -> WriteTerms? {
    let isPlain =
      scope == .whole && guards.isEmpty && references.isEmpty && expires == nil && ttlMilliseconds == 0
      && policy == .unspecified && stamp == 0 && fieldStamps.isEmpty && !hideExpired
    guard !isPlain else { return nil }
    guard fieldStamps.count <= Limits.fieldsPerType, references.count <= Limits.referencesPerRecord else {
      throw CaravanError(
        .limitExceeded,
        "record '\(name)' has \(fieldStamps.count) field stamps, \(references.count) references: the limits are "
          + "\(Limits.fieldsPerType), \(Limits.referencesPerRecord)")
    }
    var terms = WriteTerms(
      guards: guards, hidesExpired: hideExpired, policy: policy.model ?? .manual,
      stamp: stamp == 0 ? nil : HybridStamp(rawValue: stamp))
    switch scope {
    case .whole: terms.scope = .whole
    case .changed: terms.scope = .changed
    case .known: terms.scope = .known(upTo: knownFields)
    }
    for reference in references { terms.references.append(try reference.model()) }
    for field in fieldStamps { terms.fieldStamps[field.id] = HybridStamp(rawValue: field.stamp) }
    if ttlMilliseconds > 0 {
      terms.expiry = .after(try Self.time(ttlMilliseconds, of: name))
    } else if let expires {
      terms.expiry = expires == 0 ? .never : .at(try Self.time(expires, of: name))
    }
    return terms
  }

  /// - Throws: `invalidData` for what is centuries from now: nobody means it.
  private static func time(_ milliseconds: UInt64, of record: String) throws(CaravanError) -> Int64 {
    guard milliseconds <= 1 << 46 else {
      throw CaravanError(
        .invalidData,
        "record '\(record)' would end at \(milliseconds) ms: give Unix time, or a duration, in milliseconds")
    }
    return Int64(milliseconds)
  }
}

extension ConflictPolicy {
  public init(_ policy: CaravanModel.ConflictPolicy) {
    self =
      switch policy {
      case .manual: .manual
      case .fieldMerge: .fieldMerge
      case .lastWriterWins: .lastWriterWins
      case .deterministic: .deterministic
      case .serverExtension: .serverExtension
      }
  }

  public var model: CaravanModel.ConflictPolicy? {
    switch self {
    case .unspecified: nil
    case .manual: .manual
    case .fieldMerge: .fieldMerge
    case .lastWriterWins: .lastWriterWins
    case .deterministic: .deterministic
    case .serverExtension: .serverExtension
    }
  }
}

extension TypeSettings {
  public init(_ settings: CaravanModel.TypeSettings) {
    self.init(
      conflicts: ConflictPolicy(settings.conflicts), fallback: ConflictPolicy(settings.fallback),
      extensionMilliseconds: settings.extensionMilliseconds, ttlMilliseconds: settings.ttlMilliseconds,
      hideExpired: settings.hidesExpired, chunkBytes: settings.chunkBytes ?? 0)
  }

  public func model() -> CaravanModel.TypeSettings {
    CaravanModel.TypeSettings(
      conflicts: conflicts.model ?? .manual, fallback: fallback.model ?? .manual,
      extensionMilliseconds: extensionMilliseconds == 0
        ? CaravanModel.TypeSettings.extensionMilliseconds : extensionMilliseconds,
      ttlMilliseconds: ttlMilliseconds, hidesExpired: hideExpired, chunkBytes: chunkBytes == 0 ? nil : chunkBytes)
  }
}
