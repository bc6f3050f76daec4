internal import CaravanModel

/// Who may change a record of a public database: where its type's grants say nothing else, the user who made it, from
/// any of their devices (CK-04). A private database has one user, and nothing is asked of it.
///
/// A record of which nobody knows who made it, for it is older than layout 5 of the stores, is still changed by
/// anyone, and so is one whose maker's name says no user; where the type has grants, it is nobody's own. The name of a
/// record that was deleted, or that has expired out of sight, is anyone's to take who may make records. Services of the
/// cloud change every record: the end of records and what an operator decides go through them.
struct WriteRule {
  /// For whom the commit is made; nil: its name does not say.
  private let author: Substring?
  /// What heads name by numbers.
  private let makers: [Int64: String]
  /// Of types whose grants are not the standard ones.
  private let rights: [TypeRights]

  /// nil: whoever makes the commit may change everything in its zone.
  init?(_ commit: Commit, _ facts: ZoneFacts) {
    guard commit.zone.database.isPublic, !WriterName.isService(commit.op.writer) else { return nil }
    author = WriterName.author(commit.op.writer)
    makers = facts.makers
    rights = commit.rights
  }

  /// Whether records of a type may be made.
  func permitsCreating(_ type: UInt32) -> Bool { rights(to: type)?.others.contains(.create) ?? true }

  /// Whether the commit's user sees a record.
  func permitsReading(_ origin: RecordOrigin, of type: UInt32?) -> Bool {
    guard let known = type.flatMap(rights) else { return true }
    return (isTheirs(origin, ifUnknown: false) ? known.own : known.others).contains(.read)
  }

  /// Whether the commit may change the record that a store keeps with this origin.
  /// - Parameters:
  ///   - type: the record's; nil: nobody asked for it, as all types have the standard grants.
  ///   - wanted: that it is to have; nil: it is to be deleted.
  func permits(_ origin: RecordOrigin, of type: UInt32?, becoming wanted: UInt32?) -> Bool {
    let known = type.flatMap(rights)
    guard isTheirs(origin, ifUnknown: known == nil) else {
      // It keeps its type: grants of one are no grants of another.
      return known.map { known in known.others.contains(.write) && wanted.map(known.types.contains) ?? true } ?? false
    }
    guard known?.own.contains(.write) ?? true else { return false }
    guard let new = wanted.flatMap(rights), new != known else { return true }
    return new.own.contains(.write) && new.others.contains(.create)
  }

  private func rights(to type: UInt32) -> TypeRights? { rights.first { $0.types.contains(type) } }

  /// Whether the commit's user has made it.
  /// - Parameter unknown: whether that is so where nobody knows who has.
  private func isTheirs(_ origin: RecordOrigin, ifUnknown unknown: Bool) -> Bool {
    guard origin.time > 0, let maker = name(of: origin.writer) else { return unknown }
    return WriterName.author(maker).map { $0 == author } ?? unknown
  }

  /// Whether anything depends on the type that a record has.
  var asksForTypes: Bool { !rights.isEmpty }

  private func name(of writer: RecordOrigin.Writer) -> String? {
    switch writer {
    case .name(let name): name
    case .number(let number): makers[number]
    }
  }
}

extension ZoneDraft {
  /// Whether a record may go along with its owner: what others have made does not, whatever the grants are.
  func mayCascade(_ head: RecordHead?) -> Bool {
    guard let rule, let head, head.isLive(at: now) else { return true }
    return rule.permits(head.origin, of: nil, becoming: nil)
  }

  /// A name that no record has: answers show nothing of it, whenever they are given.
  private static let nobody = ""

  /// What becomes of a mutation of a record that its writer may not see, which is what becomes of one of no record; but
  /// the name is taken (CK-65). nil: the record is not there, or they may see it.
  func verdictOfHidden(_ mutation: Mutation, _ head: RecordHead?) -> ZoneCommit.Verdict? {
    guard let rule, rule.asksForTypes, let head, isLive(mutation.name),
      !rule.permitsReading(head.origin, of: stored(mutation.name)?.type)
    else { return nil }
    if case .version = mutation.base { return .conflict(name: Self.nobody) }
    switch mutation.change {
    case .read: return .read(name: Self.nobody, version: 0)
    case .delete: return .accepted(version: 0)
    case .save:
      return .refused(
        CaravanError(
          .accessDenied, "the name '\(mutation.name)' is taken in the public database: save yours under another name"))
    }
  }

  /// Why a record is not the writer's to change, or to make; nil: it is.
  func denial(of mutation: Mutation, _ head: RecordHead?) -> CaravanError? {
    guard let rule, mutation.change != .read else { return nil }
    guard let head, isLive(mutation.name) else {
      guard let type = mutation.savedType, !rule.permitsCreating(type) else { return nil }
      return CaravanError(
        .accessDenied,
        "record '\(mutation.name)' of the public database is not there, and its type's grants let no user make one: "
          + "see caravan schema list")
    }
    let type = rule.asksForTypes ? stored(mutation.name)?.type : nil
    guard !rule.permits(head.origin, of: type, becoming: mutation.savedType) else { return nil }
    return CaravanError(
      .accessDenied,
      "record '\(mutation.name)' of the public database is not this user's to change, by who made it and its type's "
        + "grants: save yours under another name")
  }
}

extension Mutation {
  /// nil: it saves nothing.
  fileprivate var savedType: UInt32? {
    if case .save(let type, _, _) = change { type } else { nil }
  }
}
