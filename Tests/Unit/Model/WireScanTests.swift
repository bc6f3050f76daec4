import CaravanModel
import Testing

@testable import CaravanWire

/// Goal: what a message costs to unpack is bounded by its bytes, and refused before it is paid. Method: raw bytes of
/// every message type, filled with what is cheapest to send and dearest to unpack; then what honest senders send at
/// most.
@Suite struct WireScanTests {
  private static func tag(_ field: UInt32, _ wire: UInt32) -> [UInt8] {
    var value = field << 3 | wire
    var bytes: [UInt8] = []
    while value > 0x7f {
      bytes.append(UInt8(value & 0x7f) | 0x80)
      value >>= 7
    }
    return bytes + [UInt8(value)]
  }

  private static func repeating(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    var all: [UInt8] = []
    all.reserveCapacity(bytes.count * count)
    for _ in 0..<count { all += bytes }
    return all
  }

  private static func refusal(_ bytes: [UInt8], _ shape: Int) -> WireError? {
    do throws(WireError) { try WireScan.check(bytes, shape) } catch { return error }
    return nil
  }

  private static func isTooMuch(_ error: WireError?) -> Bool {
    if case .limitExceeded = error { true } else { false }
  }

  @Test("TRU-02: empty elements of any repeated message are refused before they are unpacked")
  func empties() {
    var tried = 0
    for (number, shape) in WireShape.all.enumerated() {
      for field in shape.fields where field.isRepeated && field.kind == .message && field.number < 16 {
        let bytes = Self.repeating(Self.tag(field.number, 2) + [0], 1 << 17)
        #expect(Self.isTooMuch(Self.refusal(bytes, number)), "message \(number), field \(field.number)")
        tried += 1
      }
    }
    #expect(tried > 50)
  }

  @Test("TRU-02: empty messages, one in another down to the deepest, are counted with those around them")
  func nested() {
    for (number, shape) in WireShape.all.enumerated() {
      for field in shape.fields where field.kind == .message {
        for inner in WireShape.all[field.shape].fields where inner.isRepeated && inner.kind == .message {
          let most = Self.repeating(Self.tag(inner.number, 2) + [0], 60)
          let element = Self.tag(field.number, 2) + [UInt8(most.count)] + most
          guard field.isRepeated, most.count < 128 else { continue }
          #expect(Self.isTooMuch(Self.refusal(Self.repeating(element, 5_000), number)), "message \(number)")
        }
      }
    }
  }

  @Test("TRU-02: a million empty operations are refused for their number")
  func operations() {
    let bytes = Self.repeating(Self.tag(2, 2) + [0], 1 << 20)
    #expect(throws: CaravanError.self) { try Exchange.decode(bytes) }
    #expect(
      Self.refusal(bytes, Exchange.shape)
        == .limitExceeded("more than 512 operations: send them in several messages"))
  }

  @Test("TRU-02: fields that nobody knows, or one field again and again, cost no more than their bytes may")
  func unknown() {
    let unknown = Self.tag(1_000_000, 0) + [1]
    for shape in [Exchange.shape, ChunkRequest.shape] {
      #expect(Self.isTooMuch(Self.refusal(Self.repeating(Self.tag(15, 0) + [1], 1 << 18), shape)))
      #expect(Self.refusal(Self.repeating(unknown, 16), shape) == nil, "a newer release may send some")
    }
  }

  @Test("TRU-02: a message in a field for one comes once: merging many costs all of them, each time")
  func merged() throws {
    let ticket = Ticket(device: "d").encoded()
    let once = Self.tag(1, 2) + [UInt8(ticket.count)] + ticket
    #expect(try ChunkRequest.decode(once).ticket?.device == "d")
    #expect(throws: WireError.self) { try ChunkRequest(decoding: once + once) }
    let push = Operation(kind: .push(Push(container: "album"))).encoded()
    #expect(throws: WireError.self) { try Operation(decoding: push + push) }
  }

  @Test("TRU-02: what is no message is refused by the scanner, and none of it makes it trap")
  func broken() {
    let broken: [[UInt8]] = [
      [0x80], [0x0b], [0x0c], [0x0e], [0x0f], [0x00, 0x00], [0x12], [0x12, 0x05], [0x12, 0xff, 0xff, 0xff, 0xff, 0x0f],
      [0x12] + [UInt8](repeating: 0xff, count: 9) + [0x01], [UInt8](repeating: 0xff, count: 11), [0x09, 1, 2],
      [0x0d, 1, 2], [0x10, 0x80], [0x12, 0x02, 0x0a, 0x05],
    ]
    for bytes in broken { #expect(Self.refusal(bytes, Exchange.shape) != nil, "\(bytes)") }
  }

  @Test("TRU-02: packed numbers and lists with a bound of their own are counted by element")
  func counted() throws {
    let many = Limits.predicateTerms
    let query = QueryRequest(predicate: [PredicateTerm](repeating: PredicateTerm(field: "a"), count: many))
    #expect(throws: Never.self) { try QueryRequest.decode(query.encoded()) }
    let more = QueryRequest(predicate: [PredicateTerm](repeating: PredicateTerm(field: "a"), count: many + 1))
    #expect(throws: CaravanError.self) { try QueryRequest.decode(more.encoded()) }
    let put = ChunkRequest(put: [Chunk](repeating: Chunk(hash: [1]), count: Limits.chunksPerRequest + 1))
    #expect(throws: CaravanError.self) { try ChunkRequest.decode(put.encoded()) }
  }

  @Test("TRU-02: what honest senders send at most is within the bound")
  func honest() throws {
    let most = Limits.operationsPerFrame
    func passes<M: WireMessage & Equatable>(_ message: M) throws {
      let bytes = message.encoded()
      #expect(try M.decode(bytes) == message)
    }
    try passes(
      ExchangeReply(results: [CaravanWire.Result](repeating: CaravanWire.Result(kind: .done(Empty())), count: most)))
    try passes(Exchange(operations: [Operation](repeating: Operation(kind: .ack(AckNotification())), count: most)))
    try passes(Exchange(operations: [Operation](repeating: Operation(kind: .hello(Hello())), count: most)))
    try passes(Exchange(operations: [Operation](repeating: Operation(), count: most)))
    let push = Push(container: "a", zone: "z", op: 1)
    try passes(Exchange(operations: [Operation](repeating: Operation(kind: .push(push)), count: most)))
    try passes(
      EntryPage(entries: (0..<4_096).map { CaravanWire.Entry(name: "r\($0)", version: UInt64($0 + 1), deleted: true) }))
    try passes(EntryPage(entries: (0..<4_096).map { CaravanWire.Entry(name: "\($0)", version: 1) }))
    try passes(ZonesResult(zones: (0..<5_000).map { ZoneState(zone: "\($0)") }))
    try passes(ChangedZones(zones: (0..<5_000).map { ChangedZone(zone: "\($0)") }))
    try passes(ReadRecords(names: (0..<5_000).map { "\($0)" }))
    try passes(
      CommitReply(
        outcomes: [CaravanWire.Outcome](
          repeating: CaravanWire.Outcome(verdict: .accepted, version: 1), count: Limits.groupRecords)))
    let items = Limits.listItems
    for list in [
      ListValue(texts: [String](repeating: "", count: items)), ListValue(data: [[UInt8]](repeating: [], count: items)),
      ListValue(integers: [Int64](repeating: 0, count: items)), ListValue(reals: [Double](repeating: 0, count: items)),
      ListValue(references: (0..<items).map { CaravanWire.Reference(target: "\($0)", kind: .owning) }),
      ListValue(
        locations: [CaravanWire.Location](repeating: CaravanWire.Location(latitude: 1, longitude: 1), count: items)),
      ListValue(
        assets: [CaravanWire.Asset](
          repeating: CaravanWire.Asset(size: 1, hashes: [UInt8](repeating: 1, count: 32)), count: items)),
    ] { try passes(Fields(fields: [CaravanWire.Field(id: 1, value: .list(list))])) }
    try passes(Subscribe(subscriptions: (0..<1_000).map { ZoneSubscription(container: "a", zone: "\($0)") }))
    let row = CaravanWire.Row(cells: (0..<30).map { CaravanWire.Cell(column: "c\($0)") })
    try passes(AppReply(kind: .rows(RowPage(rows: [CaravanWire.Row](repeating: row, count: 200)))))
    try passes(AppRequest(kind: .hello(AppHello(app: "a"))))
  }
}
