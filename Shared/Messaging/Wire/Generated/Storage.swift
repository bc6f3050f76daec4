// Made by Protos/generate from caravan/v1/storage.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum MutationKind: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case save = 1
  case delete = 2
  case read = 3

  var c: Caravan__V1__MutationKind {
    switch self {
    case .unspecified: CARAVAN__V1__MUTATION_KIND__MUTATION_KIND_UNSPECIFIED
    case .save: CARAVAN__V1__MUTATION_KIND__MUTATION_KIND_SAVE
    case .delete: CARAVAN__V1__MUTATION_KIND__MUTATION_KIND_DELETE
    case .read: CARAVAN__V1__MUTATION_KIND__MUTATION_KIND_READ
    }
  }

  init(c: Caravan__V1__MutationKind) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum SaveScope: UInt32, Sendable, CaseIterable {
  case whole = 0
  case changed = 1
  case known = 2

  var c: Caravan__V1__SaveScope {
    switch self {
    case .whole: CARAVAN__V1__SAVE_SCOPE__SAVE_SCOPE_WHOLE
    case .changed: CARAVAN__V1__SAVE_SCOPE__SAVE_SCOPE_CHANGED
    case .known: CARAVAN__V1__SAVE_SCOPE__SAVE_SCOPE_KNOWN
    }
  }

  init(c: Caravan__V1__SaveScope) { self = Self(rawValue: c.rawValue) ?? .whole }
}

public enum Verdict: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case accepted = 1
  case conflict = 2
  case aborted = 3
  case merged = 4
  case read = 5
  case refused = 6

  var c: Caravan__V1__Verdict {
    switch self {
    case .unspecified: CARAVAN__V1__VERDICT__VERDICT_UNSPECIFIED
    case .accepted: CARAVAN__V1__VERDICT__VERDICT_ACCEPTED
    case .conflict: CARAVAN__V1__VERDICT__VERDICT_CONFLICT
    case .aborted: CARAVAN__V1__VERDICT__VERDICT_ABORTED
    case .merged: CARAVAN__V1__VERDICT__VERDICT_MERGED
    case .read: CARAVAN__V1__VERDICT__VERDICT_READ
    case .refused: CARAVAN__V1__VERDICT__VERDICT_REFUSED
    }
  }

  init(c: Caravan__V1__Verdict) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum GroupStage: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case open = 1
  case committed = 2
  case refused = 3
  case aborted = 4
  case expired = 5

  var c: Caravan__V1__GroupStage {
    switch self {
    case .unspecified: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_UNSPECIFIED
    case .open: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_OPEN
    case .committed: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_COMMITTED
    case .refused: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_REFUSED
    case .aborted: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_ABORTED
    case .expired: CARAVAN__V1__GROUP_STAGE__GROUP_STAGE_EXPIRED
    }
  }

  init(c: Caravan__V1__GroupStage) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum ChangeMode: UInt32, Sendable, CaseIterable {
  case forward = 0
  case reverse = 1

  var c: Caravan__V1__ChangeMode {
    switch self {
    case .forward: CARAVAN__V1__CHANGE_MODE__CHANGE_MODE_FORWARD
    case .reverse: CARAVAN__V1__CHANGE_MODE__CHANGE_MODE_REVERSE
    }
  }

  init(c: Caravan__V1__ChangeMode) { self = Self(rawValue: c.rawValue) ?? .forward }
}

public struct Mutation: WireMessage, Equatable {
  public var name: String
  public var kind: MutationKind
  public var basedOn: UInt64?
  public var type: UInt32
  public var body: [UInt8]
  public var chunks: [UInt8]
  public var lists: [Asset]
  public var scope: SaveScope
  public var guards: [UInt8]
  public var expires: UInt64?
  public var ttlMilliseconds: UInt64
  public var stamp: UInt64
  public var fieldStamps: [FieldStamp]
  public var ancestor: [UInt8]
  public var knownFields: UInt32
  public var references: [Reference]
  public var policy: ConflictPolicy
  public var hideExpired: Bool
  public var offered: Bool

  public init(
    name: String = "",
    kind: MutationKind = .unspecified,
    basedOn: UInt64? = nil,
    type: UInt32 = 0,
    body: [UInt8] = [],
    chunks: [UInt8] = [],
    lists: [Asset] = [],
    scope: SaveScope = .whole,
    guards: [UInt8] = [],
    expires: UInt64? = nil,
    ttlMilliseconds: UInt64 = 0,
    stamp: UInt64 = 0,
    fieldStamps: [FieldStamp] = [],
    ancestor: [UInt8] = [],
    knownFields: UInt32 = 0,
    references: [Reference] = [],
    policy: ConflictPolicy = .unspecified,
    hideExpired: Bool = false,
    offered: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.basedOn = basedOn
    self.type = type
    self.body = body
    self.chunks = chunks
    self.lists = lists
    self.scope = scope
    self.guards = guards
    self.expires = expires
    self.ttlMilliseconds = ttlMilliseconds
    self.stamp = stamp
    self.fieldStamps = fieldStamps
    self.ancestor = ancestor
    self.knownFields = knownFields
    self.references = references
    self.policy = policy
    self.hideExpired = hideExpired
    self.offered = offered
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Mutation> {
    let m = arena.make(Caravan__V1__Mutation.self, caravan__v1__mutation__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if kind != .unspecified { m.pointee.has_kind = 1; m.pointee.kind = kind.c }
    if let basedOn { m.pointee.has_based_on = 1; m.pointee.based_on = basedOn }
    if type != 0 { m.pointee.has_type = 1; m.pointee.type = type }
    if !body.isEmpty { m.pointee.has_body = 1; m.pointee.body = arena.bytes(body) }
    if !chunks.isEmpty { m.pointee.has_chunks = 1; m.pointee.chunks = arena.bytes(chunks) }
    (m.pointee.n_lists, m.pointee.lists) = arena.messages(lists) { $0.pack(into: &$1) }
    if scope != .whole { m.pointee.has_scope = 1; m.pointee.scope = scope.c }
    if !guards.isEmpty { m.pointee.has_guards = 1; m.pointee.guards = arena.bytes(guards) }
    if let expires { m.pointee.has_expires = 1; m.pointee.expires = expires }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if stamp != 0 { m.pointee.has_stamp = 1; m.pointee.stamp = stamp }
    (m.pointee.n_field_stamps, m.pointee.field_stamps) = arena.messages(fieldStamps) { $0.pack(into: &$1) }
    if !ancestor.isEmpty { m.pointee.has_ancestor = 1; m.pointee.ancestor = arena.bytes(ancestor) }
    if knownFields != 0 { m.pointee.has_known_fields = 1; m.pointee.known_fields = knownFields }
    (m.pointee.n_references, m.pointee.references) = arena.messages(references) { $0.pack(into: &$1) }
    if policy != .unspecified { m.pointee.has_policy = 1; m.pointee.policy = policy.c }
    if hideExpired { m.pointee.has_hide_expired = 1; m.pointee.hide_expired = hideExpired ? 1 : 0 }
    if offered { m.pointee.has_offered = 1; m.pointee.offered = offered ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Mutation>) throws(WireError) {
    name = try copyText(m.pointee.name)
    kind = m.pointee.has_kind != 0 ? MutationKind(c: m.pointee.kind) : .unspecified
    basedOn = m.pointee.has_based_on != 0 ? m.pointee.based_on : nil
    type = m.pointee.has_type != 0 ? m.pointee.type : 0
    body = m.pointee.has_body != 0 ? copyBytes(m.pointee.body) : []
    chunks = m.pointee.has_chunks != 0 ? copyBytes(m.pointee.chunks) : []
    lists = try copyMessages(m.pointee.n_lists, m.pointee.lists) { (p) throws(WireError) in try Asset(c: p) }
    scope = m.pointee.has_scope != 0 ? SaveScope(c: m.pointee.scope) : .whole
    guards = m.pointee.has_guards != 0 ? copyBytes(m.pointee.guards) : []
    expires = m.pointee.has_expires != 0 ? m.pointee.expires : nil
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    stamp = m.pointee.has_stamp != 0 ? m.pointee.stamp : 0
    fieldStamps = try copyMessages(m.pointee.n_field_stamps, m.pointee.field_stamps) { (p) throws(WireError) in
      try FieldStamp(c: p)
    }
    ancestor = m.pointee.has_ancestor != 0 ? copyBytes(m.pointee.ancestor) : []
    knownFields = m.pointee.has_known_fields != 0 ? m.pointee.known_fields : 0
    references = try copyMessages(m.pointee.n_references, m.pointee.references) { (p) throws(WireError) in
      try Reference(c: p)
    }
    policy = m.pointee.has_policy != 0 ? ConflictPolicy(c: m.pointee.policy) : .unspecified
    hideExpired = m.pointee.has_hide_expired != 0 ? m.pointee.hide_expired != 0 : false
    offered = m.pointee.has_offered != 0 ? m.pointee.offered != 0 : false
  }

  static let shape = 35

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__mutation__get_packed_size(m)) { caravan__v1__mutation__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__mutation__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FieldStamp: WireMessage, Equatable {
  public var id: UInt32
  public var stamp: UInt64

  public init(
    id: UInt32 = 0,
    stamp: UInt64 = 0
  ) {
    self.id = id
    self.stamp = stamp
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FieldStamp> {
    let m = arena.make(Caravan__V1__FieldStamp.self, caravan__v1__field_stamp__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if stamp != 0 { m.pointee.has_stamp = 1; m.pointee.stamp = stamp }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FieldStamp>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    stamp = m.pointee.has_stamp != 0 ? m.pointee.stamp : 0
  }

  static let shape = 36

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__field_stamp__get_packed_size(m)) { caravan__v1__field_stamp__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__field_stamp__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var writer: String
  public var epoch: UInt64
  public var op: UInt64
  public var opFloor: UInt64
  public var atomic: Bool
  public var mutations: [Mutation]
  public var chunks: [Chunk]
  public var rights: [TypeRights]
  public var retired: [UInt32]
  public var roles: [String]

  public init(
    zone: ZoneRef? = nil,
    writer: String = "",
    epoch: UInt64 = 0,
    op: UInt64 = 0,
    opFloor: UInt64 = 0,
    atomic: Bool = false,
    mutations: [Mutation] = [],
    chunks: [Chunk] = [],
    rights: [TypeRights] = [],
    retired: [UInt32] = [],
    roles: [String] = []
  ) {
    self.zone = zone
    self.writer = writer
    self.epoch = epoch
    self.op = op
    self.opFloor = opFloor
    self.atomic = atomic
    self.mutations = mutations
    self.chunks = chunks
    self.rights = rights
    self.retired = retired
    self.roles = roles
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitRequest> {
    let m = arena.make(Caravan__V1__CommitRequest.self, caravan__v1__commit_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if opFloor != 0 { m.pointee.has_op_floor = 1; m.pointee.op_floor = opFloor }
    if atomic { m.pointee.has_atomic = 1; m.pointee.atomic = atomic ? 1 : 0 }
    (m.pointee.n_mutations, m.pointee.mutations) = arena.messages(mutations) { $0.pack(into: &$1) }
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    (m.pointee.n_rights, m.pointee.rights) = arena.messages(rights) { $0.pack(into: &$1) }
    (m.pointee.n_retired, m.pointee.retired) = arena.scalars(retired)
    (m.pointee.n_roles, m.pointee.roles) = arena.strings(roles)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    writer = try copyText(m.pointee.writer)
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    opFloor = m.pointee.has_op_floor != 0 ? m.pointee.op_floor : 0
    atomic = m.pointee.has_atomic != 0 ? m.pointee.atomic != 0 : false
    mutations = try copyMessages(m.pointee.n_mutations, m.pointee.mutations) { (p) throws(WireError) in
      try Mutation(c: p)
    }
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
    rights = try copyMessages(m.pointee.n_rights, m.pointee.rights) { (p) throws(WireError) in try TypeRights(c: p) }
    retired = copyScalars(m.pointee.n_retired, m.pointee.retired)
    roles = try copyStrings(m.pointee.n_roles, m.pointee.roles)
  }

  static let shape = 37

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_request__get_packed_size(m)) { caravan__v1__commit_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TypeRights: WireMessage, Equatable {
  public var types: [UInt32]
  public var own: UInt32
  public var others: UInt32

  public init(
    types: [UInt32] = [],
    own: UInt32 = 0,
    others: UInt32 = 0
  ) {
    self.types = types
    self.own = own
    self.others = others
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TypeRights> {
    let m = arena.make(Caravan__V1__TypeRights.self, caravan__v1__type_rights__init)
    (m.pointee.n_types, m.pointee.types) = arena.scalars(types)
    if own != 0 { m.pointee.has_own = 1; m.pointee.own = own }
    if others != 0 { m.pointee.has_others = 1; m.pointee.others = others }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TypeRights>) throws(WireError) {
    types = copyScalars(m.pointee.n_types, m.pointee.types)
    own = m.pointee.has_own != 0 ? m.pointee.own : 0
    others = m.pointee.has_others != 0 ? m.pointee.others : 0
  }

  static let shape = 38

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_rights__get_packed_size(m)) { caravan__v1__type_rights__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__type_rights__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Outcome: WireMessage, Equatable {
  public var verdict: Verdict
  public var version: UInt64
  public var server: Entry?
  public var failure: Failure?

  public init(
    verdict: Verdict = .unspecified,
    version: UInt64 = 0,
    server: Entry? = nil,
    failure: Failure? = nil
  ) {
    self.verdict = verdict
    self.version = version
    self.server = server
    self.failure = failure
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Outcome> {
    let m = arena.make(Caravan__V1__Outcome.self, caravan__v1__outcome__init)
    if verdict != .unspecified { m.pointee.has_verdict = 1; m.pointee.verdict = verdict.c }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if let server { m.pointee.server = server.pack(into: &arena) }
    if let failure { m.pointee.failure = failure.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Outcome>) throws(WireError) {
    verdict = m.pointee.has_verdict != 0 ? Verdict(c: m.pointee.verdict) : .unspecified
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    server = if let p = m.pointee.server { try Entry(c: p) } else { nil }
    failure = if let p = m.pointee.failure { try Failure(c: p) } else { nil }
  }

  static let shape = 39

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__outcome__get_packed_size(m)) { caravan__v1__outcome__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__outcome__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitReply: WireMessage, Equatable {
  public var outcomes: [Outcome]
  public var zoneSeq: UInt64
  public var incarnation: UInt64
  public var missingChunks: [UInt8]
  public var aborted: Bool
  public var modified: UInt64
  public var writer: String

  public init(
    outcomes: [Outcome] = [],
    zoneSeq: UInt64 = 0,
    incarnation: UInt64 = 0,
    missingChunks: [UInt8] = [],
    aborted: Bool = false,
    modified: UInt64 = 0,
    writer: String = ""
  ) {
    self.outcomes = outcomes
    self.zoneSeq = zoneSeq
    self.incarnation = incarnation
    self.missingChunks = missingChunks
    self.aborted = aborted
    self.modified = modified
    self.writer = writer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitReply> {
    let m = arena.make(Caravan__V1__CommitReply.self, caravan__v1__commit_reply__init)
    (m.pointee.n_outcomes, m.pointee.outcomes) = arena.messages(outcomes) { $0.pack(into: &$1) }
    if zoneSeq != 0 { m.pointee.has_zone_seq = 1; m.pointee.zone_seq = zoneSeq }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !missingChunks.isEmpty {
      m.pointee.has_missing_chunks = 1
      m.pointee.missing_chunks = arena.bytes(missingChunks)
    }
    if aborted { m.pointee.has_aborted = 1; m.pointee.aborted = aborted ? 1 : 0 }
    if modified != 0 { m.pointee.has_modified = 1; m.pointee.modified = modified }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitReply>) throws(WireError) {
    outcomes = try copyMessages(m.pointee.n_outcomes, m.pointee.outcomes) { (p) throws(WireError) in try Outcome(c: p) }
    zoneSeq = m.pointee.has_zone_seq != 0 ? m.pointee.zone_seq : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    missingChunks = m.pointee.has_missing_chunks != 0 ? copyBytes(m.pointee.missing_chunks) : []
    aborted = m.pointee.has_aborted != 0 ? m.pointee.aborted != 0 : false
    modified = m.pointee.has_modified != 0 ? m.pointee.modified : 0
    writer = try copyText(m.pointee.writer)
  }

  static let shape = 40

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_reply__get_packed_size(m)) { caravan__v1__commit_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitBatch: WireMessage, Equatable {
  public var commits: [CommitRequest]

  public init(
    commits: [CommitRequest] = []
  ) {
    self.commits = commits
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitBatch> {
    let m = arena.make(Caravan__V1__CommitBatch.self, caravan__v1__commit_batch__init)
    (m.pointee.n_commits, m.pointee.commits) = arena.messages(commits) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitBatch>) throws(WireError) {
    commits = try copyMessages(m.pointee.n_commits, m.pointee.commits) { (p) throws(WireError) in
      try CommitRequest(c: p)
    }
  }

  static let shape = 41

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_batch__get_packed_size(m)) { caravan__v1__commit_batch__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_batch__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitBatchReply: WireMessage, Equatable {
  public var answers: [CommitAnswer]

  public init(
    answers: [CommitAnswer] = []
  ) {
    self.answers = answers
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitBatchReply> {
    let m = arena.make(Caravan__V1__CommitBatchReply.self, caravan__v1__commit_batch_reply__init)
    (m.pointee.n_answers, m.pointee.answers) = arena.messages(answers) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitBatchReply>) throws(WireError) {
    answers = try copyMessages(m.pointee.n_answers, m.pointee.answers) { (p) throws(WireError) in
      try CommitAnswer(c: p)
    }
  }

  static let shape = 42

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_batch_reply__get_packed_size(m)) { caravan__v1__commit_batch_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_batch_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitAnswer: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case reply(CommitReply)
    case failure(Failure)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitAnswer> {
    let m = arena.make(Caravan__V1__CommitAnswer.self, caravan__v1__commit_answer__init)
    switch kind {
    case .reply(let value):
      m.pointee.kind_case = CARAVAN__V1__COMMIT_ANSWER__KIND_REPLY
      m.pointee.reply = value.pack(into: &arena)
    case .failure(let value):
      m.pointee.kind_case = CARAVAN__V1__COMMIT_ANSWER__KIND_FAILURE
      m.pointee.failure = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitAnswer>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__COMMIT_ANSWER__KIND_REPLY: kind = .reply(try CommitReply(c: m.pointee.reply))
    case CARAVAN__V1__COMMIT_ANSWER__KIND_FAILURE: kind = .failure(try Failure(c: m.pointee.failure))
    default: kind = nil
    }
  }

  static let shape = 43

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_answer__get_packed_size(m)) { caravan__v1__commit_answer__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_answer__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SettleRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var writer: String
  public var epoch: UInt64
  public var op: UInt64

  public init(
    zone: ZoneRef? = nil,
    writer: String = "",
    epoch: UInt64 = 0,
    op: UInt64 = 0
  ) {
    self.zone = zone
    self.writer = writer
    self.epoch = epoch
    self.op = op
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SettleRequest> {
    let m = arena.make(Caravan__V1__SettleRequest.self, caravan__v1__settle_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SettleRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    writer = try copyText(m.pointee.writer)
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
  }

  static let shape = 44

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__settle_request__get_packed_size(m)) { caravan__v1__settle_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__settle_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GroupRequest: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case begin(Empty)
    case part(GroupPart)
    case commit(GroupCommit)
    case status(Empty)
    case remove(Empty)
  }

  public var zone: ZoneRef?
  public var writer: String
  public var epoch: UInt64
  public var op: UInt64
  public var opFloor: UInt64
  public var kind: Kind?

  public init(
    zone: ZoneRef? = nil,
    writer: String = "",
    epoch: UInt64 = 0,
    op: UInt64 = 0,
    opFloor: UInt64 = 0,
    kind: Kind? = nil
  ) {
    self.zone = zone
    self.writer = writer
    self.epoch = epoch
    self.op = op
    self.opFloor = opFloor
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GroupRequest> {
    let m = arena.make(Caravan__V1__GroupRequest.self, caravan__v1__group_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if opFloor != 0 { m.pointee.has_op_floor = 1; m.pointee.op_floor = opFloor }
    switch kind {
    case .begin(let value):
      m.pointee.kind_case = CARAVAN__V1__GROUP_REQUEST__KIND_BEGIN
      m.pointee.begin = value.pack(into: &arena)
    case .part(let value):
      m.pointee.kind_case = CARAVAN__V1__GROUP_REQUEST__KIND_PART
      m.pointee.part = value.pack(into: &arena)
    case .commit(let value):
      m.pointee.kind_case = CARAVAN__V1__GROUP_REQUEST__KIND_COMMIT
      m.pointee.commit = value.pack(into: &arena)
    case .status(let value):
      m.pointee.kind_case = CARAVAN__V1__GROUP_REQUEST__KIND_STATUS
      m.pointee.status = value.pack(into: &arena)
    case .remove(let value):
      m.pointee.kind_case = CARAVAN__V1__GROUP_REQUEST__KIND_REMOVE
      m.pointee.remove = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GroupRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    writer = try copyText(m.pointee.writer)
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    opFloor = m.pointee.has_op_floor != 0 ? m.pointee.op_floor : 0
    switch m.pointee.kind_case {
    case CARAVAN__V1__GROUP_REQUEST__KIND_BEGIN: kind = .begin(try Empty(c: m.pointee.begin))
    case CARAVAN__V1__GROUP_REQUEST__KIND_PART: kind = .part(try GroupPart(c: m.pointee.part))
    case CARAVAN__V1__GROUP_REQUEST__KIND_COMMIT: kind = .commit(try GroupCommit(c: m.pointee.commit))
    case CARAVAN__V1__GROUP_REQUEST__KIND_STATUS: kind = .status(try Empty(c: m.pointee.status))
    case CARAVAN__V1__GROUP_REQUEST__KIND_REMOVE: kind = .remove(try Empty(c: m.pointee.remove))
    default: kind = nil
    }
  }

  static let shape = 45

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__group_request__get_packed_size(m)) { caravan__v1__group_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__group_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GroupPart: WireMessage, Equatable {
  public var number: UInt32
  public var mutations: [Mutation]
  public var chunks: [Chunk]

  public init(
    number: UInt32 = 0,
    mutations: [Mutation] = [],
    chunks: [Chunk] = []
  ) {
    self.number = number
    self.mutations = mutations
    self.chunks = chunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GroupPart> {
    let m = arena.make(Caravan__V1__GroupPart.self, caravan__v1__group_part__init)
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    (m.pointee.n_mutations, m.pointee.mutations) = arena.messages(mutations) { $0.pack(into: &$1) }
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GroupPart>) throws(WireError) {
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    mutations = try copyMessages(m.pointee.n_mutations, m.pointee.mutations) { (p) throws(WireError) in
      try Mutation(c: p)
    }
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
  }

  static let shape = 46

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__group_part__get_packed_size(m)) { caravan__v1__group_part__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__group_part__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GroupCommit: WireMessage, Equatable {
  public var parts: UInt32
  public var atomic: Bool
  public var lock: String
  public var token: UInt64

  public init(
    parts: UInt32 = 0,
    atomic: Bool = false,
    lock: String = "",
    token: UInt64 = 0
  ) {
    self.parts = parts
    self.atomic = atomic
    self.lock = lock
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GroupCommit> {
    let m = arena.make(Caravan__V1__GroupCommit.self, caravan__v1__group_commit__init)
    if parts != 0 { m.pointee.has_parts = 1; m.pointee.parts = parts }
    if atomic { m.pointee.has_atomic = 1; m.pointee.atomic = atomic ? 1 : 0 }
    if !lock.isEmpty { m.pointee.lock = arena.string(lock) }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GroupCommit>) throws(WireError) {
    parts = m.pointee.has_parts != 0 ? m.pointee.parts : 0
    atomic = m.pointee.has_atomic != 0 ? m.pointee.atomic != 0 : false
    lock = try copyText(m.pointee.lock)
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
  }

  static let shape = 47

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__group_commit__get_packed_size(m)) { caravan__v1__group_commit__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__group_commit__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GroupReply: WireMessage, Equatable {
  public var state: GroupState?
  public var commit: CommitReply?
  public var missingChunks: [UInt8]

  public init(
    state: GroupState? = nil,
    commit: CommitReply? = nil,
    missingChunks: [UInt8] = []
  ) {
    self.state = state
    self.commit = commit
    self.missingChunks = missingChunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GroupReply> {
    let m = arena.make(Caravan__V1__GroupReply.self, caravan__v1__group_reply__init)
    if let state { m.pointee.state = state.pack(into: &arena) }
    if let commit { m.pointee.commit = commit.pack(into: &arena) }
    if !missingChunks.isEmpty {
      m.pointee.has_missing_chunks = 1
      m.pointee.missing_chunks = arena.bytes(missingChunks)
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GroupReply>) throws(WireError) {
    state = if let p = m.pointee.state { try GroupState(c: p) } else { nil }
    commit = if let p = m.pointee.commit { try CommitReply(c: p) } else { nil }
    missingChunks = m.pointee.has_missing_chunks != 0 ? copyBytes(m.pointee.missing_chunks) : []
  }

  static let shape = 48

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__group_reply__get_packed_size(m)) { caravan__v1__group_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__group_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GroupState: WireMessage, Equatable {
  public var stage: GroupStage
  public var parts: UInt32
  public var records: UInt32
  public var bytes: UInt64
  public var untilMilliseconds: UInt64
  public var objectsWaiting: UInt32
  public var objectsFailing: UInt32
  public var objectsRefused: UInt32
  public var problem: String

  public init(
    stage: GroupStage = .unspecified,
    parts: UInt32 = 0,
    records: UInt32 = 0,
    bytes: UInt64 = 0,
    untilMilliseconds: UInt64 = 0,
    objectsWaiting: UInt32 = 0,
    objectsFailing: UInt32 = 0,
    objectsRefused: UInt32 = 0,
    problem: String = ""
  ) {
    self.stage = stage
    self.parts = parts
    self.records = records
    self.bytes = bytes
    self.untilMilliseconds = untilMilliseconds
    self.objectsWaiting = objectsWaiting
    self.objectsFailing = objectsFailing
    self.objectsRefused = objectsRefused
    self.problem = problem
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GroupState> {
    let m = arena.make(Caravan__V1__GroupState.self, caravan__v1__group_state__init)
    if stage != .unspecified { m.pointee.has_stage = 1; m.pointee.stage = stage.c }
    if parts != 0 { m.pointee.has_parts = 1; m.pointee.parts = parts }
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if untilMilliseconds != 0 { m.pointee.has_until_milliseconds = 1; m.pointee.until_milliseconds = untilMilliseconds }
    if objectsWaiting != 0 { m.pointee.has_objects_waiting = 1; m.pointee.objects_waiting = objectsWaiting }
    if objectsFailing != 0 { m.pointee.has_objects_failing = 1; m.pointee.objects_failing = objectsFailing }
    if objectsRefused != 0 { m.pointee.has_objects_refused = 1; m.pointee.objects_refused = objectsRefused }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GroupState>) throws(WireError) {
    stage = m.pointee.has_stage != 0 ? GroupStage(c: m.pointee.stage) : .unspecified
    parts = m.pointee.has_parts != 0 ? m.pointee.parts : 0
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    untilMilliseconds = m.pointee.has_until_milliseconds != 0 ? m.pointee.until_milliseconds : 0
    objectsWaiting = m.pointee.has_objects_waiting != 0 ? m.pointee.objects_waiting : 0
    objectsFailing = m.pointee.has_objects_failing != 0 ? m.pointee.objects_failing : 0
    objectsRefused = m.pointee.has_objects_refused != 0 ? m.pointee.objects_refused : 0
    problem = try copyText(m.pointee.problem)
  }

  static let shape = 49

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__group_state__get_packed_size(m)) { caravan__v1__group_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__group_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StagedMutations: WireMessage, Equatable {
  public var mutations: [Mutation]

  public init(
    mutations: [Mutation] = []
  ) {
    self.mutations = mutations
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StagedMutations> {
    let m = arena.make(Caravan__V1__StagedMutations.self, caravan__v1__staged_mutations__init)
    (m.pointee.n_mutations, m.pointee.mutations) = arena.messages(mutations) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StagedMutations>) throws(WireError) {
    mutations = try copyMessages(m.pointee.n_mutations, m.pointee.mutations) { (p) throws(WireError) in
      try Mutation(c: p)
    }
  }

  static let shape = 50

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__staged_mutations__get_packed_size(m)) { caravan__v1__staged_mutations__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__staged_mutations__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LockRequest: WireMessage, Equatable {
  public var name: String
  public var holder: String
  public var ttlMilliseconds: UInt32
  public var token: UInt64
  public var release: Bool

  public init(
    name: String = "",
    holder: String = "",
    ttlMilliseconds: UInt32 = 0,
    token: UInt64 = 0,
    release: Bool = false
  ) {
    self.name = name
    self.holder = holder
    self.ttlMilliseconds = ttlMilliseconds
    self.token = token
    self.release = release
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LockRequest> {
    let m = arena.make(Caravan__V1__LockRequest.self, caravan__v1__lock_request__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if !holder.isEmpty { m.pointee.holder = arena.string(holder) }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    if release { m.pointee.has_release = 1; m.pointee.release = release ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LockRequest>) throws(WireError) {
    name = try copyText(m.pointee.name)
    holder = try copyText(m.pointee.holder)
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
    release = m.pointee.has_release != 0 ? m.pointee.release != 0 : false
  }

  static let shape = 51

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lock_request__get_packed_size(m)) { caravan__v1__lock_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lock_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangePosition: WireMessage, Equatable {
  public var incarnation: UInt64
  public var seq: UInt64
  public var settled: UInt64
  public var below: UInt64
  public var target: UInt64

  public init(
    incarnation: UInt64 = 0,
    seq: UInt64 = 0,
    settled: UInt64 = 0,
    below: UInt64 = 0,
    target: UInt64 = 0
  ) {
    self.incarnation = incarnation
    self.seq = seq
    self.settled = settled
    self.below = below
    self.target = target
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangePosition> {
    let m = arena.make(Caravan__V1__ChangePosition.self, caravan__v1__change_position__init)
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if settled != 0 { m.pointee.has_settled = 1; m.pointee.settled = settled }
    if below != 0 { m.pointee.has_below = 1; m.pointee.below = below }
    if target != 0 { m.pointee.has_target = 1; m.pointee.target = target }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangePosition>) throws(WireError) {
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    settled = m.pointee.has_settled != 0 ? m.pointee.settled : 0
    below = m.pointee.has_below != 0 ? m.pointee.below : 0
    target = m.pointee.has_target != 0 ? m.pointee.target : 0
  }

  static let shape = 52

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__change_position__get_packed_size(m)) { caravan__v1__change_position__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__change_position__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadChangesRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var maxRecords: UInt32
  public var maxBytes: UInt32
  public var reader: String
  public var readerEpoch: UInt64
  public var from: ChangePosition?
  public var fresh: Bool
  public var mode: ChangeMode
  public var snapshot: Bool
  public var ownThrough: UInt64
  public var filter: [FilterTerm]

  public init(
    zone: ZoneRef? = nil,
    maxRecords: UInt32 = 0,
    maxBytes: UInt32 = 0,
    reader: String = "",
    readerEpoch: UInt64 = 0,
    from: ChangePosition? = nil,
    fresh: Bool = false,
    mode: ChangeMode = .forward,
    snapshot: Bool = false,
    ownThrough: UInt64 = 0,
    filter: [FilterTerm] = []
  ) {
    self.zone = zone
    self.maxRecords = maxRecords
    self.maxBytes = maxBytes
    self.reader = reader
    self.readerEpoch = readerEpoch
    self.from = from
    self.fresh = fresh
    self.mode = mode
    self.snapshot = snapshot
    self.ownThrough = ownThrough
    self.filter = filter
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadChangesRequest> {
    let m = arena.make(Caravan__V1__ReadChangesRequest.self, caravan__v1__read_changes_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if maxRecords != 0 { m.pointee.has_max_records = 1; m.pointee.max_records = maxRecords }
    if maxBytes != 0 { m.pointee.has_max_bytes = 1; m.pointee.max_bytes = maxBytes }
    if !reader.isEmpty { m.pointee.reader = arena.string(reader) }
    if readerEpoch != 0 { m.pointee.has_reader_epoch = 1; m.pointee.reader_epoch = readerEpoch }
    if let from { m.pointee.from = from.pack(into: &arena) }
    if fresh { m.pointee.has_fresh = 1; m.pointee.fresh = fresh ? 1 : 0 }
    if mode != .forward { m.pointee.has_mode = 1; m.pointee.mode = mode.c }
    if snapshot { m.pointee.has_snapshot = 1; m.pointee.snapshot = snapshot ? 1 : 0 }
    if ownThrough != 0 { m.pointee.has_own_through = 1; m.pointee.own_through = ownThrough }
    (m.pointee.n_filter, m.pointee.filter) = arena.messages(filter) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadChangesRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    maxRecords = m.pointee.has_max_records != 0 ? m.pointee.max_records : 0
    maxBytes = m.pointee.has_max_bytes != 0 ? m.pointee.max_bytes : 0
    reader = try copyText(m.pointee.reader)
    readerEpoch = m.pointee.has_reader_epoch != 0 ? m.pointee.reader_epoch : 0
    from = if let p = m.pointee.from { try ChangePosition(c: p) } else { nil }
    fresh = m.pointee.has_fresh != 0 ? m.pointee.fresh != 0 : false
    mode = m.pointee.has_mode != 0 ? ChangeMode(c: m.pointee.mode) : .forward
    snapshot = m.pointee.has_snapshot != 0 ? m.pointee.snapshot != 0 : false
    ownThrough = m.pointee.has_own_through != 0 ? m.pointee.own_through : 0
    filter = try copyMessages(m.pointee.n_filter, m.pointee.filter) { (p) throws(WireError) in try FilterTerm(c: p) }
  }

  static let shape = 53

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_changes_request__get_packed_size(m)) {
      caravan__v1__read_changes_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_changes_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadChangesReply: WireMessage, Equatable {
  public var page: [UInt8]
  public var more: Bool
  public var head: UInt64
  public var resetRequired: Bool
  public var next: ChangePosition?
  public var consistent: Bool
  public var lost: [UInt64]
  public var damaged: [DamagedEntry]

  public init(
    page: [UInt8] = [],
    more: Bool = false,
    head: UInt64 = 0,
    resetRequired: Bool = false,
    next: ChangePosition? = nil,
    consistent: Bool = false,
    lost: [UInt64] = [],
    damaged: [DamagedEntry] = []
  ) {
    self.page = page
    self.more = more
    self.head = head
    self.resetRequired = resetRequired
    self.next = next
    self.consistent = consistent
    self.lost = lost
    self.damaged = damaged
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadChangesReply> {
    let m = arena.make(Caravan__V1__ReadChangesReply.self, caravan__v1__read_changes_reply__init)
    if !page.isEmpty { m.pointee.has_page = 1; m.pointee.page = arena.bytes(page) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if head != 0 { m.pointee.has_head = 1; m.pointee.head = head }
    if resetRequired { m.pointee.has_reset_required = 1; m.pointee.reset_required = resetRequired ? 1 : 0 }
    if let next { m.pointee.next = next.pack(into: &arena) }
    if consistent { m.pointee.has_consistent = 1; m.pointee.consistent = consistent ? 1 : 0 }
    (m.pointee.n_lost, m.pointee.lost) = arena.scalars(lost)
    (m.pointee.n_damaged, m.pointee.damaged) = arena.messages(damaged) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadChangesReply>) throws(WireError) {
    page = m.pointee.has_page != 0 ? copyBytes(m.pointee.page) : []
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    head = m.pointee.has_head != 0 ? m.pointee.head : 0
    resetRequired = m.pointee.has_reset_required != 0 ? m.pointee.reset_required != 0 : false
    next = if let p = m.pointee.next { try ChangePosition(c: p) } else { nil }
    consistent = m.pointee.has_consistent != 0 ? m.pointee.consistent != 0 : false
    lost = copyScalars(m.pointee.n_lost, m.pointee.lost)
    damaged = try copyMessages(m.pointee.n_damaged, m.pointee.damaged) { (p) throws(WireError) in
      try DamagedEntry(c: p)
    }
  }

  static let shape = 54

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_changes_reply__get_packed_size(m)) { caravan__v1__read_changes_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_changes_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FetchRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var names: [String]
  public var fields: [UInt32]

  public init(
    zone: ZoneRef? = nil,
    names: [String] = [],
    fields: [UInt32] = []
  ) {
    self.zone = zone
    self.names = names
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FetchRequest> {
    let m = arena.make(Caravan__V1__FetchRequest.self, caravan__v1__fetch_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    (m.pointee.n_names, m.pointee.names) = arena.strings(names)
    (m.pointee.n_fields, m.pointee.fields) = arena.scalars(fields)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FetchRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    names = try copyStrings(m.pointee.n_names, m.pointee.names)
    fields = copyScalars(m.pointee.n_fields, m.pointee.fields)
  }

  static let shape = 55

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__fetch_request__get_packed_size(m)) { caravan__v1__fetch_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__fetch_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FetchReply: WireMessage, Equatable {
  public var entries: [Entry]
  public var damaged: [DamagedEntry]

  public init(
    entries: [Entry] = [],
    damaged: [DamagedEntry] = []
  ) {
    self.entries = entries
    self.damaged = damaged
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FetchReply> {
    let m = arena.make(Caravan__V1__FetchReply.self, caravan__v1__fetch_reply__init)
    (m.pointee.n_entries, m.pointee.entries) = arena.messages(entries) { $0.pack(into: &$1) }
    (m.pointee.n_damaged, m.pointee.damaged) = arena.messages(damaged) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FetchReply>) throws(WireError) {
    entries = try copyMessages(m.pointee.n_entries, m.pointee.entries) { (p) throws(WireError) in try Entry(c: p) }
    damaged = try copyMessages(m.pointee.n_damaged, m.pointee.damaged) { (p) throws(WireError) in
      try DamagedEntry(c: p)
    }
  }

  static let shape = 56

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__fetch_reply__get_packed_size(m)) { caravan__v1__fetch_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__fetch_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneHead: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var seq: UInt64
  public var incarnation: UInt64

  public init(
    zone: ZoneRef? = nil,
    seq: UInt64 = 0,
    incarnation: UInt64 = 0
  ) {
    self.zone = zone
    self.seq = seq
    self.incarnation = incarnation
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneHead> {
    let m = arena.make(Caravan__V1__ZoneHead.self, caravan__v1__zone_head__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneHead>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
  }

  static let shape = 57

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_head__get_packed_size(m)) { caravan__v1__zone_head__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_head__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListZonesRequest: WireMessage, Equatable {
  public var partition: UInt32
  public var database: DatabaseRef?
  public var owner: String
  public var named: String

  public init(
    partition: UInt32 = 0,
    database: DatabaseRef? = nil,
    owner: String = "",
    named: String = ""
  ) {
    self.partition = partition
    self.database = database
    self.owner = owner
    self.named = named
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListZonesRequest> {
    let m = arena.make(Caravan__V1__ListZonesRequest.self, caravan__v1__list_zones_request__init)
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !owner.isEmpty { m.pointee.owner = arena.string(owner) }
    if !named.isEmpty { m.pointee.named = arena.string(named) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListZonesRequest>) throws(WireError) {
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    owner = try copyText(m.pointee.owner)
    named = try copyText(m.pointee.named)
  }

  static let shape = 58

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_zones_request__get_packed_size(m)) { caravan__v1__list_zones_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_zones_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListZonesReply: WireMessage, Equatable {
  public var zones: [ZoneHead]

  public init(
    zones: [ZoneHead] = []
  ) {
    self.zones = zones
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListZonesReply> {
    let m = arena.make(Caravan__V1__ListZonesReply.self, caravan__v1__list_zones_reply__init)
    (m.pointee.n_zones, m.pointee.zones) = arena.messages(zones) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListZonesReply>) throws(WireError) {
    zones = try copyMessages(m.pointee.n_zones, m.pointee.zones) { (p) throws(WireError) in try ZoneHead(c: p) }
  }

  static let shape = 59

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_zones_reply__get_packed_size(m)) { caravan__v1__list_zones_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_zones_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CreateZoneRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var writer: String

  public init(
    zone: ZoneRef? = nil,
    writer: String = ""
  ) {
    self.zone = zone
    self.writer = writer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CreateZoneRequest> {
    let m = arena.make(Caravan__V1__CreateZoneRequest.self, caravan__v1__create_zone_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CreateZoneRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    writer = try copyText(m.pointee.writer)
  }

  static let shape = 60

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__create_zone_request__get_packed_size(m)) {
      caravan__v1__create_zone_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__create_zone_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CreateZoneReply: WireMessage, Equatable {
  public var zone: ZoneHead?

  public init(
    zone: ZoneHead? = nil
  ) {
    self.zone = zone
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CreateZoneReply> {
    let m = arena.make(Caravan__V1__CreateZoneReply.self, caravan__v1__create_zone_reply__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CreateZoneReply>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneHead(c: p) } else { nil }
  }

  static let shape = 61

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__create_zone_reply__get_packed_size(m)) { caravan__v1__create_zone_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__create_zone_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DatabasePosition: WireMessage, Equatable {
  public var life: UInt64
  public var log: UInt64

  public init(
    life: UInt64 = 0,
    log: UInt64 = 0
  ) {
    self.life = life
    self.log = log
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DatabasePosition> {
    let m = arena.make(Caravan__V1__DatabasePosition.self, caravan__v1__database_position__init)
    if life != 0 { m.pointee.has_life = 1; m.pointee.life = life }
    if log != 0 { m.pointee.has_log = 1; m.pointee.log = log }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DatabasePosition>) throws(WireError) {
    life = m.pointee.has_life != 0 ? m.pointee.life : 0
    log = m.pointee.has_log != 0 ? m.pointee.log : 0
  }

  static let shape = 62

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__database_position__get_packed_size(m)) { caravan__v1__database_position__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__database_position__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangedZonesRequest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var from: DatabasePosition?
  public var maxZones: UInt32

  public init(
    database: DatabaseRef? = nil,
    from: DatabasePosition? = nil,
    maxZones: UInt32 = 0
  ) {
    self.database = database
    self.from = from
    self.maxZones = maxZones
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangedZonesRequest> {
    let m = arena.make(Caravan__V1__ChangedZonesRequest.self, caravan__v1__changed_zones_request__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if let from { m.pointee.from = from.pack(into: &arena) }
    if maxZones != 0 { m.pointee.has_max_zones = 1; m.pointee.max_zones = maxZones }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangedZonesRequest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    from = if let p = m.pointee.from { try DatabasePosition(c: p) } else { nil }
    maxZones = m.pointee.has_max_zones != 0 ? m.pointee.max_zones : 0
  }

  static let shape = 63

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__changed_zones_request__get_packed_size(m)) {
      caravan__v1__changed_zones_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__changed_zones_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneChange: WireMessage, Equatable {
  public var zone: String
  public var seq: UInt64
  public var incarnation: UInt64
  public var deleted: Bool

  public init(
    zone: String = "",
    seq: UInt64 = 0,
    incarnation: UInt64 = 0,
    deleted: Bool = false
  ) {
    self.zone = zone
    self.seq = seq
    self.incarnation = incarnation
    self.deleted = deleted
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneChange> {
    let m = arena.make(Caravan__V1__ZoneChange.self, caravan__v1__zone_change__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if deleted { m.pointee.has_deleted = 1; m.pointee.deleted = deleted ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneChange>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    deleted = m.pointee.has_deleted != 0 ? m.pointee.deleted != 0 : false
  }

  static let shape = 64

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_change__get_packed_size(m)) { caravan__v1__zone_change__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_change__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangedZonesReply: WireMessage, Equatable {
  public var zones: [ZoneChange]
  public var next: DatabasePosition?
  public var more: Bool
  public var resetRequired: Bool

  public init(
    zones: [ZoneChange] = [],
    next: DatabasePosition? = nil,
    more: Bool = false,
    resetRequired: Bool = false
  ) {
    self.zones = zones
    self.next = next
    self.more = more
    self.resetRequired = resetRequired
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangedZonesReply> {
    let m = arena.make(Caravan__V1__ChangedZonesReply.self, caravan__v1__changed_zones_reply__init)
    (m.pointee.n_zones, m.pointee.zones) = arena.messages(zones) { $0.pack(into: &$1) }
    if let next { m.pointee.next = next.pack(into: &arena) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if resetRequired { m.pointee.has_reset_required = 1; m.pointee.reset_required = resetRequired ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangedZonesReply>) throws(WireError) {
    zones = try copyMessages(m.pointee.n_zones, m.pointee.zones) { (p) throws(WireError) in try ZoneChange(c: p) }
    next = if let p = m.pointee.next { try DatabasePosition(c: p) } else { nil }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    resetRequired = m.pointee.has_reset_required != 0 ? m.pointee.reset_required != 0 : false
  }

  static let shape = 65

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__changed_zones_reply__get_packed_size(m)) {
      caravan__v1__changed_zones_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__changed_zones_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DeleteZoneRequest: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var writer: String

  public init(
    zone: ZoneRef? = nil,
    writer: String = ""
  ) {
    self.zone = zone
    self.writer = writer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DeleteZoneRequest> {
    let m = arena.make(Caravan__V1__DeleteZoneRequest.self, caravan__v1__delete_zone_request__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DeleteZoneRequest>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    writer = try copyText(m.pointee.writer)
  }

  static let shape = 66

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__delete_zone_request__get_packed_size(m)) {
      caravan__v1__delete_zone_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__delete_zone_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DeleteZoneReply: WireMessage, Equatable {
  public var existed: Bool

  public init(
    existed: Bool = false
  ) {
    self.existed = existed
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DeleteZoneReply> {
    let m = arena.make(Caravan__V1__DeleteZoneReply.self, caravan__v1__delete_zone_reply__init)
    if existed { m.pointee.has_existed = 1; m.pointee.existed = existed ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DeleteZoneReply>) throws(WireError) {
    existed = m.pointee.has_existed != 0 ? m.pointee.existed != 0 : false
  }

  static let shape = 67

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__delete_zone_reply__get_packed_size(m)) { caravan__v1__delete_zone_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__delete_zone_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Chunk: WireMessage, Equatable {
  public var hash: [UInt8]
  public var data: [UInt8]
  public var bases: [UInt8]

  public init(
    hash: [UInt8] = [],
    data: [UInt8] = [],
    bases: [UInt8] = []
  ) {
    self.hash = hash
    self.data = data
    self.bases = bases
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Chunk> {
    let m = arena.make(Caravan__V1__Chunk.self, caravan__v1__chunk__init)
    if !hash.isEmpty { m.pointee.has_hash = 1; m.pointee.hash = arena.bytes(hash) }
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    if !bases.isEmpty { m.pointee.has_bases = 1; m.pointee.bases = arena.bytes(bases) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Chunk>) throws(WireError) {
    hash = m.pointee.has_hash != 0 ? copyBytes(m.pointee.hash) : []
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
    bases = m.pointee.has_bases != 0 ? copyBytes(m.pointee.bases) : []
  }

  static let shape = 68

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__chunk__get_packed_size(m)) { caravan__v1__chunk__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__chunk__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MissingChunksRequest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var hashes: [UInt8]

  public init(
    database: DatabaseRef? = nil,
    hashes: [UInt8] = []
  ) {
    self.database = database
    self.hashes = hashes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MissingChunksRequest> {
    let m = arena.make(Caravan__V1__MissingChunksRequest.self, caravan__v1__missing_chunks_request__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !hashes.isEmpty { m.pointee.has_hashes = 1; m.pointee.hashes = arena.bytes(hashes) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MissingChunksRequest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    hashes = m.pointee.has_hashes != 0 ? copyBytes(m.pointee.hashes) : []
  }

  static let shape = 69

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__missing_chunks_request__get_packed_size(m)) {
      caravan__v1__missing_chunks_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__missing_chunks_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MissingChunksReply: WireMessage, Equatable {
  public var hashes: [UInt8]

  public init(
    hashes: [UInt8] = []
  ) {
    self.hashes = hashes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MissingChunksReply> {
    let m = arena.make(Caravan__V1__MissingChunksReply.self, caravan__v1__missing_chunks_reply__init)
    if !hashes.isEmpty { m.pointee.has_hashes = 1; m.pointee.hashes = arena.bytes(hashes) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MissingChunksReply>) throws(WireError) {
    hashes = m.pointee.has_hashes != 0 ? copyBytes(m.pointee.hashes) : []
  }

  static let shape = 70

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__missing_chunks_reply__get_packed_size(m)) {
      caravan__v1__missing_chunks_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__missing_chunks_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ParcelRequest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var put: [Chunk]
  public var get: [UInt8]

  public init(
    database: DatabaseRef? = nil,
    put: [Chunk] = [],
    get: [UInt8] = []
  ) {
    self.database = database
    self.put = put
    self.get = get
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ParcelRequest> {
    let m = arena.make(Caravan__V1__ParcelRequest.self, caravan__v1__parcel_request__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    (m.pointee.n_put, m.pointee.put) = arena.messages(put) { $0.pack(into: &$1) }
    if !get.isEmpty { m.pointee.has_get = 1; m.pointee.get = arena.bytes(get) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ParcelRequest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    put = try copyMessages(m.pointee.n_put, m.pointee.put) { (p) throws(WireError) in try Chunk(c: p) }
    get = m.pointee.has_get != 0 ? copyBytes(m.pointee.get) : []
  }

  static let shape = 71

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__parcel_request__get_packed_size(m)) { caravan__v1__parcel_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__parcel_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ParcelReply: WireMessage, Equatable {
  public var chunks: [Chunk]

  public init(
    chunks: [Chunk] = []
  ) {
    self.chunks = chunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ParcelReply> {
    let m = arena.make(Caravan__V1__ParcelReply.self, caravan__v1__parcel_reply__init)
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ParcelReply>) throws(WireError) {
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
  }

  static let shape = 72

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__parcel_reply__get_packed_size(m)) { caravan__v1__parcel_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__parcel_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadLogRequest: WireMessage, Equatable {
  public var partition: UInt32
  public var after: UInt64
  public var maxEntries: UInt32

  public init(
    partition: UInt32 = 0,
    after: UInt64 = 0,
    maxEntries: UInt32 = 0
  ) {
    self.partition = partition
    self.after = after
    self.maxEntries = maxEntries
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadLogRequest> {
    let m = arena.make(Caravan__V1__ReadLogRequest.self, caravan__v1__read_log_request__init)
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if after != 0 { m.pointee.has_after = 1; m.pointee.after = after }
    if maxEntries != 0 { m.pointee.has_max_entries = 1; m.pointee.max_entries = maxEntries }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadLogRequest>) throws(WireError) {
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    after = m.pointee.has_after != 0 ? m.pointee.after : 0
    maxEntries = m.pointee.has_max_entries != 0 ? m.pointee.max_entries : 0
  }

  static let shape = 73

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_log_request__get_packed_size(m)) { caravan__v1__read_log_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_log_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LogEntry: WireMessage, Equatable {
  public var position: UInt64?
  public var zone: ZoneRef?
  public var low: UInt64
  public var high: UInt64
  public var incarnation: UInt64
  public var writer: String
  public var zoneDeleted: Bool

  public init(
    position: UInt64? = nil,
    zone: ZoneRef? = nil,
    low: UInt64 = 0,
    high: UInt64 = 0,
    incarnation: UInt64 = 0,
    writer: String = "",
    zoneDeleted: Bool = false
  ) {
    self.position = position
    self.zone = zone
    self.low = low
    self.high = high
    self.incarnation = incarnation
    self.writer = writer
    self.zoneDeleted = zoneDeleted
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LogEntry> {
    let m = arena.make(Caravan__V1__LogEntry.self, caravan__v1__log_entry__init)
    if let position { m.pointee.has_position = 1; m.pointee.position = position }
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if low != 0 { m.pointee.has_low = 1; m.pointee.low = low }
    if high != 0 { m.pointee.has_high = 1; m.pointee.high = high }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if zoneDeleted { m.pointee.has_zone_deleted = 1; m.pointee.zone_deleted = zoneDeleted ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LogEntry>) throws(WireError) {
    position = m.pointee.has_position != 0 ? m.pointee.position : nil
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    low = m.pointee.has_low != 0 ? m.pointee.low : 0
    high = m.pointee.has_high != 0 ? m.pointee.high : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    writer = try copyText(m.pointee.writer)
    zoneDeleted = m.pointee.has_zone_deleted != 0 ? m.pointee.zone_deleted != 0 : false
  }

  static let shape = 74

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__log_entry__get_packed_size(m)) { caravan__v1__log_entry__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__log_entry__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadLogReply: WireMessage, Equatable {
  public var entries: [LogEntry]
  public var head: UInt64
  public var trimmed: Bool

  public init(
    entries: [LogEntry] = [],
    head: UInt64 = 0,
    trimmed: Bool = false
  ) {
    self.entries = entries
    self.head = head
    self.trimmed = trimmed
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadLogReply> {
    let m = arena.make(Caravan__V1__ReadLogReply.self, caravan__v1__read_log_reply__init)
    (m.pointee.n_entries, m.pointee.entries) = arena.messages(entries) { $0.pack(into: &$1) }
    if head != 0 { m.pointee.has_head = 1; m.pointee.head = head }
    if trimmed { m.pointee.has_trimmed = 1; m.pointee.trimmed = trimmed ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadLogReply>) throws(WireError) {
    entries = try copyMessages(m.pointee.n_entries, m.pointee.entries) { (p) throws(WireError) in try LogEntry(c: p) }
    head = m.pointee.has_head != 0 ? m.pointee.head : 0
    trimmed = m.pointee.has_trimmed != 0 ? m.pointee.trimmed != 0 : false
  }

  static let shape = 75

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_log_reply__get_packed_size(m)) { caravan__v1__read_log_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_log_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LogHead: WireMessage, Equatable {
  public var partition: UInt32
  public var head: UInt64

  public init(
    partition: UInt32 = 0,
    head: UInt64 = 0
  ) {
    self.partition = partition
    self.head = head
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LogHead> {
    let m = arena.make(Caravan__V1__LogHead.self, caravan__v1__log_head__init)
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if head != 0 { m.pointee.has_head = 1; m.pointee.head = head }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LogHead>) throws(WireError) {
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    head = m.pointee.has_head != 0 ? m.pointee.head : 0
  }

  static let shape = 76

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__log_head__get_packed_size(m)) { caravan__v1__log_head__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__log_head__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LogHeadsReply: WireMessage, Equatable {
  public var heads: [LogHead]

  public init(
    heads: [LogHead] = []
  ) {
    self.heads = heads
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LogHeadsReply> {
    let m = arena.make(Caravan__V1__LogHeadsReply.self, caravan__v1__log_heads_reply__init)
    (m.pointee.n_heads, m.pointee.heads) = arena.messages(heads) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LogHeadsReply>) throws(WireError) {
    heads = try copyMessages(m.pointee.n_heads, m.pointee.heads) { (p) throws(WireError) in try LogHead(c: p) }
  }

  static let shape = 77

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__log_heads_reply__get_packed_size(m)) { caravan__v1__log_heads_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__log_heads_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangeHint: WireMessage, Equatable {
  public var previous: UInt64
  public var log: [LogEntry]
  public var pages: [[UInt8]]

  public init(
    previous: UInt64 = 0,
    log: [LogEntry] = [],
    pages: [[UInt8]] = []
  ) {
    self.previous = previous
    self.log = log
    self.pages = pages
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangeHint> {
    let m = arena.make(Caravan__V1__ChangeHint.self, caravan__v1__change_hint__init)
    if previous != 0 { m.pointee.has_previous = 1; m.pointee.previous = previous }
    (m.pointee.n_log, m.pointee.log) = arena.messages(log) { $0.pack(into: &$1) }
    (m.pointee.n_pages, m.pointee.pages) = arena.byteStrings(pages)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangeHint>) throws(WireError) {
    previous = m.pointee.has_previous != 0 ? m.pointee.previous : 0
    log = try copyMessages(m.pointee.n_log, m.pointee.log) { (p) throws(WireError) in try LogEntry(c: p) }
    pages = copyByteStrings(m.pointee.n_pages, m.pointee.pages)
  }

  static let shape = 78

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__change_hint__get_packed_size(m)) { caravan__v1__change_hint__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__change_hint__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LeaseRequest: WireMessage, Equatable {
  public var names: [String]
  public var holder: String
  public var ttlMilliseconds: UInt32
  public var list: String

  public init(
    names: [String] = [],
    holder: String = "",
    ttlMilliseconds: UInt32 = 0,
    list: String = ""
  ) {
    self.names = names
    self.holder = holder
    self.ttlMilliseconds = ttlMilliseconds
    self.list = list
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LeaseRequest> {
    let m = arena.make(Caravan__V1__LeaseRequest.self, caravan__v1__lease_request__init)
    (m.pointee.n_names, m.pointee.names) = arena.strings(names)
    if !holder.isEmpty { m.pointee.holder = arena.string(holder) }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if !list.isEmpty { m.pointee.list = arena.string(list) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LeaseRequest>) throws(WireError) {
    names = try copyStrings(m.pointee.n_names, m.pointee.names)
    holder = try copyText(m.pointee.holder)
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    list = try copyText(m.pointee.list)
  }

  static let shape = 79

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lease_request__get_packed_size(m)) { caravan__v1__lease_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lease_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LeaseGrant: WireMessage, Equatable {
  public var name: String
  public var granted: Bool
  public var token: UInt64
  public var holder: String
  public var remainingMilliseconds: UInt32

  public init(
    name: String = "",
    granted: Bool = false,
    token: UInt64 = 0,
    holder: String = "",
    remainingMilliseconds: UInt32 = 0
  ) {
    self.name = name
    self.granted = granted
    self.token = token
    self.holder = holder
    self.remainingMilliseconds = remainingMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LeaseGrant> {
    let m = arena.make(Caravan__V1__LeaseGrant.self, caravan__v1__lease_grant__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if granted { m.pointee.has_granted = 1; m.pointee.granted = granted ? 1 : 0 }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    if !holder.isEmpty { m.pointee.holder = arena.string(holder) }
    if remainingMilliseconds != 0 {
      m.pointee.has_remaining_milliseconds = 1
      m.pointee.remaining_milliseconds = remainingMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LeaseGrant>) throws(WireError) {
    name = try copyText(m.pointee.name)
    granted = m.pointee.has_granted != 0 ? m.pointee.granted != 0 : false
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
    holder = try copyText(m.pointee.holder)
    remainingMilliseconds = m.pointee.has_remaining_milliseconds != 0 ? m.pointee.remaining_milliseconds : 0
  }

  static let shape = 80

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lease_grant__get_packed_size(m)) { caravan__v1__lease_grant__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lease_grant__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LeaseReply: WireMessage, Equatable {
  public var grants: [LeaseGrant]
  public var living: [LeaseGrant]

  public init(
    grants: [LeaseGrant] = [],
    living: [LeaseGrant] = []
  ) {
    self.grants = grants
    self.living = living
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LeaseReply> {
    let m = arena.make(Caravan__V1__LeaseReply.self, caravan__v1__lease_reply__init)
    (m.pointee.n_grants, m.pointee.grants) = arena.messages(grants) { $0.pack(into: &$1) }
    (m.pointee.n_living, m.pointee.living) = arena.messages(living) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LeaseReply>) throws(WireError) {
    grants = try copyMessages(m.pointee.n_grants, m.pointee.grants) { (p) throws(WireError) in try LeaseGrant(c: p) }
    living = try copyMessages(m.pointee.n_living, m.pointee.living) { (p) throws(WireError) in try LeaseGrant(c: p) }
  }

  static let shape = 81

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lease_reply__get_packed_size(m)) { caravan__v1__lease_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lease_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CursorRequest: WireMessage, Equatable {
  public var consumer: String
  public var partition: UInt32
  public var position: UInt64?
  public var lease: String
  public var fencingToken: UInt64

  public init(
    consumer: String = "",
    partition: UInt32 = 0,
    position: UInt64? = nil,
    lease: String = "",
    fencingToken: UInt64 = 0
  ) {
    self.consumer = consumer
    self.partition = partition
    self.position = position
    self.lease = lease
    self.fencingToken = fencingToken
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CursorRequest> {
    let m = arena.make(Caravan__V1__CursorRequest.self, caravan__v1__cursor_request__init)
    if !consumer.isEmpty { m.pointee.consumer = arena.string(consumer) }
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if let position { m.pointee.has_position = 1; m.pointee.position = position }
    if !lease.isEmpty { m.pointee.lease = arena.string(lease) }
    if fencingToken != 0 { m.pointee.has_fencing_token = 1; m.pointee.fencing_token = fencingToken }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CursorRequest>) throws(WireError) {
    consumer = try copyText(m.pointee.consumer)
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    position = m.pointee.has_position != 0 ? m.pointee.position : nil
    lease = try copyText(m.pointee.lease)
    fencingToken = m.pointee.has_fencing_token != 0 ? m.pointee.fencing_token : 0
  }

  static let shape = 82

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cursor_request__get_packed_size(m)) { caravan__v1__cursor_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cursor_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CursorReply: WireMessage, Equatable {
  public var position: UInt64?

  public init(
    position: UInt64? = nil
  ) {
    self.position = position
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CursorReply> {
    let m = arena.make(Caravan__V1__CursorReply.self, caravan__v1__cursor_reply__init)
    if let position { m.pointee.has_position = 1; m.pointee.position = position }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CursorReply>) throws(WireError) {
    position = m.pointee.has_position != 0 ? m.pointee.position : nil
  }

  static let shape = 83

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cursor_reply__get_packed_size(m)) { caravan__v1__cursor_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cursor_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Quota: WireMessage, Equatable {
  public var maxRecords: UInt64?
  public var maxBytes: UInt64?

  public init(
    maxRecords: UInt64? = nil,
    maxBytes: UInt64? = nil
  ) {
    self.maxRecords = maxRecords
    self.maxBytes = maxBytes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Quota> {
    let m = arena.make(Caravan__V1__Quota.self, caravan__v1__quota__init)
    if let maxRecords { m.pointee.has_max_records = 1; m.pointee.max_records = maxRecords }
    if let maxBytes { m.pointee.has_max_bytes = 1; m.pointee.max_bytes = maxBytes }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Quota>) throws(WireError) {
    maxRecords = m.pointee.has_max_records != 0 ? m.pointee.max_records : nil
    maxBytes = m.pointee.has_max_bytes != 0 ? m.pointee.max_bytes : nil
  }

  static let shape = 84

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__quota__get_packed_size(m)) { caravan__v1__quota__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__quota__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QuotaRequest: WireMessage, Equatable {
  public var user: String
  public var container: String
  public var set: Quota?
  public var useDefault: Bool
  public var environment: String

  public init(
    user: String = "",
    container: String = "",
    set: Quota? = nil,
    useDefault: Bool = false,
    environment: String = ""
  ) {
    self.user = user
    self.container = container
    self.set = set
    self.useDefault = useDefault
    self.environment = environment
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QuotaRequest> {
    let m = arena.make(Caravan__V1__QuotaRequest.self, caravan__v1__quota_request__init)
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if let set { m.pointee.set = set.pack(into: &arena) }
    if useDefault { m.pointee.has_use_default = 1; m.pointee.use_default = useDefault ? 1 : 0 }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QuotaRequest>) throws(WireError) {
    user = try copyText(m.pointee.user)
    container = try copyText(m.pointee.container)
    set = if let p = m.pointee.set { try Quota(c: p) } else { nil }
    useDefault = m.pointee.has_use_default != 0 ? m.pointee.use_default != 0 : false
    environment = try copyText(m.pointee.environment)
  }

  static let shape = 85

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__quota_request__get_packed_size(m)) { caravan__v1__quota_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__quota_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QuotaReply: WireMessage, Equatable {
  public var records: UInt64
  public var bytes: UInt64
  public var quota: Quota?
  public var isDefault: Bool

  public init(
    records: UInt64 = 0,
    bytes: UInt64 = 0,
    quota: Quota? = nil,
    isDefault: Bool = false
  ) {
    self.records = records
    self.bytes = bytes
    self.quota = quota
    self.isDefault = isDefault
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QuotaReply> {
    let m = arena.make(Caravan__V1__QuotaReply.self, caravan__v1__quota_reply__init)
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if let quota { m.pointee.quota = quota.pack(into: &arena) }
    if isDefault { m.pointee.has_is_default = 1; m.pointee.is_default = isDefault ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QuotaReply>) throws(WireError) {
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    quota = if let p = m.pointee.quota { try Quota(c: p) } else { nil }
    isDefault = m.pointee.has_is_default != 0 ? m.pointee.is_default != 0 : false
  }

  static let shape = 86

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__quota_reply__get_packed_size(m)) { caravan__v1__quota_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__quota_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DelayedAction: WireMessage, Equatable {
  public enum Target: Sendable, Equatable {
    case zone(ZoneRef)
    case user(String)
  }

  public var incarnation: UInt64
  public var requestedBy: String
  public var requestedMilliseconds: UInt64
  public var dueMilliseconds: UInt64
  public var begun: Bool
  public var target: Target?

  public init(
    incarnation: UInt64 = 0,
    requestedBy: String = "",
    requestedMilliseconds: UInt64 = 0,
    dueMilliseconds: UInt64 = 0,
    begun: Bool = false,
    target: Target? = nil
  ) {
    self.incarnation = incarnation
    self.requestedBy = requestedBy
    self.requestedMilliseconds = requestedMilliseconds
    self.dueMilliseconds = dueMilliseconds
    self.begun = begun
    self.target = target
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DelayedAction> {
    let m = arena.make(Caravan__V1__DelayedAction.self, caravan__v1__delayed_action__init)
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !requestedBy.isEmpty { m.pointee.requested_by = arena.string(requestedBy) }
    if requestedMilliseconds != 0 {
      m.pointee.has_requested_milliseconds = 1
      m.pointee.requested_milliseconds = requestedMilliseconds
    }
    if dueMilliseconds != 0 { m.pointee.has_due_milliseconds = 1; m.pointee.due_milliseconds = dueMilliseconds }
    if begun { m.pointee.has_begun = 1; m.pointee.begun = begun ? 1 : 0 }
    switch target {
    case .zone(let value):
      m.pointee.target_case = CARAVAN__V1__DELAYED_ACTION__TARGET_ZONE
      m.pointee.zone = value.pack(into: &arena)
    case .user(let value):
      m.pointee.target_case = CARAVAN__V1__DELAYED_ACTION__TARGET_USER
      m.pointee.user = arena.string(value)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DelayedAction>) throws(WireError) {
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    requestedBy = try copyText(m.pointee.requested_by)
    requestedMilliseconds = m.pointee.has_requested_milliseconds != 0 ? m.pointee.requested_milliseconds : 0
    dueMilliseconds = m.pointee.has_due_milliseconds != 0 ? m.pointee.due_milliseconds : 0
    begun = m.pointee.has_begun != 0 ? m.pointee.begun != 0 : false
    switch m.pointee.target_case {
    case CARAVAN__V1__DELAYED_ACTION__TARGET_ZONE: target = .zone(try ZoneRef(c: m.pointee.zone))
    case CARAVAN__V1__DELAYED_ACTION__TARGET_USER: target = .user(try copyText(m.pointee.user))
    default: target = nil
    }
  }

  static let shape = 87

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__delayed_action__get_packed_size(m)) { caravan__v1__delayed_action__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__delayed_action__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ScheduleRequest: WireMessage, Equatable {
  public var action: DelayedAction?
  public var graceMilliseconds: UInt64

  public init(
    action: DelayedAction? = nil,
    graceMilliseconds: UInt64 = 0
  ) {
    self.action = action
    self.graceMilliseconds = graceMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ScheduleRequest> {
    let m = arena.make(Caravan__V1__ScheduleRequest.self, caravan__v1__schedule_request__init)
    if let action { m.pointee.action = action.pack(into: &arena) }
    if graceMilliseconds != 0 { m.pointee.has_grace_milliseconds = 1; m.pointee.grace_milliseconds = graceMilliseconds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ScheduleRequest>) throws(WireError) {
    action = if let p = m.pointee.action { try DelayedAction(c: p) } else { nil }
    graceMilliseconds = m.pointee.has_grace_milliseconds != 0 ? m.pointee.grace_milliseconds : 0
  }

  static let shape = 88

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schedule_request__get_packed_size(m)) { caravan__v1__schedule_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schedule_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ScheduleReply: WireMessage, Equatable {
  public var action: DelayedAction?

  public init(
    action: DelayedAction? = nil
  ) {
    self.action = action
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ScheduleReply> {
    let m = arena.make(Caravan__V1__ScheduleReply.self, caravan__v1__schedule_reply__init)
    if let action { m.pointee.action = action.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ScheduleReply>) throws(WireError) {
    action = if let p = m.pointee.action { try DelayedAction(c: p) } else { nil }
  }

  static let shape = 89

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schedule_reply__get_packed_size(m)) { caravan__v1__schedule_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schedule_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CancelRequest: WireMessage, Equatable {
  public var action: DelayedAction?

  public init(
    action: DelayedAction? = nil
  ) {
    self.action = action
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CancelRequest> {
    let m = arena.make(Caravan__V1__CancelRequest.self, caravan__v1__cancel_request__init)
    if let action { m.pointee.action = action.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CancelRequest>) throws(WireError) {
    action = if let p = m.pointee.action { try DelayedAction(c: p) } else { nil }
  }

  static let shape = 90

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cancel_request__get_packed_size(m)) { caravan__v1__cancel_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cancel_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CancelReply: WireMessage, Equatable {
  public var action: DelayedAction?

  public init(
    action: DelayedAction? = nil
  ) {
    self.action = action
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CancelReply> {
    let m = arena.make(Caravan__V1__CancelReply.self, caravan__v1__cancel_reply__init)
    if let action { m.pointee.action = action.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CancelReply>) throws(WireError) {
    action = if let p = m.pointee.action { try DelayedAction(c: p) } else { nil }
  }

  static let shape = 91

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__cancel_reply__get_packed_size(m)) { caravan__v1__cancel_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__cancel_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListActionsReply: WireMessage, Equatable {
  public var actions: [DelayedAction]
  public var more: Bool

  public init(
    actions: [DelayedAction] = [],
    more: Bool = false
  ) {
    self.actions = actions
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListActionsReply> {
    let m = arena.make(Caravan__V1__ListActionsReply.self, caravan__v1__list_actions_reply__init)
    (m.pointee.n_actions, m.pointee.actions) = arena.messages(actions) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListActionsReply>) throws(WireError) {
    actions = try copyMessages(m.pointee.n_actions, m.pointee.actions) { (p) throws(WireError) in
      try DelayedAction(c: p)
    }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 92

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_actions_reply__get_packed_size(m)) { caravan__v1__list_actions_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_actions_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MoveRequest: WireMessage, Equatable {
  public var user: String
  public var to: String

  public init(
    user: String = "",
    to: String = ""
  ) {
    self.user = user
    self.to = to
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MoveRequest> {
    let m = arena.make(Caravan__V1__MoveRequest.self, caravan__v1__move_request__init)
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if !to.isEmpty { m.pointee.to = arena.string(to) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MoveRequest>) throws(WireError) {
    user = try copyText(m.pointee.user)
    to = try copyText(m.pointee.to)
  }

  static let shape = 93

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__move_request__get_packed_size(m)) { caravan__v1__move_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__move_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MoveReply: WireMessage, Equatable {
  public var store: String
  public var to: String
  public var leaving: String
  public var records: UInt64
  public var chunks: UInt64
  public var bytes: UInt64
  public var heldMilliseconds: UInt64
  public var attempts: UInt32
  public var problem: String

  public init(
    store: String = "",
    to: String = "",
    leaving: String = "",
    records: UInt64 = 0,
    chunks: UInt64 = 0,
    bytes: UInt64 = 0,
    heldMilliseconds: UInt64 = 0,
    attempts: UInt32 = 0,
    problem: String = ""
  ) {
    self.store = store
    self.to = to
    self.leaving = leaving
    self.records = records
    self.chunks = chunks
    self.bytes = bytes
    self.heldMilliseconds = heldMilliseconds
    self.attempts = attempts
    self.problem = problem
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MoveReply> {
    let m = arena.make(Caravan__V1__MoveReply.self, caravan__v1__move_reply__init)
    if !store.isEmpty { m.pointee.store = arena.string(store) }
    if !to.isEmpty { m.pointee.to = arena.string(to) }
    if !leaving.isEmpty { m.pointee.leaving = arena.string(leaving) }
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if chunks != 0 { m.pointee.has_chunks = 1; m.pointee.chunks = chunks }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if heldMilliseconds != 0 { m.pointee.has_held_milliseconds = 1; m.pointee.held_milliseconds = heldMilliseconds }
    if attempts != 0 { m.pointee.has_attempts = 1; m.pointee.attempts = attempts }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MoveReply>) throws(WireError) {
    store = try copyText(m.pointee.store)
    to = try copyText(m.pointee.to)
    leaving = try copyText(m.pointee.leaving)
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    chunks = m.pointee.has_chunks != 0 ? m.pointee.chunks : 0
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    heldMilliseconds = m.pointee.has_held_milliseconds != 0 ? m.pointee.held_milliseconds : 0
    attempts = m.pointee.has_attempts != 0 ? m.pointee.attempts : 0
    problem = try copyText(m.pointee.problem)
  }

  static let shape = 94

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__move_reply__get_packed_size(m)) { caravan__v1__move_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__move_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DamageRequest: WireMessage, Equatable {
  public var owner: String
  public var records: Bool
  public var maxChunks: UInt32

  public init(
    owner: String = "",
    records: Bool = false,
    maxChunks: UInt32 = 0
  ) {
    self.owner = owner
    self.records = records
    self.maxChunks = maxChunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DamageRequest> {
    let m = arena.make(Caravan__V1__DamageRequest.self, caravan__v1__damage_request__init)
    if !owner.isEmpty { m.pointee.owner = arena.string(owner) }
    if records { m.pointee.has_records = 1; m.pointee.records = records ? 1 : 0 }
    if maxChunks != 0 { m.pointee.has_max_chunks = 1; m.pointee.max_chunks = maxChunks }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DamageRequest>) throws(WireError) {
    owner = try copyText(m.pointee.owner)
    records = m.pointee.has_records != 0 ? m.pointee.records != 0 : false
    maxChunks = m.pointee.has_max_chunks != 0 ? m.pointee.max_chunks : 0
  }

  static let shape = 95

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__damage_request__get_packed_size(m)) { caravan__v1__damage_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__damage_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RecordDamage: WireMessage, Equatable {
  public var zone: String
  public var name: String

  public init(
    zone: String = "",
    name: String = ""
  ) {
    self.zone = zone
    self.name = name
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RecordDamage> {
    let m = arena.make(Caravan__V1__RecordDamage.self, caravan__v1__record_damage__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RecordDamage>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    name = try copyText(m.pointee.name)
  }

  static let shape = 96

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__record_damage__get_packed_size(m)) { caravan__v1__record_damage__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__record_damage__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChunkDamage: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var hash: [UInt8]
  public var size: UInt64
  public var foundMilliseconds: UInt64
  public var records: [RecordDamage]

  public init(
    database: DatabaseRef? = nil,
    hash: [UInt8] = [],
    size: UInt64 = 0,
    foundMilliseconds: UInt64 = 0,
    records: [RecordDamage] = []
  ) {
    self.database = database
    self.hash = hash
    self.size = size
    self.foundMilliseconds = foundMilliseconds
    self.records = records
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChunkDamage> {
    let m = arena.make(Caravan__V1__ChunkDamage.self, caravan__v1__chunk_damage__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !hash.isEmpty { m.pointee.has_hash = 1; m.pointee.hash = arena.bytes(hash) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    if foundMilliseconds != 0 { m.pointee.has_found_milliseconds = 1; m.pointee.found_milliseconds = foundMilliseconds }
    (m.pointee.n_records, m.pointee.records) = arena.messages(records) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChunkDamage>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    hash = m.pointee.has_hash != 0 ? copyBytes(m.pointee.hash) : []
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
    foundMilliseconds = m.pointee.has_found_milliseconds != 0 ? m.pointee.found_milliseconds : 0
    records = try copyMessages(m.pointee.n_records, m.pointee.records) { (p) throws(WireError) in
      try RecordDamage(c: p)
    }
  }

  static let shape = 97

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__chunk_damage__get_packed_size(m)) { caravan__v1__chunk_damage__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__chunk_damage__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct BodyDamage: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var name: String
  public var version: UInt64
  public var size: UInt64
  public var foundMilliseconds: UInt64

  public init(
    zone: ZoneRef? = nil,
    name: String = "",
    version: UInt64 = 0,
    size: UInt64 = 0,
    foundMilliseconds: UInt64 = 0
  ) {
    self.zone = zone
    self.name = name
    self.version = version
    self.size = size
    self.foundMilliseconds = foundMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__BodyDamage> {
    let m = arena.make(Caravan__V1__BodyDamage.self, caravan__v1__body_damage__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    if foundMilliseconds != 0 { m.pointee.has_found_milliseconds = 1; m.pointee.found_milliseconds = foundMilliseconds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__BodyDamage>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    name = try copyText(m.pointee.name)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
    foundMilliseconds = m.pointee.has_found_milliseconds != 0 ? m.pointee.found_milliseconds : 0
  }

  static let shape = 98

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__body_damage__get_packed_size(m)) { caravan__v1__body_damage__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__body_damage__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DamageReply: WireMessage, Equatable {
  public var chunks: [ChunkDamage]
  public var bodies: [BodyDamage]

  public init(
    chunks: [ChunkDamage] = [],
    bodies: [BodyDamage] = []
  ) {
    self.chunks = chunks
    self.bodies = bodies
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DamageReply> {
    let m = arena.make(Caravan__V1__DamageReply.self, caravan__v1__damage_reply__init)
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    (m.pointee.n_bodies, m.pointee.bodies) = arena.messages(bodies) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DamageReply>) throws(WireError) {
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try ChunkDamage(c: p) }
    bodies = try copyMessages(m.pointee.n_bodies, m.pointee.bodies) { (p) throws(WireError) in try BodyDamage(c: p) }
  }

  static let shape = 99

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__damage_reply__get_packed_size(m)) { caravan__v1__damage_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__damage_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ClockRequest: WireMessage, Equatable {
  public var accept: Bool

  public init(
    accept: Bool = false
  ) {
    self.accept = accept
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ClockRequest> {
    let m = arena.make(Caravan__V1__ClockRequest.self, caravan__v1__clock_request__init)
    if accept { m.pointee.has_accept = 1; m.pointee.accept = accept ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ClockRequest>) throws(WireError) {
    accept = m.pointee.has_accept != 0 ? m.pointee.accept != 0 : false
  }

  static let shape = 100

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__clock_request__get_packed_size(m)) { caravan__v1__clock_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__clock_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ClockReply: WireMessage, Equatable {
  public var machineMilliseconds: UInt64
  public var storageMilliseconds: UInt64
  public var problem: String

  public init(
    machineMilliseconds: UInt64 = 0,
    storageMilliseconds: UInt64 = 0,
    problem: String = ""
  ) {
    self.machineMilliseconds = machineMilliseconds
    self.storageMilliseconds = storageMilliseconds
    self.problem = problem
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ClockReply> {
    let m = arena.make(Caravan__V1__ClockReply.self, caravan__v1__clock_reply__init)
    if machineMilliseconds != 0 {
      m.pointee.has_machine_milliseconds = 1
      m.pointee.machine_milliseconds = machineMilliseconds
    }
    if storageMilliseconds != 0 {
      m.pointee.has_storage_milliseconds = 1
      m.pointee.storage_milliseconds = storageMilliseconds
    }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ClockReply>) throws(WireError) {
    machineMilliseconds = m.pointee.has_machine_milliseconds != 0 ? m.pointee.machine_milliseconds : 0
    storageMilliseconds = m.pointee.has_storage_milliseconds != 0 ? m.pointee.storage_milliseconds : 0
    problem = try copyText(m.pointee.problem)
  }

  static let shape = 101

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__clock_reply__get_packed_size(m)) { caravan__v1__clock_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__clock_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StorageStatus: WireMessage, Equatable {
  public var zones: UInt64
  public var records: UInt64
  public var chunks: UInt64
  public var chunkBytes: UInt64
  public var objectsWaiting: UInt64
  public var objectsFailing: UInt64
  public var objectsRefused: UInt64
  public var objectProblem: String
  public var damagedChunks: UInt64
  public var damagedRecords: UInt64
  public var clockProblem: String

  public init(
    zones: UInt64 = 0,
    records: UInt64 = 0,
    chunks: UInt64 = 0,
    chunkBytes: UInt64 = 0,
    objectsWaiting: UInt64 = 0,
    objectsFailing: UInt64 = 0,
    objectsRefused: UInt64 = 0,
    objectProblem: String = "",
    damagedChunks: UInt64 = 0,
    damagedRecords: UInt64 = 0,
    clockProblem: String = ""
  ) {
    self.zones = zones
    self.records = records
    self.chunks = chunks
    self.chunkBytes = chunkBytes
    self.objectsWaiting = objectsWaiting
    self.objectsFailing = objectsFailing
    self.objectsRefused = objectsRefused
    self.objectProblem = objectProblem
    self.damagedChunks = damagedChunks
    self.damagedRecords = damagedRecords
    self.clockProblem = clockProblem
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StorageStatus> {
    let m = arena.make(Caravan__V1__StorageStatus.self, caravan__v1__storage_status__init)
    if zones != 0 { m.pointee.has_zones = 1; m.pointee.zones = zones }
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if chunks != 0 { m.pointee.has_chunks = 1; m.pointee.chunks = chunks }
    if chunkBytes != 0 { m.pointee.has_chunk_bytes = 1; m.pointee.chunk_bytes = chunkBytes }
    if objectsWaiting != 0 { m.pointee.has_objects_waiting = 1; m.pointee.objects_waiting = objectsWaiting }
    if objectsFailing != 0 { m.pointee.has_objects_failing = 1; m.pointee.objects_failing = objectsFailing }
    if objectsRefused != 0 { m.pointee.has_objects_refused = 1; m.pointee.objects_refused = objectsRefused }
    if !objectProblem.isEmpty { m.pointee.object_problem = arena.string(objectProblem) }
    if damagedChunks != 0 { m.pointee.has_damaged_chunks = 1; m.pointee.damaged_chunks = damagedChunks }
    if damagedRecords != 0 { m.pointee.has_damaged_records = 1; m.pointee.damaged_records = damagedRecords }
    if !clockProblem.isEmpty { m.pointee.clock_problem = arena.string(clockProblem) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StorageStatus>) throws(WireError) {
    zones = m.pointee.has_zones != 0 ? m.pointee.zones : 0
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    chunks = m.pointee.has_chunks != 0 ? m.pointee.chunks : 0
    chunkBytes = m.pointee.has_chunk_bytes != 0 ? m.pointee.chunk_bytes : 0
    objectsWaiting = m.pointee.has_objects_waiting != 0 ? m.pointee.objects_waiting : 0
    objectsFailing = m.pointee.has_objects_failing != 0 ? m.pointee.objects_failing : 0
    objectsRefused = m.pointee.has_objects_refused != 0 ? m.pointee.objects_refused : 0
    objectProblem = try copyText(m.pointee.object_problem)
    damagedChunks = m.pointee.has_damaged_chunks != 0 ? m.pointee.damaged_chunks : 0
    damagedRecords = m.pointee.has_damaged_records != 0 ? m.pointee.damaged_records : 0
    clockProblem = try copyText(m.pointee.clock_problem)
  }

  static let shape = 102

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__storage_status__get_packed_size(m)) { caravan__v1__storage_status__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__storage_status__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Empty: WireMessage, Equatable {

  public init() {}

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Empty> {
    let m = arena.make(Caravan__V1__Empty.self, caravan__v1__empty__init)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Empty>) throws(WireError) {
  }

  static let shape = 103

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__empty__get_packed_size(m)) { caravan__v1__empty__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__empty__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
