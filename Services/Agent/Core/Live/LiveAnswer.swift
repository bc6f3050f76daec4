public import CaravanModel

/// The answer to a live query as it is now: the first rows of the device that match, and between them those that the
/// cloud has found and the device does not hold.
public struct LiveAnswer: Sendable {
  /// Why an answer may lack rows.
  public enum Lack: Sendable, Hashable {
    /// It lacks none, for all the device knows.
    case nothing
    /// The cloud has not been asked yet.
    case unasked
    /// The cloud could not be asked, or has not told all.
    case refused(CaravanError)
  }

  public let order: LiveOrder
  /// Rows that are shown at most.
  public let limit: Int

  /// Rows of the device, sorted: the first ones of all that match.
  public private(set) var local: [LiveEntry] = []
  /// More rows of the device may match, behind `local`.
  public private(set) var hasMoreLocal = false

  /// What the cloud has found and has not been overtaken, sorted; of those that the device holds nothing shows.
  private(set) var cloud: [LiveEntry] = []
  /// Rows of the cloud that the device holds in some form, by their keys: what it has of them decides.
  public private(set) var held: [Int64: [UInt8]] = [:]
  private var heldIDs: Set<[UInt8]> = []
  /// The last row that the cloud has told of, where it has more behind it.
  private var cloudEnd: LiveEntry?

  public init(order: LiveOrder, limit: Int) {
    precondition(limit > 0, "an answer of no rows is none")
    self.order = order
    self.limit = limit
  }

  /// Memory that it takes, about.
  public var bytes: Int { (local + cloud).reduce(0) { $0 + $1.bytes } }

  // MARK: The device

  /// - Parameters:
  ///   - entries: the first rows that match, `limit` of them at most, in any order.
  ///   - hasMore: others match.
  public mutating func replaceLocal(_ entries: [LiveEntry], hasMore: Bool) {
    precondition(entries.count <= limit, "\(entries.count) rows were read for an answer of \(limit)")
    local = entries.sorted(by: order.precedes)
    hasMoreLocal = hasMore
  }

  /// Rows have changed.
  /// - Parameters:
  ///   - keys: of all that changed; what is not among `entries` matches no more.
  ///   - entries: of those that match now.
  /// - Returns: false: rows behind those that are known have to be read, all of the answer anew.
  public mutating func change(_ keys: Set<Int64>, _ entries: [LiveEntry]) -> Bool {
    // Everything that is not known comes behind it.
    let end = hasMoreLocal ? local.last : nil
    local.removeAll { entry in
      if case .row(let key) = entry.place { keys.contains(key) } else { false }
    }
    for entry in entries {
      if let end, !order.precedes(entry, end) { continue }
      local.insert(entry, at: order.place(of: entry, in: local))
    }
    if local.count > limit {
      local.removeLast(local.count - limit)
      hasMoreLocal = true
    }
    return local.count == limit || !hasMoreLocal
  }

  // MARK: The cloud

  /// The cloud has answered, with all it has or, where `end` says so, with the first of them.
  /// - Parameter held: those of them that the device holds, by key.
  public mutating func replaceCloud(_ entries: [LiveEntry], held: [Int64: [UInt8]], hasMore: Bool) {
    cloud = entries.sorted(by: order.precedes)
    cloudEnd = hasMore ? cloud.last : nil
    self.held = held
    heldIDs = Set(held.values)
  }

  public mutating func forgetCloud() { replaceCloud([], held: [:], hasMore: false) }

  public var cloudIDs: Set<[UInt8]> { Set(cloud.map(\.id)) }

  /// The device holds a row of which the cloud has told.
  public mutating func hold(_ id: [UInt8], key: Int64) {
    held[key] = id
    heldIDs.insert(id)
  }

  /// A row is on the device no more: what the cloud had told of it was before that.
  /// - Returns: whether the answer may lack it now.
  public mutating func leave(key: Int64) -> Bool {
    let wasShown = local.contains { $0.place == .row(key) }
    guard let id = held.removeValue(forKey: key) else { return wasShown }
    heldIDs.remove(id)
    cloud.removeAll { $0.id == id }
    return true
  }

  /// The cloud may have rows that belong into the answer and that it has not told of.
  public var needsMoreOfCloud: Bool {
    guard let cloudEnd else { return false }
    let shown = shown
    return shown.count < limit || order.precedes(cloudEnd, shown[limit - 1])
  }

  // MARK: The answer

  /// In order, each row once.
  public var shown: [LiveEntry] {
    guard !cloud.isEmpty else { return local }
    var shown: [LiveEntry] = []
    shown.reserveCapacity(min(limit, local.count + cloud.count))
    var (mine, theirs) = (local[...], cloud[...])
    while shown.count < limit {
      while let next = theirs.first, heldIDs.contains(next.id) { theirs.removeFirst() }
      guard let next = theirs.first else {
        shown += mine.prefix(limit - shown.count)
        break
      }
      if let own = mine.first, !order.precedes(next, own) {
        shown.append(own)
        mine.removeFirst()
      } else {
        shown.append(next)
        theirs.removeFirst()
      }
    }
    return shown
  }
}

extension ListDifference {
  /// From an answer that was told to the one that is to be told.
  public init(from told: [LiveEntry], to shown: [LiveEntry]) {
    self.init(from: told.map(\.id), to: shown.map(\.id)) { old, new in
      told[old].stamp != shown[new].stamp || told[old].place != shown[new].place
    }
  }
}
