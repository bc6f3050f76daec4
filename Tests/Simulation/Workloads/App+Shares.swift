internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel

extension Share {
  var replication: Replication {
    switch self {
    case .all: .full
    case .numbers(let range):
      .query(RowQuery("n >= ? AND n < ?", [.integer(range.lowerBound), .integer(range.upperBound)]))
    case .newest(let count): .recent(RecentWindow(rows: UInt64(count)))
    case .young: .recent(RecentWindow(milliseconds: 60_000))
    case .own: .localOnly
    }
  }

  /// What a device may be told to keep of a table.
  static func random(of table: Scale.Table, _ dice: inout Dice) -> Share {
    let numbers: [Range<Int64>] = [0..<500, 250..<750, 400..<1_000, 900..<1_000]
    let shares: [(weight: Int, element: Share)] = [
      (3, .all), (6, .numbers(dice.pick(numbers))), (2, .newest(dice.within(1...12))),
      (table.hasKey ? 0 : 1, .young),
    ]
    return dice.pick(weighted: shares)
  }
}

extension App {
  /// Now and then a table is to keep something else.
  mutating func reconsider(_ session: Session) async {
    let (table, place) = shareDice.pick(places)
    guard let old = ground.recorder.share(of: device.name, place) else { return }
    let new = Share.random(of: table, &shareDice)
    guard old != new else { return }
    ground.recorder.keeps(new, of: place, on: device.name)
    setUpAnew()
    _ = await prepare(session)
  }
}
