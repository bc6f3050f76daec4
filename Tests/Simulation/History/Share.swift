/// What of a table's rows a device keeps (UNI-15), as far as checkers need to know it.
public enum Share: Sendable, Hashable {
  case all
  /// Those whose number is one of these.
  case numbers(Range<Int64>)
  /// So many that changed last.
  case newest(Int)
  /// Those that were made lately, by clocks that may be wrong.
  case young
  /// What the device itself makes, and nobody else gets.
  case own

  /// A live row at the cloud.
  struct Row: Sendable, Hashable {
    let id: String
    let seq: UInt64
    /// Nil: nobody knows what it holds.
    let number: Int64?
  }

  /// Which of the cloud's rows a device has when all is quiet.
  /// - Parameters:
  ///   - here: rows that it has.
  ///   - deletions: how many rows the cloud ever deleted. Nobody fills the place of one that was among the newest.
  ///   - taken: rows of which the device's user chose the cloud's copy: those are here, however old.
  func kept(of cloud: [Row], here: Set<String>, deletions: Int, taken: Set<String>) -> Set<String> {
    switch self {
    case .all: return Set(cloud.map(\.id))
    case .numbers(let range): return Set(cloud.filter { $0.number.map(range.contains) ?? false }.map(\.id))
    case .newest(let count):
      let most = min(count, cloud.count)
      let number = min(most, max(here.count, most - deletions))
      let chosen = here.intersection(taken).intersection(cloud.map(\.id))
      let others = cloud.filter { !chosen.contains($0.id) }.sorted { $0.seq > $1.seq }
      return chosen.union(others.prefix(max(0, number - chosen.count)).map(\.id))
    case .young: return here.intersection(cloud.map(\.id))
    case .own: return here
    }
  }

  /// Whether a row of that number, of which the cloud has all there is, may be seen.
  public func shows(_ number: Int64) -> Bool {
    if case .numbers(let range) = self { range.contains(number) } else { true }
  }
}
