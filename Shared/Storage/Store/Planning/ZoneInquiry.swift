public import CaravanModel

/// What the planner must know of a zone. A store answers all of one question at once.
public struct ZoneQuestions: Sendable, Hashable {
  /// Records whose heads are wanted.
  public var heads: [String] = []
  /// Records whose entries are wanted, tombstones too.
  public var entries: [String] = []
  /// Records of which is wanted who refers to them, by owning or validating references; at most
  /// `StoreLimits.referrersAsked` of each.
  public var referrers: [String] = []
  /// Chunks of which is wanted whether the database has them.
  public var chunks: [ChunkHash] = []
  /// Chunks whose bytes are wanted: they list those of large objects.
  public var lists: [ChunkHash] = []
  /// Whether the zone's past is wanted, if there is one.
  public var past = false

  public init() {}

  public var isEmpty: Bool {
    heads.isEmpty && entries.isEmpty && referrers.isEmpty && chunks.isEmpty && lists.isEmpty && !past
  }
}

/// What a store knows of a zone, as far as it was asked.
public struct ZoneFacts: Sendable, Hashable {
  /// Of the records that exist or left a tombstone, by name.
  public var heads: [String: RecordHead]
  public var entries: [String: Entry]
  /// By the record referred to.
  public var referrers: [String: [Referrer]]
  /// Chunks that the database lacks.
  public var lacking: Set<ChunkHash>
  /// Who is charged for the zone; nil: there is no limit to keep to (CK-102).
  public var account: AccountState?
  /// nil: no restore took anything from the zone.
  public var past: ZonePast?
  /// Names of writers who made records, where heads have their numbers. Only of public databases: who made a record of
  /// a private one decides nothing.
  public var makers: [Int64: String] = [:]
  /// Of the chunks that were asked about, those that the commit's user has not staged: in a public database, whether or
  /// not it has them.
  public var unstaged: Set<ChunkHash> = []
  /// Chunks of the records that a commit to a public database changes, by name.
  public var held: [String: [ChunkHash]] = [:]
  /// What lists name.
  private(set) var lists: [ChunkHash: [ChunkHash]] = [:]

  public init(
    heads: [String: RecordHead] = [:], entries: [String: Entry] = [:], referrers: [String: [Referrer]] = [:],
    lacking: Set<ChunkHash> = []
  ) {
    self.heads = heads
    self.entries = entries
    self.referrers = referrers
    self.lacking = lacking
  }

  /// - Throws: `invalidData` when the bytes are no list.
  public mutating func add(list: ChunkHash, bytes: [UInt8]) throws(CaravanError) {
    do throws(BodyProblem) { lists[list] = try BodyScanner.chunks(listedIn: bytes) } catch {
      throw CaravanError(.invalidData, "chunk \(list) lists the chunks of an object and is no list: write it again")
    }
  }
}

/// Finds out what a commit must know before it can be decided, in as few rounds as there are: one for plain saves, two
/// for merges and references, and one more for each generation of records that go with their owners (CK-27).
public struct ZoneInquiry: Sendable {
  private enum Stage {
    case beginning
    case details
    case lists
    case following
  }

  private let commit: Commit
  /// Unix milliseconds.
  private let now: Int64
  private var stage = Stage.beginning
  /// Records whose referrers were asked for in the round before.
  private var frontier: [String] = []
  private var asked: Set<String> = []

  public init(_ commit: Commit, now: Int64) {
    self.commit = commit
    self.now = now
  }

  /// - Parameter facts: the answers to all questions before.
  /// - Returns: what to find out next; nil: the commit can be decided.
  public mutating func next(knowing facts: ZoneFacts) -> ZoneQuestions? {
    switch stage {
    case .beginning:
      stage = .details
      return questions { $0.begin(commit) } ?? next(knowing: facts)
    case .details:
      stage = .lists
      let questions = details(facts)
      frontier = questions.referrers
      asked = Set(frontier)
      return questions.isEmpty ? nil : questions
    case .lists:
      stage = .following
      return follow(facts, asking: lists(facts))
    case .following: return follow(facts)
    }
  }

  /// What the first rounds may ask, for a store that would rather read too much than twice.
  public static func likely(_ commit: Commit) -> ZoneQuestions {
    var questions = ZoneQuestions()
    questions.begin(commit)
    for mutation in commit.mutations {
      let terms = mutation.terms
      if mutation.isDelete || terms?.references.contains(where: { $0.kind == .owning }) ?? false {
        questions.referrers.append(mutation.name)
      }
      if mutation.change == .read || terms?.needEntry ?? false || commit.dependsOnTypes {
        questions.entries.append(mutation.name)
      }
      for reference in terms?.references ?? [] { questions.heads.append(reference.target) }
    }
    return questions
  }

  private func questions(_ ask: (inout ZoneQuestions) -> Void) -> ZoneQuestions? {
    var questions = ZoneQuestions()
    ask(&questions)
    return questions.isEmpty ? nil : questions
  }

  private func details(_ facts: ZoneFacts) -> ZoneQuestions {
    var questions = ZoneQuestions()
    let deletes = commit.mutations.contains(where: \.isDelete)
    for mutation in commit.mutations {
      let head = facts.heads[mutation.name]
      switch mutation.base {
      case .version(let version) where head?.version != version && mutation.mayRegain: questions.past = true
      case .absent where mutation.isDelete && mutation.isOffer: questions.past = true
      case .version, .absent, .any: break
      }
      // What this commit gives an owner may go with it in this commit.
      let mayGo = mutation.isDelete || deletes && mutation.terms?.references.contains { $0.kind == .owning } ?? false
      if mayGo, head.map({ !$0.isDeleted }) ?? false { questions.referrers.append(mutation.name) }
      // What a conflict will show, unless it is damaged.
      if mutation.savesWhole, !(mutation.terms?.needEntry ?? false), let head, !mutation.mayFit(head, now: now) {
        questions.entries.append(mutation.name)
      }
      // Of which type a record is, only its entry says.
      if commit.dependsOnTypes, head != nil { questions.entries.append(mutation.name) }
      guard let terms = mutation.terms else { continue }
      if head != nil, terms.needEntry { questions.entries.append(mutation.name) }
      for reference in terms.references where facts.heads[reference.target] == nil {
        questions.heads.append(reference.target)
      }
    }
    return questions
  }

  /// Lists in records that are to be merged: what the whole will name cannot be told without them.
  private func lists(_ facts: ZoneFacts) -> [ChunkHash] {
    var lists: Set<ChunkHash> = []
    for mutation in commit.mutations {
      guard case .save(_, let body, _) = mutation.change, mutation.terms?.needEntry ?? false,
        let entry = facts.entries[mutation.name]
      else { continue }
      for part in [body, entry.body] {
        var scanner = BodyScanner()
        try? scanner.scan(part.span, against: nil)
        lists.formUnion(scanner.lists.map(\.hash))
      }
    }
    return lists.sorted()
  }

  /// The next generation: who is owned by what the last one found.
  private mutating func follow(_ facts: ZoneFacts, asking lists: [ChunkHash] = []) -> ZoneQuestions? {
    var questions = ZoneQuestions()
    questions.lists = lists
    for target in frontier {
      for referrer in facts.referrers[target] ?? [] where !asked.contains(referrer.name) {
        questions.heads.append(referrer.name)
        guard referrer.isOwning else { continue }
        asked.insert(referrer.name)
        questions.referrers.append(referrer.name)
      }
    }
    frontier = questions.referrers
    // More than a commit may delete: the planner refuses it without knowing the rest.
    if asked.count > commit.mutations.count + Limits.cascadedRecords { return nil }
    return questions.isEmpty ? nil : questions
  }
}

extension ZoneQuestions {
  fileprivate mutating func begin(_ commit: Commit) {
    heads.reserveCapacity(commit.mutations.count)
    var seen: Set<ChunkHash> = []
    for mutation in commit.mutations {
      heads.append(mutation.name)
      for hash in mutation.chunks where seen.insert(hash).inserted { chunks.append(hash) }
    }
  }
}

extension Mutation {
  fileprivate var isDelete: Bool {
    switch change {
    case .delete: true
    case .save, .read: false
    }
  }
}

extension Mutation {
  /// It says all that the record is to be, and depends on nothing that the record was.
  var savesWhole: Bool {
    guard case .save = change else { return false }
    return terms.map { $0.scope == .whole && $0.guards.isEmpty } ?? true
  }

  fileprivate func mayFit(_ head: RecordHead, now: Int64) -> Bool {
    switch base {
    case .any: true
    case .absent: !head.isLive(at: now)
    case .version(let version): head.version == version
    }
  }
}

extension WriteTerms {
  /// Whether a mutation with these terms depends on more than the head of its record.
  fileprivate var needEntry: Bool { scope != .whole || !guards.isEmpty || policy.keepsHistory }
}

extension ConflictPolicy {
  /// Whether the store decides conflicts of this policy.
  var keepsHistory: Bool {
    switch self {
    case .fieldMerge, .lastWriterWins, .deterministic: true
    case .manual, .serverExtension: false
    }
  }
}
