internal import CaravanModel

extension Scale {
  /// A fleet: users with a few devices each, whose tables they share.
  /// - Parameter days: how long they use them.
  init(agents: Int, days: Int) {
    let perUser = 3
    let names = Self.names(of: (agents + perUser - 1) / perUser)
    users = names
    devices = (0..<agents).map { (name: "d\($0 + 1)", user: names[$0 / perUser]) }
    tables = [
      Table(
        app: "album", name: "photos",
        schema: "name VARCHAR PRIMARY KEY, tag VARCHAR, n INTEGER, note VARCHAR, photo OBJECT",
        hasKey: true, hasObject: true, period: 0, delayTolerance: 0),
      Table(
        app: "notes", name: "notes", schema: "name VARCHAR, tag VARCHAR, n INTEGER, note VARCHAR", hasKey: false,
        hasObject: false, period: 60_000, delayTolerance: 60_000),
    ]
    diffClients = []
    faultTime = .seconds(86_400 * days)
    appPause = 30_000
    faultPause = 0
    hasSlowReader = false
    leases = Self.leases(of: 1_800)
    isQueried = false
  }

  /// All of two partitions: what owns the other sixty would spend the weeks looking at nothing.
  private static func names(of count: Int) -> [String] {
    let usual: [UInt32] = [3, 40]
    var names: [String] = []
    var number = 0
    while names.count < count {
      number += 1
      let owner = DatabaseID.system(UserID(unchecked: "u\(number)"))
      if usual.contains(Partition(of: owner).number) { names.append("u\(number)") }
    }
    return names
  }
}
