public import CaravanModel

/// One call that one client made on one zone, and what came of it: what the histories are made of that
/// `ZoneHistory` holds against the promises of CK-22 and CK-23.
public struct ZoneCall: Sendable, Hashable {
  public var process: String
  /// Of a clock that all processes share.
  public var invoked: UInt64
  /// nil: the caller never heard of it.
  public var returned: UInt64?
  public var request: Request
  public var answer: Answer
  /// It was sent more than once under its op id, so what it shows of records may be newer than what it did.
  public var isRetried: Bool

  public init(
    _ process: String, invoked: UInt64, returned: UInt64?, _ request: Request, _ answer: Answer, isRetried: Bool = false
  ) {
    self.process = process
    self.invoked = invoked
    self.returned = returned
    self.request = request
    self.answer = answer
    self.isRetried = isRetried
  }

  public enum Request: Sendable, Hashable {
    /// Names stand once.
    case commit([Change], isAtomic: Bool)
    case fetch([String])
    /// One page of changes.
    case pull(after: Seq)
  }

  public struct Change: Sendable, Hashable {
    public enum Action: Sendable, Hashable {
      /// A value that no other save of the history has.
      case save(String)
      case delete
      case read
    }

    public var name: String
    public var base: Base
    public var action: Action

    public init(_ name: String, _ base: Base, _ action: Action) {
      self.name = name
      self.base = base
      self.action = action
    }
  }

  public enum Answer: Sendable, Hashable {
    /// Nobody knows: it happened, still will, or never does.
    case unknown
    /// Nothing of it happened, nor ever will.
    case failed
    /// - Parameter seq: of the zone after the commit.
    case committed([Verdict], seq: Seq)
    /// What there is of the names asked for, tombstones too.
    case fetched([Observation])
    case pulled(Page)
  }

  /// One for each change.
  public enum Verdict: Sendable, Hashable {
    case accepted(version: Seq)
    case conflict(Observation?)
    case aborted
    /// nil: there is no such record, or a tombstone.
    case read(Observation?)
    case refused
  }

  /// A record as an answer shows it.
  public struct Observation: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
      case value(String)
      case tombstone
    }

    public var name: String
    public var version: Seq
    public var content: Content

    public init(_ name: String, _ version: Seq, _ content: Content) {
      self.name = name
      self.version = version
      self.content = content
    }
  }

  public struct Page: Sendable, Hashable {
    public var entries: [Observation]
    /// Position after the page.
    public var last: Seq
    /// Of the zone when the page was made; nil: the answer does not say.
    public var head: Seq?
    public var more: Bool

    public init(_ entries: [Observation], last: Seq, head: Seq? = nil, more: Bool = false) {
      self.entries = entries
      self.last = last
      self.head = head
      self.more = more
    }
  }
}

extension ZoneCall {
  /// The commit's changes, each with its verdict; empty for everything but a commit that was answered.
  var decided: [(change: Change, verdict: Verdict)] {
    guard case .commit(let changes, _) = request, case .committed(let verdicts, _) = answer else { return [] }
    return Array(zip(changes, verdicts))
  }

  /// Changes that may have happened, or may not.
  var doubtful: [Change] {
    guard case .commit(let changes, _) = request, answer == .unknown else { return [] }
    return changes.filter { $0.action != .read }
  }

  /// Everything that the answer shows of records.
  var observations: [Observation] {
    switch answer {
    case .unknown, .failed: []
    case .committed(let verdicts, _):
      verdicts.compactMap {
        switch $0 {
        case .conflict(let observation), .read(let observation): observation
        case .accepted, .aborted, .refused: nil
        }
      }
    case .fetched(let observations): observations
    case .pulled(let page): page.entries
    }
  }
}

extension ZoneCall: CustomStringConvertible {
  public var description: String {
    "\(process) [\(invoked), \(returned.map { "\($0)" } ?? "…")] \(request) → \(answer)\(isRetried ? ", retried" : "")"
  }
}

extension ZoneCall.Request: CustomStringConvertible {
  public var description: String {
    switch self {
    case .commit(let changes, let isAtomic):
      "\(isAtomic ? "batch" : "commit")(\(changes.map(\.description).joined(separator: ", ")))"
    case .fetch(let names): "fetch(\(names.joined(separator: ", ")))"
    case .pull(let after): "pull(after \(after))"
    }
  }
}

extension ZoneCall.Change: CustomStringConvertible {
  public var description: String {
    let base =
      switch base {
      case .any: ""
      case .absent: " over nothing"
      case .version(let version): " over \(version)"
      }
    return switch action {
    case .save(let value): "\(name)=\(value)\(base)"
    case .delete: "delete \(name)\(base)"
    case .read: "read \(name)\(base)"
    }
  }
}

extension ZoneCall.Observation: CustomStringConvertible {
  public var description: String {
    switch content {
    case .value(let value): "\(name)@\(version)=\(value)"
    case .tombstone: "\(name)@\(version) deleted"
    }
  }
}
