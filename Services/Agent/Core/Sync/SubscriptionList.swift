/// The tables this device wants to hear of, in the order of the bitmap that notifications carry (MOB-41). The device
/// numbers its lists: a bitmap means something only together with the generation it was made for (E13).
public struct SubscriptionList: Sendable, Hashable {
  public struct Item: Sendable, Hashable {
    public var table: TableID
    /// 0: at once.
    public var periodMilliseconds: UInt32
    /// Its rows are not to come with notifications.
    public var isToldOnly: Bool
    /// How much longer it waits for a notification with which it may come (MOB-57).
    public var toleranceMilliseconds: UInt32

    public init(
      table: TableID, periodMilliseconds: UInt32, isToldOnly: Bool = false, toleranceMilliseconds: UInt32 = 0
    ) {
      self.table = table
      self.periodMilliseconds = periodMilliseconds
      self.isToldOnly = isToldOnly
      self.toleranceMilliseconds = toleranceMilliseconds
    }
  }

  public var generation: UInt64
  public var items: [Item]

  public init(generation: UInt64 = 0, items: [Item] = []) {
    self.generation = generation
    self.items = items
  }

  public var toldOnly: Set<TableID> { Set(items.lazy.filter(\.isToldOnly).map(\.table)) }

  /// The tables that a notification's bitmap names: bit i (least significant first) is item i.
  /// - Returns: nil when it was made for another list.
  public func tables(in bitmap: [UInt8], generation: UInt64) -> [TableID]? {
    guard generation == self.generation else { return nil }
    var tables: [TableID] = []
    for (index, byte) in bitmap.enumerated() where byte != 0 {
      for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 {
        guard 8 * index + bit < items.count else { return nil }
        tables.append(items[8 * index + bit].table)
      }
    }
    return tables
  }
}
