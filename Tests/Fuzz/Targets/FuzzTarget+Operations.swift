import CaravanModel
import CaravanStorageCore
import CaravanStore
import CaravanSyncCore
import CaravanWire

extension FuzzTarget {
  /// What is asked of sync and storage.
  static let operations: [FuzzTarget] = [
    FuzzTarget("exchange", seeds: [Samples.exchange.encoded()]) { bytes in
      let exchange = try Exchange.decode(bytes)
      try hold(
        try sure { try Exchange(decoding: exchange.encoded()) } == exchange, "an exchange is read again as another")
      for operation in exchange.operations {
        switch operation.kind {
        case .push(let push): try check(push)
        case .propose(let proposal): try check(proposal)
        default: continue
        }
      }
    },
    FuzzTarget("commit", seeds: commitSeeds) { bytes in
      let request = try CommitRequest.decode(bytes)
      let commit = try request.model()
      let again = try sure { try CommitRequest(decoding: CommitRequest(commit).encoded()).model() }
      try hold(again == commit, "a commit is read again as another: \(commit), \(again)")
      // Whatever it asks for, it can be decided, by a zone that knows nothing.
      var inquiry = ZoneInquiry(commit, now: 5)
      var rounds = 0
      while inquiry.next(knowing: ZoneFacts()) != nil { rounds += 1 }
      try hold(rounds < 8, "\(rounds) rounds of questions about nothing")
      let plan = ZoneCommit(zoneSeq: 7, now: 5).plan(commit)
      if case .decided(let writes, let verdicts, let seq) = plan {
        try hold(verdicts.count == commit.mutations.count, "\(verdicts.count) verdicts")
        try hold(seq == 7 + UInt64(writes.count), "\(writes.count) writes lead to \(seq)")
      }
    },
    FuzzTarget("mutation", seeds: Samples.mutations.map { CaravanWire.Mutation($0).encoded() }) { bytes in
      let mutation = try CaravanWire.Mutation.decode(bytes).model()
      let again = try sure { try CaravanWire.Mutation(decoding: CaravanWire.Mutation(mutation).encoded()).model() }
      try hold(again == mutation, "a mutation is read again as another: \(mutation), \(again)")
    },
    FuzzTarget("hint", seeds: hintSeeds) { bytes in
      let hint = try ChangeHint.decode(bytes)
      try hold(try sure { try ChangeHint(decoding: hint.encoded()) } == hint, "a hint is read again as another")
      for page in hint.pages { _ = try EntryPage.decode(page) }
      for log in hint.log { _ = try log.zone?.model() }
    },
    FuzzTarget("page", seeds: [EntryPage(entries: [CaravanWire.Entry(Samples.entry)]).encoded()]) { bytes in
      let page = try EntryPage.decode(bytes)
      let entries = page.entries.map { $0.model() }
      let again = try sure {
        try EntryPage(decoding: EntryPage(entries: entries.map { CaravanWire.Entry($0) }).encoded())
      }
      try hold(again.entries.map { $0.model() } == entries, "a page is read again as another")
    },
  ]

  private static func check(_ push: Push) throws {
    try PushCheck.batch(push.mutations.map(\.name))
    for mutation in push.mutations {
      _ = try PushCheck.save(mutation.name, body: mutation.body, against: Samples.type)
      try PushCheck.fields(mutation.name, mutation.guards, against: nil)
      _ = try mutation.model()
    }
  }

  private static func check(_ proposal: ProposeTable) throws {
    let type = try required(proposal.type, "type").model()
    try hold(try sure { try CaravanWire.RecordType(type).model() } == type, "a type is read again as another")
  }

  private static var commitSeeds: [[UInt8]] {
    guard let zone = try? ZoneID(Samples.database, "t") else { return [] }
    let op = OpID(writer: "phone", epoch: 1, number: 5)
    return [true, false].map {
      CommitRequest(Commit(zone: zone, op: op, opFloor: 2, isAtomic: $0, mutations: Samples.mutations)).encoded()
    }
  }

  private static var hintSeeds: [[UInt8]] {
    let page = EntryPage(entries: [CaravanWire.Entry(Samples.entry)]).encoded()
    let log = LogEntry(
      position: 8, zone: ZoneRef(database: DatabaseRef(Samples.database), zone: "t"), low: 2, high: 4, writer: "phone")
    return [ChangeHint(previous: 7, log: [log], pages: [page]).encoded()]
  }
}
