public import CaravanModel

/// A plan whose outcomes are not recorded. It outlives a failed session: the same op is sent again (UNI-07).
public struct PlanInFlight: Sendable, Hashable {
  /// Whether the cloud may have heard of the op, and whether it is asked about instead of sent.
  private enum Standing: Sendable, Hashable {
    /// The cloud has certainly not taken it. Can go to `uncertain` and `abandoned`.
    case unheard
    /// An answer may have been lost. Can go to `questioned`.
    case uncertain
    /// It is not to be sent any more, and cannot have been taken. Can go to `questioned`.
    case abandoned
    /// What became of it is asked: it is from before a restart, or was refused after a lost answer.
    case questioned
  }

  public let plan: PushPlan
  private var standing: Standing
  /// Why the cloud does not take it, once it has ended.
  public internal(set) var refusal: CaravanError?
  /// What travels with the push; nothing once the cloud has answered it.
  public internal(set) var inline = InlineChunks()
  /// Times the cloud named missing chunks.
  public internal(set) var stagings = 0
  /// Times in a row that no answer came.
  public internal(set) var losses = 0
  /// Nil: one push takes it.
  public internal(set) var group: GroupUpload?

  /// - Parameter mustSettle: it is from before a restart.
  public init(_ plan: PushPlan, mustSettle: Bool) {
    precondition(!plan.mutations.isEmpty || mustSettle, "a plan of \(plan.table) without a row")
    self.plan = plan
    group = GroupUpload(plan)
    // A group says itself how far it has come.
    standing = !mustSettle ? .unheard : group == nil || !plan.canBeSent ? .questioned : .uncertain
  }

  /// The cloud is asked what became of it instead of getting it.
  public var mustSettle: Bool { standing == .abandoned || standing == .questioned }

  /// The cloud may have taken it.
  public var mayHaveArrived: Bool { standing == .uncertain || standing == .questioned }

  mutating func doubt() { standing = mustSettle ? .questioned : .uncertain }

  mutating func settle() { standing = mayHaveArrived ? .questioned : .abandoned }

  /// There is no room for what the push brings: its rows wait, and deletions behind them can go (CK-102). The op ends
  /// before that: if it was doubled on the way, the other one would find room later.
  mutating func giveWay(_ error: CaravanError) {
    refusal = error
    standing = .questioned
  }

  /// What was too much for the link goes as several plans, once it is known that this one has not arrived, and chunks
  /// go before it.
  /// - Parameter room: bytes that the link lets pass whole.
  mutating func shrink(to room: Int) {
    precondition(room > 0, "a link that lets nothing pass")
    if plan.mutations.count > 1, !plan.isAtomic, plan.bodyBytes > room { settle() }
    if inline.bytes > room / 4 { inline = InlineChunks(isAll: false) }
  }
}

/// Chunks and patches of chunks that travel with a push.
public struct InlineChunks: Sendable, Hashable {
  public struct Item: Sendable, Hashable {
    public let hash: [UInt8]
    public let data: [UInt8]
    /// Names of the chunks that the data is a patch of, one behind the other; empty: it is the chunk itself.
    public let bases: [UInt8]

    public init(hash: [UInt8], data: [UInt8], bases: [UInt8]) {
      (self.hash, self.data, self.bases) = (hash, data, bases)
    }
  }

  public let items: [Item]
  /// The cloud lacks no chunks but these, as far as is known.
  public let isAll: Bool

  public init(_ items: [Item] = [], isAll: Bool = true) { (self.items, self.isAll) = (items, isAll) }

  var bytes: Int { items.reduce(0) { $0 + $1.data.count } }

  /// Chunks that travel as patches.
  var patched: Set<[UInt8]> { Set(items.lazy.filter { !$0.bases.isEmpty }.map(\.hash)) }
}
