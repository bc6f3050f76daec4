internal import CaravanModel

/// Who may change a record of a public database: until there are roles, the user who made it, from any of their
/// devices. A private database has one user, and nothing is asked of it.
///
/// A record of which nobody knows who made it, for it is older than layout 5 of the stores, is still changed by
/// anyone, and so is one whose maker's name says no user. The name of a record that was deleted, or that has expired
/// out of sight, is anyone's to take. Services of the cloud change every record: the end of records and what an
/// operator decides go through them.
struct AuthorRule {
  /// For whom the commit is made; nil: its name does not say.
  private let author: Substring?
  /// What heads name by numbers.
  private let makers: [Int64: String]

  /// nil: whoever makes the commit may change everything in its zone.
  init?(_ commit: Commit, _ facts: ZoneFacts) {
    guard commit.zone.database.isPublic, !WriterName.isService(commit.op.writer) else { return nil }
    author = WriterName.author(commit.op.writer)
    makers = facts.makers
  }

  /// Whether the commit may change the record that a store keeps with this origin.
  func permits(_ origin: RecordOrigin) -> Bool {
    guard origin.time > 0, let maker = name(of: origin.writer) else { return true }
    return WriterName.author(maker).map { $0 == author } ?? true
  }

  private func name(of writer: RecordOrigin.Writer) -> String? {
    switch writer {
    case .name(let name): name
    case .number(let number): makers[number]
    }
  }
}

extension ZoneDraft {
  /// Whether the writer may change what is under a name, or take the name.
  func mayChange(_ head: RecordHead?) -> Bool {
    guard let rule, let head, head.isLive(at: now) else { return true }
    return rule.permits(head.origin)
  }

  /// Why a record is not the writer's to change; nil: it is.
  func denial(of mutation: Mutation, _ head: RecordHead?) -> CaravanError? {
    guard mutation.change != .read, !mayChange(head) else { return nil }
    return CaravanError(
      .accessDenied,
      "record '\(mutation.name)' of the public database was made by another user, who alone may change it: "
        + "save yours under another name")
  }
}
