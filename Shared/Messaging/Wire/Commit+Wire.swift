public import CaravanModel

extension Mutation {
  public init(_ mutation: CaravanModel.Mutation) {
    let based: UInt64? =
      switch mutation.base {
      case .any: nil
      case .absent: 0
      case .version(let seq): seq
      }
    switch mutation.change {
    case .save(let type, let body, let chunks):
      self.init(
        name: mutation.name, kind: .save, basedOn: based, type: type, body: body, chunks: ChunkHash.joined(chunks))
    case .delete: self.init(name: mutation.name, kind: .delete, basedOn: based)
    case .read: self.init(name: mutation.name, kind: .read, basedOn: based)
    }
    if let terms = mutation.terms { add(terms) }
    if mutation.isOffer { offered = true }
  }

  /// - Throws: `invalidData` for a bad name, kind or hash list; `limitExceeded` for a body beyond `Limits.recordBytes`.
  public func model() throws(CaravanError) -> CaravanModel.Mutation {
    try RecordName.check(name)
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded, "record '\(name)' has \(body.count) bytes: the limit is \(Limits.recordBytes), use an object")
    }
    let base: Base = basedOn.map { $0 == 0 ? .absent : .version($0) } ?? .any
    let change: CaravanModel.Mutation.Change
    switch kind {
    case .save: change = .save(type: type, body: body, chunks: try ChunkHash.list(chunks))
    case .delete: change = .delete
    case .read: change = .read
    case .unspecified:
      throw CaravanError(.invalidData, "the mutation of '\(name)' has no kind: save, delete or read")
    }
    return CaravanModel.Mutation(name: name, base: base, change: change, terms: try terms(), isOffer: offered)
  }
}

extension CommitRequest {
  public init(_ commit: Commit) {
    self.init(
      zone: ZoneRef(commit.zone), writer: commit.op.writer, epoch: commit.op.epoch, op: commit.op.number,
      opFloor: commit.opFloor, atomic: commit.isAtomic, mutations: commit.mutations.map { Mutation($0) },
      rights: commit.rights.map { TypeRights($0) }, retired: commit.retired.sorted(), roles: commit.roles)
  }

  /// - Throws: `limitExceeded` beyond `Limits.recordsPerCommit`, `invalidData` for anything absent or malformed.
  public func model() throws(CaravanError) -> Commit {
    let zone = try required(zone, "zone").model()
    guard mutations.count <= Limits.recordsPerCommit else {
      throw CaravanError(
        .limitExceeded, "a commit has \(mutations.count) records: the limit is \(Limits.recordsPerCommit), split it")
    }
    guard !writer.isEmpty else { throw CaravanError(.invalidData, "\(WireError.missingField("writer"))") }
    guard retired.count <= Limits.retiredVersions else {
      throw CaravanError(
        .limitExceeded, "a commit names \(retired.count) removed types: the limit is \(Limits.retiredVersions)")
    }
    guard roles.count <= Limits.ownRoles else {
      throw CaravanError(
        .limitExceeded, "a commit depends on \(roles.count) roles: the limit is \(Limits.ownRoles)")
    }
    for record in roles { try RecordName.check(record) }
    var list: [CaravanModel.Mutation] = []
    list.reserveCapacity(mutations.count)
    for mutation in mutations { list.append(try mutation.model()) }
    return Commit(
      zone: zone, op: OpID(writer: writer, epoch: epoch, number: op), opFloor: opFloor, isAtomic: atomic,
      mutations: list, rights: try TypeRights.model(rights), retired: Set(retired), roles: roles)
  }
}

extension TypeRights {
  public init(_ rights: CaravanModel.TypeRights) {
    self.init(types: rights.types, own: UInt32(rights.own.rawValue), others: UInt32(rights.others.rawValue))
  }

  /// - Throws: `limitExceeded` for more types than may have grants, or more versions than a type has; `invalidData`
  ///   for rights that this release does not know.
  fileprivate static func model(_ list: [TypeRights]) throws(CaravanError) -> [CaravanModel.TypeRights] {
    guard list.count <= Limits.grantedTypes, list.allSatisfy({ $0.types.count <= Limits.versionsPerType }) else {
      throw CaravanError(
        .limitExceeded,
        "a commit says its rights to \(list.count) types: the limits are \(Limits.grantedTypes) types of "
          + "\(Limits.versionsPerType) versions")
    }
    var rights: [CaravanModel.TypeRights] = []
    for item in list {
      rights.append(
        CaravanModel.TypeRights(
          types: item.types, own: try .init(wire: item.own), others: try .init(wire: item.others)))
    }
    return rights
  }
}

extension CommitReply {
  /// An answer that one message carries, however large the conflicts' copies are.
  /// - Parameter writer: of the commit.
  public init(_ result: CommitResult, to writer: String = "") {
    switch result {
    case .applied(let outcomes, let zoneSeq, let incarnation, let time):
      self.init(
        outcomes: outcomes.map { Outcome($0) }, zoneSeq: zoneSeq, incarnation: incarnation,
        modified: UInt64(max(0, time)), writer: time > 0 ? writer : "")
      limitCopies(to: Limits.frameBytes)
    case .missing(let hashes): self.init(missingChunks: ChunkHash.joined(hashes))
    case .aborted: self.init(aborted: true)
    }
  }

  public func model() throws(CaravanError) -> CommitResult {
    if aborted { return .aborted }
    if !missingChunks.isEmpty { return .missing(try ChunkHash.list(missingChunks)) }
    var list: [CaravanModel.Outcome] = []
    for outcome in outcomes { list.append(try outcome.model()) }
    return .applied(outcomes: list, zoneSeq: zoneSeq, incarnation: incarnation, time: Int64(clamping: modified))
  }
}

extension CommitReply {
  /// Says of conflicts and reads whose copies do not fit in `bytes` only that they were not applied: who sent them
  /// sends them again, without those that were answered in full, and gets their copies then. What was merged comes with
  /// the next pull.
  public mutating func limitCopies(to bytes: Int) {
    var left = bytes
    for index in outcomes.indices where outcomes[index].copyBytes > 0 {
      if outcomes[index].copyBytes <= left {
        left -= outcomes[index].copyBytes
      } else if outcomes[index].verdict == .merged {
        outcomes[index].server = nil
      } else {
        outcomes[index] = Outcome(verdict: .aborted)
      }
    }
  }
}

extension [CommitAnswer] {
  /// Leaves out copies that go beyond so many bytes of all answers together, the last ones first.
  public mutating func limitCopies(to bytes: Int) {
    var left = bytes
    for index in indices {
      guard case .reply(var reply) = self[index].kind, reply.outcomes.contains(where: { $0.copyBytes > 0 }) else {
        continue
      }
      reply.limitCopies(to: left)
      left -= reply.outcomes.reduce(0) { $0 + $1.copyBytes }
      self[index].kind = .reply(reply)
    }
  }
}

extension Outcome {
  /// What the server's copy takes, or a little less than 80 bytes more; 0: there is none.
  public var copyBytes: Int {
    server.map { 80 + $0.name.utf8.count + $0.body.count + $0.writer.utf8.count + $0.fields.count } ?? 0
  }

  public init(_ outcome: CaravanModel.Outcome) {
    switch outcome {
    case .accepted(let version): self.init(verdict: .accepted, version: version)
    case .conflict(let server): self.init(verdict: .conflict, server: server.map { Entry($0) })
    case .aborted: self.init(verdict: .aborted)
    case .merged(let version, let server):
      self.init(verdict: .merged, version: version, server: server.map { Entry($0) })
    case .read(let entry): self.init(verdict: .read, server: entry.map { Entry($0) })
    case .refused(let error): self.init(verdict: .refused, failure: Failure(error))
    }
  }

  public func model() throws(CaravanError) -> CaravanModel.Outcome {
    switch verdict {
    case .accepted: .accepted(version: version)
    case .conflict: .conflict(server: server?.model())
    case .aborted: .aborted
    case .merged: .merged(version: version, server: server?.model())
    case .read: .read(server?.model())
    case .refused: .refused(try required(failure, "failure").model())
    case .unspecified: throw CaravanError(.invalidData, "an outcome has no verdict this release knows")
    }
  }
}
