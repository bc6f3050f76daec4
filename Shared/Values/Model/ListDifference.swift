/// What makes one list of another, by the places of its items. Whoever has the former list removes what is deleted and
/// what moves, puts in at their new places what moved and what is inserted, from the first place on, and takes the
/// updated items anew.
///
/// As few items move as can: those that stay are a longest increasing subsequence of their former places.
public struct ListDifference: Sendable, Hashable {
  /// An item that is in both lists, and not where the others that stay would leave it.
  public struct Move: Sendable, Hashable {
    public let from: Int
    public let to: Int

    public init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// Places in the former list, ascending.
  public var deletions: [Int] = []
  /// From a place in the former list to one in the new list, ascending by the latter.
  public var moves: [Move] = []
  /// Places in the new list, ascending.
  public var insertions: [Int] = []
  /// Places in the new list, ascending, of items that are in both and have changed.
  public var updates: [Int] = []

  public init() {}

  public var isEmpty: Bool { count == 0 }
  public var count: Int { deletions.count + moves.count + insertions.count + updates.count }

  /// - Parameters:
  ///   - old: names of the former items, each once.
  ///   - new: names of the new items, each once.
  ///   - hasChanged: whether an item that is in both is another one now, by its former and its new place.
  public init<Name: Hashable>(from old: [Name], to new: [Name], _ hasChanged: (Int, Int) -> Bool) {
    let shorter = min(old.count, new.count)
    var head = 0
    while head < shorter, old[head] == new[head] { head += 1 }
    var tail = 0
    while tail < shorter - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] { tail += 1 }

    let oldMiddle = head..<(old.count - tail)
    let newMiddle = head..<(new.count - tail)
    var places = Dictionary(oldMiddle.map { (old[$0], $0) }, uniquingKeysWith: { first, _ in first })
    /// Of those in both, in the new order.
    var both: [Move] = []
    for to in newMiddle {
      if let from = places.removeValue(forKey: new[to]) {
        both.append(Move(from: from, to: to))
      } else {
        insertions.append(to)
      }
    }
    deletions = places.values.sorted()

    let stay = Self.longestIncreasing(both.map(\.from))
    var next = stay.makeIterator()
    var staying = next.next()
    for (index, move) in both.enumerated() {
      if index == staying { staying = next.next() } else { moves.append(move) }
    }

    updates = (0..<head).filter { hasChanged($0, $0) }
    updates += both.filter { hasChanged($0.from, $0.to) }.map(\.to)
    let shift = old.count - new.count
    updates += ((new.count - tail)..<new.count).filter { hasChanged($0 + shift, $0) }
  }

  /// - Parameter numbers: each once.
  /// - Returns: indices of a longest increasing subsequence, ascending (patience sorting, n log n).
  static func longestIncreasing(_ numbers: [Int]) -> [Int] {
    /// Of the subsequences of each length the index of the least last number, and what comes before each.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var found: [Int] = []
    var last = ends.last
    while let index = last {
      found.append(index)
      last = before[index]
    }
    return found.reversed()
  }

  /// Makes the new list of the former one.
  /// - Parameter item: what is inserted or updated, by its place in the new list.
  /// - Returns: false, and nothing has changed: the difference is not of this list, or an item is missing.
  public func apply<Item>(to list: inout [Item], _ item: (Int) -> Item?) -> Bool {
    let count = list.count - deletions.count + insertions.count
    let gone = deletions + moves.map(\.from)
    let places = insertions + moves.map(\.to)
    guard gone.allSatisfy(list.indices.contains), Set(gone).count == gone.count,
      count >= 0, places.allSatisfy((0..<count).contains), Set(places).count == places.count,
      updates.allSatisfy((0..<count).contains)
    else { return false }

    var made = [Item?](repeating: nil, count: count)
    for move in moves { made[move.to] = list[move.from] }
    for place in insertions { made[place] = item(place) }
    let (isGone, isTaken) = (Set(gone), Set(places))
    var place = 0
    for index in list.indices where !isGone.contains(index) {
      while isTaken.contains(place) { place += 1 }
      made[place] = list[index]
      place += 1
    }
    for place in updates { made[place] = item(place) }
    let all = made.compactMap { $0 }
    guard all.count == count else { return false }
    list = all
    return true
  }
}
