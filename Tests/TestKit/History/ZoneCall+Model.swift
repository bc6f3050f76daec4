public import CaravanModel
internal import CaravanWire

// Calls and answers as stores and services have them.

extension ZoneCall.Request {
  /// - Parameter value: what a body says.
  public init(_ commit: Commit, value: ([UInt8]) -> String = ZoneCall.text) {
    self = .commit(
      commit.mutations.map { mutation in
        let action: ZoneCall.Change.Action =
          switch mutation.change {
          case .save(_, let body, _): .save(value(body))
          case .delete: .delete
          case .read: .read
          }
        return ZoneCall.Change(mutation.name, mutation.base, action)
      }, isAtomic: commit.isAtomic)
  }
}

extension ZoneCall.Answer {
  public init(_ result: CommitResult, value: ([UInt8]) -> String = ZoneCall.text) {
    switch result {
    case .aborted, .missing: self = .failed
    case .applied(let outcomes, let seq, _, _):
      self = .committed(outcomes.map { ZoneCall.Verdict($0, value: value) }, seq: seq)
    }
  }

  public init(fetched entries: [CaravanModel.Entry], value: ([UInt8]) -> String = ZoneCall.text) {
    self = .fetched(entries.map { ZoneCall.Observation($0, value: value) })
  }
}

extension ZoneCall.Verdict {
  init(_ outcome: CaravanModel.Outcome, value: ([UInt8]) -> String) {
    switch outcome {
    case .accepted(let version): self = .accepted(version: version)
    case .conflict(let entry): self = .conflict(entry.map { ZoneCall.Observation($0, value: value) })
    case .read(let entry): self = .read(entry.map { ZoneCall.Observation($0, value: value) })
    case .aborted: self = .aborted
    case .merged, .refused: self = .refused
    }
  }
}

extension ZoneCall.Observation {
  public init(_ entry: CaravanModel.Entry, value: ([UInt8]) -> String = ZoneCall.text) {
    self.init(entry.name, entry.version, entry.isDeleted ? .tombstone : .value(value(entry.body)))
  }
}

extension ZoneCall.Page {
  /// - Parameter page: an encoded `EntryPage`.
  public init(
    page: [UInt8], last: Seq, head: Seq?, more: Bool, value: ([UInt8]) -> String = ZoneCall.text
  ) throws(CaravanError) {
    let entries = try EntryPage.decode(page).entries
    self.init(entries.map { ZoneCall.Observation($0.model(), value: value) }, last: last, head: head, more: more)
  }
}

extension ZoneCall {
  /// A record's body whose only field, 1, is a text.
  public static func body(_ text: String) -> [UInt8] { RecordFields([1: .text(text)]).body }

  /// What `body` was made of; empty for anything else.
  public static func text(_ body: [UInt8]) -> String {
    guard let record = try? RecordFields(body: body), case .text(let text) = record[1] else { return "" }
    return text
  }
}
