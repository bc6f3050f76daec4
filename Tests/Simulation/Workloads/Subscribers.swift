internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

/// Two who write numbered records and now and then lose a whole zone, and one who has subscribed to some of them and
/// asks for them too: what the log of notifications tells and what answers are is held against what the zones were
/// (CK-80, CK-82, CK-83, CK-86).
struct Subscribers: Rarity {
  static let container = "wires"
  private static let type = "wire"
  private static let zones = ["north", "south"]
  /// Of the first subscriptions.
  static let subscriptions = ["low", "all", "north", "zones"]
  /// Few, so that they come and go.
  private static let names = (0..<8).map { "w\($0)" }
  private static let numbers = 100
  /// By when all is told once the cloud is quiet.
  private static let patience: Duration = .seconds(900)

  private let suite: Suite
  private let writers: [Caller]
  private let subscriber: Caller
  private var dice: Dice
  private var field: UInt32 = 0
  private var typeID: UInt32 = 0
  private var op: UInt64 = 0
  private var pending: [WatchedQuery]
  private var recorder: Recorder { suite.ground.recorder }

  /// - Parameter user: nil: the first one.
  init(_ suite: Suite, of user: String? = nil, seed: UInt64) {
    self.suite = suite
    let suffix = user.map { "-\($0)" } ?? ""
    let user = user ?? suite.scale.users[0]
    writers = ["wirer-1", "wirer-2"].map { Caller($0 + suffix, of: user, in: .development, on: suite.ground) }
    subscriber = Caller("subscriber\(suffix)", of: user, in: .development, on: suite.ground)
    dice = Dice(seed: seed, "wires\(suffix)")
    pending = [
      WatchedQuery("low", .below(50, zone: nil)), WatchedQuery("all", .below(.max, zone: nil)),
      WatchedQuery("north", .below(20, zone: "north"), hearsChanges: false), WatchedQuery("zones", .zones),
    ]
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(200...4_000))) != nil else { return }
      guard clock.now < end, await agree() else { continue }
      for writer in writers where dice.happens(700) { await write(writer) }
      if dice.happens(60) { await drop(dice.pick(Self.zones)) }
      if dice.happens(300), let next = pending.first, await subscribe(next) { pending.removeFirst() }
      if pending.isEmpty, dice.happens(30) {
        pending = [WatchedQuery("low", .below(Int64(dice.within(10...90)), zone: nil))]
      }
      if dice.happens(400) { await ask() }
    }
  }

  /// Once all is quiet the subscriber comes to know all.
  mutating func conclude(_ clock: any Clock) async throws {
    let end = clock.now + Self.patience
    while clock.now < end {
      if Checker.subscribersKnow.check(recorder.history).isEmpty { break }
      try await clock.sleep(for: .seconds(5))
    }
    for caller in writers + [subscriber] { caller.bus.close() }
  }

  // MARK: Writing

  private mutating func agree() async -> Bool {
    guard typeID == 0 else { return true }
    let wire = CaravanModel.RecordType(
      id: 0, definition: 0, name: Self.type,
      fields: [CaravanModel.FieldDefinition(id: 0, name: "n", kind: .integer)])
    guard
      case .type(let made)? = await writers[0].insist(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(wire)))),
      let number = made.fields.first
    else { return false }
    (typeID, field) = (made.id, number.id)
    return true
  }

  private mutating func write(_ writer: Caller) async {
    op += 1
    let names = Set((0..<dice.within(1...3)).map { _ in dice.pick(Self.names) }).sorted()
    let mutations = names.map { name in
      guard !dice.happens(200) else { return CaravanWire.Mutation(name: name, kind: .delete) }
      let number = Value.integer(Int64(dice.below(Self.numbers)))
      return CaravanWire.Mutation(
        name: name, kind: .save, type: typeID, body: RecordFields([field: number]).body)
    }
    let push = Push(
      container: Self.container, zone: dice.pick(Self.zones), op: op, mutations: mutations, atomic: dice.happens(500))
    _ = await writer.insist(.push(push))
  }

  private func drop(_ name: String) async {
    let database = DatabaseID(
      container: ContainerID(unchecked: Self.container), environment: .development, owner: subscriber.user)
    guard let zone = try? ZoneID(database, name) else { return }
    recorder.note("zone \(name) of \(Self.container) is deleted at the cloud")
    _ = try? await suite.vault.store?.deleteZone(zone, writer: "operator")
  }

  // MARK: Reading

  private func watched(_ event: WatchEvent) { recorder.watched(event, by: subscriber.user.text) }

  private func subscribe(_ query: WatchedQuery) async -> Bool {
    watched(.changing(query.id))
    let request = SubscriptionsRequest(save: CaravanWire.StandingQuery(query.standing(Self.type)))
    guard
      case .subscriptions? = await subscriber.insist(
        .subscriptions(AskSubscriptions(container: Self.container, request: request.encoded())))
    else { return false }
    watched(.subscribed(query))
    return true
  }

  private mutating func ask() async {
    let zone = dice.pick(Self.zones)
    let query = WatchedQuery("asked", .below(Int64(dice.below(Self.numbers)), zone: zone))
    let hasSeen = dice.happens(500)
    let since = hasSeen ? recorder.history.watches[subscriber.user.text]?.count ?? 0 : 0
    var token: [UInt8] = []
    if hasSeen {
      guard let seen = await look(at: zone) else { return }
      token = seen
    }
    let database = DatabaseID(
      container: ContainerID(unchecked: Self.container), environment: .development, owner: subscriber.user)
    var asked = Query(database: database, type: Self.type, text: query.text)
    asked.zone = zone
    let question = AskQuery(
      container: Self.container, request: QueryRequest(asked).encoded(), token: token)
    guard case .query(let result)? = await subscriber.insist(.query(question)),
      let reply = try? QueryReply.decode(result.answer), reply.cursor.isEmpty
    else { return }
    let found = reply.hits.compactMap(\.entry).map { ($0.name, $0.version) }
    let answer = SeenAnswer(query, zone: zone, found: Dictionary(found) { $1 }, since: since)
    watched(.answered(answer))
  }

  /// - Returns: a token of all that the zone has; nil: it has nothing, and perhaps there is none.
  private func look(at zone: String) async -> [UInt8]? {
    var isEmpty = true
    var pull = Pull(container: Self.container, zone: zone, fresh: true)
    while case .pull(let page)? = await subscriber.insist(.pull(pull)), !page.resetRequired {
      if let entries = try? EntryPage.decode(page.page).entries, !entries.isEmpty { isEmpty = false }
      if !page.more { return isEmpty ? nil : page.token }
      pull = Pull(container: Self.container, zone: zone, token: page.token)
    }
    return nil
  }
}

extension WatchedQuery {
  fileprivate var text: CaravanModel.Query.Text? {
    guard case .below(let end, _) = subject, end < .max else { return nil }
    return Query.Text("n < ?", arguments: [.integer(end)])
  }

  fileprivate func standing(_ type: String) -> CaravanModel.StandingQuery {
    switch subject {
    case .zones: CaravanModel.StandingQuery(id: id, .zones)
    case .below(_, let zone):
      CaravanModel.StandingQuery(
        id: id,
        .records(type: type, text: text, zone: zone, hearsChanges ? .all : [.enters, .leaves]))
    }
  }
}

extension Recorder {
  /// What a commit to the subscriber's databases means to who watches them.
  static func watched(_ change: CommittedChange) -> [WatchEvent] {
    let log = change.log
    guard log.zone.database.container.text == Subscribers.container else { return [] }
    if log.zone.name == NotificationLog.name { return change.entries.compactMap(told).map { .told($0) } }
    guard log.zone.name != SubscriptionZone.name else { return [] }
    if log.isDeletion { return [.deletedZone(log.zone.name)] }
    let records = change.entries.map { entry in
      WatchedRecord(entry.name, seq: entry.version, number: entry.isDeleted ? nil : number(in: entry))
    }
    return [.wrote(zone: log.zone.name, life: log.incarnation, records)]
  }

  private static func number(in entry: CaravanModel.Entry) -> Int64 {
    guard let fields = try? RecordFields(body: entry.body), let value = fields.ascending.first?.value,
      case .integer(let number) = value
    else { return .max }
    return number
  }

  static func told(_ entry: CaravanModel.Entry) -> SeenNotification? {
    typealias Field = NotificationLog.Field
    guard !entry.isDeleted, let fields = try? RecordFields(body: entry.body) else { return nil }
    func text(_ field: Field) -> String {
      if case .text(let text) = fields[field.rawValue] { text } else { "" }
    }
    func number(_ field: Field) -> UInt64 {
      if case .integer(let number) = fields[field.rawValue] { UInt64(clamping: number) } else { 0 }
    }
    guard let reason = SeenNotification.Reason(rawValue: text(.reason)) else { return nil }
    return SeenNotification(
      text(.subscription), reason, source: number(.source), number: number(.number), zone: text(.zone),
      record: text(.record), version: number(.version))
  }
}
