public import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// What a live query asks (UNI-15): rows of a table, in an order, of which it is told what changes.
public struct LiveRequest: Sendable, Hashable {
  public var table: TableID
  /// None: all.
  public var columns: [String]
  public var selection: Selection?
  /// Rows of equal rank come by their ids.
  public var order: [ReadRequest.OrderTerm]
  /// 0: all, and `StoreLimits.liveRows` at most.
  public var limit: Int

  public init(
    table: TableID, columns: [String] = [], selection: Selection? = nil, order: [ReadRequest.OrderTerm] = [],
    limit: Int = 0
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.limit = limit
  }
}

/// What brings an answer that was told nearer to the one that is to be told. Places are those of `ListDifference`.
public enum DifferenceStep: Sendable, Hashable {
  case deleted(id: String, from: Int)
  case moved(id: String, from: Int, to: Int)
  case inserted(AnswerRow, to: Int)
  case updated(AnswerRow, to: Int)
}

/// A row of an answer.
public struct AnswerRow: Sendable, Hashable {
  public let view: RowView
  /// It is on the device; else it is as the cloud has it.
  public let isHeld: Bool
}

/// A part of a difference, or all of it: its steps are told one behind the other.
public struct DifferencePart: Sendable, Hashable {
  public var steps: [DifferenceStep] = []
  public var hasMore = false
  /// The steps of this difference that were told before are void.
  public var restarts = false
  public var lack: LiveAnswer.Lack
}

/// A live query at work. What is remembered of it is the answer as it is and as it was told, however slow its app is.
final class LiveQuery {
  let handle: UInt64
  let owner: UInt64
  let request: LiveRequest
  /// The table's; another one is another table of its name.
  let number: Int64
  /// Raised when there may be something to tell.
  let signal = Signal()

  var answer: LiveAnswer
  /// What was told last; nil: nothing was.
  var told: [LiveEntry]?
  var toldLack = LiveAnswer.Lack.unasked
  /// A difference that is being told.
  var series: LiveSeries?
  /// The one that was being told before was given up.
  var restarts = false

  /// All of the answer has to be read.
  var needsReading = true
  /// Its table showed nothing when it was last looked at.
  var isHidden = false
  /// The part that comes from the cloud is another one.
  var hasCloudNews = false
  /// Rows that are damaged here: they show again when they have been restored.
  var unreadable: Set<Int64> = []
  /// Memory that its answer takes, about.
  var bytes = 0
  /// How often it was looked at.
  var looks: UInt64 = 0
  /// Reads for it beside the store.
  var lent: Reader?
  /// Somebody waits for its next difference.
  var isAwaited = false
  var cloud: LiveCloud

  init(handle: UInt64, owner: UInt64, _ request: LiveRequest, of state: TableState, cloud: LiveCloud) {
    (self.handle, self.owner, self.request, number) = (handle, owner, request, state.number)
    self.cloud = cloud
    answer = LiveAnswer(
      order: LiveOrder(isDescending: request.order.map(\.isDescending)),
      limit: request.limit > 0 ? request.limit : StoreLimits.liveRows)
  }

  var isOfAll: Bool { request.limit == 0 }
}

/// A difference on its way to an app, and the snapshot that its rows are read in.
struct LiveSeries {
  /// The answer that it leads to.
  let target: [LiveEntry]
  let formerly: [LiveEntry]
  let difference: ListDifference
  let lack: LiveAnswer.Lack
  /// Of rows that only the cloud has.
  let copies: [[UInt8]: LiveCloudRow]
  /// Nil: no row of it is on the device.
  let reader: Reader?
  let shape: PageShape
  let bodyText: String
  /// Steps that were told.
  var told = 0
  var lastUse: Instant
}
