internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanWire

extension ProposeTable {
  /// Settings are the cloud's to say: those in the proposal are what the device learnt from it.
  init(proposing type: CaravanModel.RecordType, for table: TableID) {
    self.init(container: table.app.text, type: CaravanWire.RecordType(type), remembered: true)
  }
}

extension FramePacking.Load {
  /// What an operation takes of a frame, a little more than less.
  init(_ operation: Operation.Kind) {
    switch operation {
    case .push(let push):
      self.init(bytes: push.chunks.reduce(Self.bytes(push.mutations)) { $0 + 48 + $1.bases.count + $1.data.count })
    case .upload(let part): self.init(bytes: Self.bytes(part.mutations))
    case .pull(let pull):
      self.init(bytes: pull.filter.reduce(192 + pull.token.count) { $0 + 4 + $1.encoded().count }, isPull: true)
    case .hello(let hello): self.init(bytes: hello.tokens.reduce(128) { $0 + 8 + $1.count })
    case .subscribe(let list): self.init(bytes: 64 + 224 * list.subscriptions.count)
    case .query(let question): self.init(bytes: 256 + question.request.count, isPull: true)
    case .subscriptions(let question): self.init(bytes: 256 + question.request.count, isPull: true)
    case .pushTargets(let question): self.init(bytes: 256 + question.request.count, isPull: true)
    case .propose(let proposal): self.init(bytes: 256 + 288 * (proposal.type?.fields.count ?? 0))
    case .read(let read):
      self.init(bytes: read.names.reduce(192 + 5 * read.fields.count) { $0 + 4 + $1.utf8.count }, isPull: true)
    case .settle, .ack, .ticket, .drop, .zones, .changedZones, .createZone, .whoAmI, .schema:
      self.init(bytes: 256)
    case .lock, .unlock, .beginGroup, .commitGroup, .operation, .removeOperation: self.init(bytes: 256)
    // Not an agent's to send.
    case .syncBegin, .syncContinue: self.init(bytes: 256)
    }
  }

  private static func bytes(_ mutations: [CaravanWire.Mutation]) -> Int {
    mutations.reduce(128) {
      $0 + 56 + $1.name.utf8.count + $1.body.count + $1.ancestor.count + 16 * $1.fieldStamps.count
    }
  }
}
