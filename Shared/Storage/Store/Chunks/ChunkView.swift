public import CaravanModel

/// Which chunks of a database somebody may read, name or build upon. A hash is no permission: in a public database,
/// whatever lies outside the view is answered as what is not there.
public enum ChunkView: Sendable, Hashable {
  /// All of them: those of a private database are its user's, and services see everything.
  case all
  /// Those that a user of a public database has staged, as long as the staging lease lasts.
  case staged(by: String)
  /// Those of one record, as long as it is at this version and not expired out of sight.
  case record(RecordVersion)

  /// What whoever writes under a name may name in a database besides what the record has that it changes.
  public init(of writer: String, in database: DatabaseID) {
    guard database.isPublic, !WriterName.isService(writer) else {
      self = .all
      return
    }
    // A name without a user has staged nothing.
    self = .staged(by: WriterName.author(writer).map { String($0) } ?? "")
  }

  /// Who has staged what is seen; nil: it does not depend on that.
  public var stager: String? {
    guard case .staged(let author) = self else { return nil }
    return author
  }
}

/// How much one user may have staged in a public database.
public enum StagerRules {
  /// - Parameters:
  ///   - held: chunks that the user has staged and whose lease has not ended.
  ///   - added: those that would come to them.
  /// - Throws: `limitExceeded` where that is more than one user's share.
  public static func check(held: Int, adding added: Int) throws(CaravanError) {
    precondition(held >= 0 && added >= 0, "nobody stages fewer than no chunks")
    guard held + added <= StoreLimits.chunksStagedByUser else {
      throw CaravanError(
        .limitExceeded,
        "a user has sent \(held) chunks to a public database within the hour, where \(StoreLimits.chunksStagedByUser) "
          + "may be: send the other objects later")
    }
  }

  /// What an account is charged for one more user who stages a chunk.
  ///
  /// Whether the database has the chunk already must not show, not even in how full the account is. So each who stages
  /// it is charged for it, once: whoever brings it first by the chunk itself, everybody else until the lease ends.
  /// - Parameter isThere: the database has it already.
  public static func charge(bytes: Int, isThere: Bool) -> Int64 {
    assert(bytes > 0, "a chunk is not empty")
    return isThere ? Int64(bytes) : 0
  }
}
