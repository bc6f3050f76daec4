import CaravanCompression
import CaravanModel
import CaravanSyncCore
import CaravanWire

extension FuzzTarget {
  /// What goes up and down between device and cloud, as a whole.
  static let frames: [FuzzTarget] = [
    FuzzTarget("frame", seeds: frameSeeds) { bytes in
      try FrameCheck.message(bytes: bytes.count)
      let frame = try Frame.decode(bytes)
      let stated = Int(frame.plainBytes)
      let isCompressed = frame.compression == .zstd
      try FrameCheck.envelope(plainBytes: stated, bodyBytes: frame.body.count, isCompressed: isCompressed)
      let plain = isCompressed ? try decompress(frame.body, limit: stated) : frame.body
      CostMeter.holds(plain.count)
      try hold(plain.count <= stated, "a frame gave \(plain.count) bytes where it states \(stated)")
      try FrameCheck.plain(plain.count, stated: stated)
      let exchange = try Exchange.decode(plain)
      try hold(
        try sure { try Exchange(decoding: exchange.encoded()) } == exchange, "an exchange is read again as another")
    },
    FuzzTarget("reply", seeds: replySeeds) { bytes in
      let reply = try ExchangeReply.decode(bytes)
      try hold(try sure { try ExchangeReply(decoding: reply.encoded()) } == reply, "a reply is read again as another")
      for result in reply.results {
        switch result.kind {
        case .commit(let commit): _ = try commit.model()
        case .failure(let failure): _ = failure.model()
        case .type(let type): _ = try type.model()
        case .pull(let pull): _ = try EntryPage.decode(pull.page).entries.map { $0.model() }
        case .records(let records): _ = records.entries.map { $0.model() }
        default: continue
        }
      }
    },
    FuzzTarget("patch", seeds: [Samples.compressed(Samples.body), Samples.compressed([])]) { bytes in
      // A patch comes with the chunks that it is of.
      var decompressor = try decompressor()
      let made = try decompressor.apply(bytes, to: Samples.body, limit: 1 << 16)
      CostMeter.holds(made.count)
      try hold(made.count <= 1 << 16, "a patch made \(made.count) bytes")
    },
    FuzzTarget("zstd", seeds: [Samples.compressed(Samples.body)]) { bytes in
      let plain = try decompress(bytes, limit: 1 << 16)
      CostMeter.holds(plain.count)
      try hold(plain.count <= 1 << 16, "a frame made \(plain.count) bytes")
    },
  ]

  private static func decompress(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    var decompressor = try decompressor()
    return try decompressor.decompress(bytes, limit: limit)
  }

  /// A process has one for all frames.
  private static func decompressor() throws -> Decompressor { try CostMeter.unmetered { try Decompressor() } }

  private static var frameSeeds: [[UInt8]] {
    let plain = Samples.exchange.encoded()
    return [
      Frame(plainBytes: UInt32(plain.count), body: plain).encoded(),
      Frame(compression: .zstd, plainBytes: UInt32(plain.count), body: Samples.compressed(plain)).encoded(),
    ]
  }

  private static var replySeeds: [[UInt8]] {
    let outcomes: [CaravanModel.Outcome] = [
      .accepted(version: 4), .conflict(server: Samples.entry), .aborted, .merged(version: 5, server: Samples.entry),
      .read(nil), .refused(CaravanError(.referenceViolation, "no")),
    ]
    let page = EntryPage(entries: [CaravanWire.Entry(Samples.entry)]).encoded()
    let results: [CaravanWire.Result.Kind] = [
      .commit(CommitReply(.applied(outcomes: outcomes, zoneSeq: 9, incarnation: 1))),
      .commit(CommitReply(.missing(Samples.hash.map { [$0] } ?? []))),
      .failure(Failure(CaravanError(.serverBusy, "later", retryAfterMilliseconds: 5))),
      .type(CaravanWire.RecordType(Samples.type)), .pull(PullResult(page: page, token: [1], more: true)),
      .records(RecordsResult(entries: [CaravanWire.Entry(Samples.entry)], answered: 1)),
    ]
    return [ExchangeReply(results: results.map { CaravanWire.Result(kind: $0) }).encoded()]
  }
}
