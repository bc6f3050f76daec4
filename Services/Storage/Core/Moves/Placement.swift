package import CaravanModel

/// Where a user's private databases are, as it is kept in the main store. What there is to do follows from it alone, so
/// whoever dies in between, the next life goes on (CK-100).
package struct Placement: Sendable, Hashable {
  /// The store that every deployment has, where all are that were never moved.
  package static let main = "main"

  /// What is there is the truth; whatever else is elsewhere nobody reads.
  package private(set) var store: String
  /// Being copied there.
  package private(set) var to: String?
  /// What was left there is to be removed.
  package private(set) var leaving: String?

  package init(store: String = main, to: String? = nil, leaving: String? = nil) {
    assert(leaving != store, "what is in store '\(store)' is the truth, and was to be removed")
    assert(to != store, "store '\(store)' was to be copied to itself, which begins with emptying it")
    self.store = store
    self.to = to
    self.leaving = leaving
  }

  package enum Step: Sendable, Hashable {
    case rest
    case clear(String)
    case copy(to: String)
  }

  /// A store is empty of the user before a copy goes there: an old one would be in its way.
  package var next: Step {
    if let leaving { return .clear(leaving) }
    return to.map { .copy(to: $0) } ?? .rest
  }

  /// Whether nothing has to be kept of it.
  package var isDefault: Bool { self == Placement() }

  /// Stores it names.
  package var stores: Set<String> { Set([store, to, leaving].compactMap(\.self)) }

  /// - Throws: `objectExists` when a move to another store is under way.
  package func moving(to target: String) throws(CaravanError) -> Placement {
    guard to == nil || to == target else {
      throw CaravanError(
        .objectExists, "a move to store '\(to ?? "")' is under way: wait for its end, or ask for the same")
    }
    return target == store ? self : Placement(store: store, to: target, leaving: leaving)
  }

  /// All of it is there: from here on that is the truth.
  package var arrived: Placement {
    guard let to, leaving == nil else { preconditionFailure("nothing was copied") }
    return Placement(store: to, leaving: store)
  }

  /// It stays where it is; what was copied goes.
  package var givenUp: Placement {
    assert(leaving == nil, "a move is given up that cannot have begun: \(leaving ?? "") is not empty yet")
    guard let to else { preconditionFailure("no move is under way that could be given up") }
    return Placement(store: store, leaving: to)
  }

  package var cleared: Placement {
    assert(leaving != nil, "there was nothing to remove")
    return Placement(store: store, to: to)
  }

  // MARK: As a record

  private static let (storeField, toField, leavingField): (UInt32, UInt32, UInt32) = (1, 2, 3)

  package var fields: RecordFields {
    var fields = RecordFields([Self.storeField: .text(store)])
    if let to { fields[Self.toField] = .text(to) }
    if let leaving { fields[Self.leavingField] = .text(leaving) }
    return fields
  }

  /// - Throws: `internalError` for what `fields` does not make.
  package init(_ fields: RecordFields) throws(CaravanError) {
    func text(_ field: UInt32) -> String? { if case .text(let text) = fields[field] { text } else { nil } }
    guard let store = text(Self.storeField) else {
      throw CaravanError(.internalError, "a placement of a user names no store: restore the main store")
    }
    let (to, leaving) = (text(Self.toField), text(Self.leavingField))
    guard to != store, leaving != store else {
      throw CaravanError(
        .internalError,
        "a placement of a user would have store '\(store)' emptied, where they are: restore the main store"
      )
    }
    self.init(store: store, to: to, leaving: leaving)
  }

  /// - Throws: `invalidData` for what cannot be a store's name.
  package static func check(name: String) throws(CaravanError) {
    let isAllowed = name.utf8.allSatisfy {
      (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d
    }
    guard (1...32).contains(name.utf8.count), isAllowed else {
      throw CaravanError(.invalidData, "'\(name.prefix(40))' is no name of a store: use 1 to 32 of a-z 0-9 -")
    }
  }
}
