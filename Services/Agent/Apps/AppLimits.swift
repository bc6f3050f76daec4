public import CaravanAgentCore
internal import CaravanClient
internal import CaravanModel

/// What the agent's socket takes at most.
public enum AppLimits {
  /// Connections; each is one file, of which most systems begin with 1,024.
  public static let connections = AppShare(app: 16, user: 64, all: 256)
  /// Of one user, that have not said who they are.
  public static let namelessConnections = 16
  /// The same of all users together.
  public static let namelessOfAll = 64
  /// Requests that wait for the cloud. Local ones are answered one after the other.
  public static let waitingRequests = AppShare(app: 64, user: 256, all: 1_024)
  /// Bytes of requests and answers that are here and have not been taken. Each connection may go beyond it by the
  /// message that is coming and the answer being made.
  public static let heldBytes = AppShare(app: 8 << 20, user: 32 << 20, all: 64 << 20)
  static let shares = AppSlots.Shares(
    connections: connections, waiting: waitingRequests, bytes: heldBytes, nameless: namelessConnections,
    namelessOfAll: namelessOfAll)
  /// Ways down that one read of an object may take: for its list, for its chunks, and once more.
  static let fetchRounds = 3
  /// Tables one connection watches.
  public static let watchedTables = 200
  /// Tables whose syncs one connection listens to, and the events that wait for it.
  public static let listenedTables = ClientLimits.syncEvents / 2
  static let syncEvents = ClientLimits.syncEvents
  /// A slow reader is not read beyond 1 MiB that waits for it, and cut off beyond 8 MiB or 10 s.
  static let socket = FrameSocket.Bounds(
    messageBytes: Limits.appMessageBytes, helloBytes: helloBytes, backlogBytes: 1 << 20, maximumBacklogBytes: 8 << 20,
    stall: .seconds(10))
  /// The longest message, and all that is taken together, before an app has said who it is: a hello has a name and a
  /// token.
  static let helloBytes = 4 << 10
  /// Apps whose misconduct is counted by name.
  static let countedApps = 64
  /// First contacts that the device's owner has not allowed, and that are remembered.
  static let waitingContacts = AppShare(app: 1, user: 8, all: 64)
  /// An app that was started and has not come to take what there is, is started again after this time, then after twice
  /// as long, and so on.
  public static let startPause: Duration = .seconds(10)
  public static let longestStartPause: Duration = .seconds(3_600)
  /// A connection says who it is within this time, or goes.
  static let helloPatience: Duration = .seconds(10)
  /// The device's owner asks something within this time, or goes.
  static let ownerPatience: Duration = .seconds(60)
}
