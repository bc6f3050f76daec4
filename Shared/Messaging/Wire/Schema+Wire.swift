public import CaravanModel

extension SchemaDifference {
  public init(_ difference: CaravanModel.SchemaDifference) {
    self.init(
      type: difference.type, field: difference.field ?? "", property: difference.property, was: difference.was,
      now: difference.now)
  }

  public func model() -> CaravanModel.SchemaDifference {
    CaravanModel.SchemaDifference(
      type: type, field: field.isEmpty ? nil : field, property: property, was: was, now: now)
  }
}

extension SchemaChange {
  public init(_ change: CaravanModel.SchemaChange) {
    self.init(
      id: change.id, parent: change.parent, milliseconds: change.milliseconds, user: change.author.user?.text ?? "",
      device: change.author.device, cause: SchemaCause(change.cause), source: change.source,
      differences: change.differences.map { SchemaDifference($0) })
  }

  /// - Throws: `invalidData` for a user that is none, or a cause that this release does not know.
  public func model() throws(CaravanError) -> CaravanModel.SchemaChange {
    guard let cause = cause.model else {
      throw CaravanError(.invalidData, "schema \(id) has a cause that this release does not know: update it")
    }
    let author = CaravanModel.SchemaChange.Author(user: user.isEmpty ? nil : try UserID(user), device: device)
    return CaravanModel.SchemaChange(
      id: id, parent: parent, milliseconds: milliseconds, author: author, cause: cause, source: source,
      differences: differences.map { $0.model() })
  }
}

extension SchemaCause {
  public init(_ cause: CaravanModel.SchemaChange.Cause) {
    self =
      switch cause {
      case .inferred: .inferred
      case .said: .said
      case .removed: .removed
      case .promoted: .promoted
      case .reset: .reset
      case .imported: .imported
      }
  }

  public var model: CaravanModel.SchemaChange.Cause? {
    switch self {
    case .unspecified: nil
    case .inferred: .inferred
    case .said: .said
    case .removed: .removed
    case .promoted: .promoted
    case .reset: .reset
    case .imported: .imported
    }
  }
}

extension ListTypesReply {
  public func models() throws(CaravanError) -> [CaravanModel.RecordType] {
    var list: [CaravanModel.RecordType] = []
    for type in types { list.append(try type.model()) }
    return list
  }

  public func templateModels() throws(CaravanError) -> [CaravanModel.SubscriptionTemplate] {
    var list: [CaravanModel.SubscriptionTemplate] = []
    for template in templates { list.append(try template.model()) }
    return list
  }
}

extension RetiredType {
  public init(_ type: CaravanModel.RetiredType) { self.init(name: type.name, versions: type.versions) }

  public func model() -> CaravanModel.RetiredType { CaravanModel.RetiredType(name: name, versions: versions) }
}
