public import CaravanModel

/// One change of one record of the cloud, as an app asks for it (CK-25).
public struct RecordEdit: Sendable, Hashable {
  /// What becomes of the record.
  public enum Change: Sendable, Hashable {
    /// These columns are written, and a null one is removed; others stay as they are, those as well of which the app
    /// knows nothing (CK-26).
    case save([String: Value])
    case delete
  }

  /// Under which the cloud knows it: the same edit asked for again is made once.
  public var number: UInt64
  /// The record's name.
  public var id: String
  public var change: Change
  /// What must be there.
  public var base: Base
  public var expiry: WriteTerms.Expiry

  public init(
    number: UInt64, id: String, _ change: Change, base: Base, expiry: WriteTerms.Expiry = .keep
  ) {
    self.number = number
    self.id = id
    self.change = change
    self.base = base
    self.expiry = expiry
  }
}

/// What an edit's columns are in a record type.
public enum ColumnFit: Sendable, Hashable {
  /// Values by field id, ascending; null ones are to be removed.
  case fits([FieldValue])
  /// The type has no such fields, which the values say how to make.
  case lacks([FieldDefinition])

  /// A field and what it gets.
  public struct FieldValue: Sendable, Hashable {
    public let id: UInt32
    public let value: Value
  }

  /// - Parameters:
  ///   - columns: what the app writes.
  ///   - type: as far as it is known; nil: there is none.
  /// - Throws: `schemaViolation` or `limitExceeded` naming the column that takes no such value.
  public init(_ columns: [String: Value], in type: RecordType?) throws(CaravanError) {
    var values: [FieldValue] = []
    var lacking: [FieldDefinition] = []
    for (name, value) in columns.sorted(by: { $0.key < $1.key }) {
      guard let field = type?.field(named: name) else {
        lacking.append(try FieldDefinition(holding: value, named: name))
        continue
      }
      let column = SchemaText.Column(name: name, kind: field.kind, isList: field.isList)
      values.append(FieldValue(id: field.id, value: try column.taking(value)))
    }
    self = lacking.isEmpty ? .fits(values.sorted { $0.id < $1.id }) : .lacks(lacking)
  }
}

extension FieldDefinition {
  /// The field that a value is of, where nobody has said how the column is.
  /// - Throws: `schemaViolation` for a value that does not say it.
  fileprivate init(holding value: Value, named name: String) throws(CaravanError) {
    try value.checkCell(of: name)
    let isList = if case .list = value { true } else { false }
    let kind: FieldKind? =
      switch value {
      case .list(let items): items.first.flatMap(FieldKind.init(ofOne:))
      default: FieldKind(ofOne: value)
      }
    guard let kind else {
      throw CaravanError(
        .schemaViolation,
        "there is no column '\(name)', and \(isList ? "an empty list" : value.kindName) does not say what it holds: "
          + "leave it out, or make the column first (create the table with it)")
    }
    self.init(id: 0, name: name, kind: kind, isList: isList)
  }
}

extension FieldKind {
  /// nil: the value says nothing.
  fileprivate init?(ofOne value: Value) {
    switch value {
    case .text: self = .text
    case .integer: self = .integer
    case .real: self = .real
    case .data: self = .data
    case .location: self = .location
    case .reference: self = .reference
    case .asset, .assetList: self = .object
    case .null, .list: return nil
    }
  }
}
