/// What happened, in the order in which the cloud committed it or a receiver took it in, to notifications on their way
/// to push targets (CK-85).
public enum PushEvent: Sendable, Hashable {
  /// The log of a user has it.
  case logged(user: String, LoggedPush)
  /// The cloud keeps a target, in place of the one with its name.
  case kept(KeptTarget)
  case removed(user: String, id: String)
  /// The cloud says how far a target has come.
  case told(user: String, id: String, TargetStanding)
  /// Somebody called a receiver.
  case came(PushCall)
  /// What came to a receiver is no notification that it can read.
  case unreadable(url: String)
  /// From here on nothing goes wrong any more.
  case quiet
}

/// A notification, and where its user's log has it.
public struct LoggedPush: Sendable, Hashable {
  public var what: SeenNotification
  /// RFC 3339.
  public var at: String
  /// The version of its record.
  public var seq: UInt64
  /// The life of the log.
  public var life: UInt64

  public init(_ what: SeenNotification, at: String = "", seq: UInt64, life: UInt64 = 1) {
    (self.what, self.at, self.seq, self.life) = (what, at, seq, life)
  }
}

/// A push target as the cloud keeps it.
public struct KeptTarget: Sendable, Hashable {
  public var user: String
  public var id: String
  /// Another one is another target, whatever its name.
  public var registration: String
  public var url: String
  /// Whose notifications it gets; none: those of all.
  public var subscriptions: [String]
  /// Behind what of which life of the log it begins; nil: at the beginning of whatever log there is.
  public var from: Position?
  /// Calls that its server takes in a minute; 0: as many as there are.
  public var perMinute: UInt32

  public struct Position: Sendable, Hashable {
    public var life: UInt64
    public var seq: UInt64

    public init(life: UInt64 = 1, seq: UInt64) { (self.life, self.seq) = (life, seq) }
  }

  public init(
    _ user: String, _ id: String, registration: String, url: String, subscriptions: [String] = [],
    from: Position? = nil, perMinute: UInt32 = 0
  ) {
    (self.user, self.id, self.registration, self.url) = (user, id, registration, url)
    (self.subscriptions, self.from, self.perMinute) = (subscriptions, from, perMinute)
  }

  func wants(_ what: SeenNotification) -> Bool {
    subscriptions.isEmpty || what.subscription.isEmpty || subscriptions.contains(what.subscription)
  }

  /// Whether it begins before that.
  func reaches(_ item: LoggedPush) -> Bool { from.map { item.life != $0.life || item.seq > $0.seq } ?? true }
}

/// What a user is shown of a target.
public struct TargetStanding: Sendable, Hashable {
  /// A notification that is given up, and with which status its receiver had answered; 0: with none.
  public struct GivenUp: Sendable, Hashable {
    public var source: UInt64
    public var number: UInt64
    public var status: Int

    public init(source: UInt64 = 1, number: UInt64, status: Int) {
      (self.source, self.number, self.status) = (source, number, status)
    }
  }

  public var registration: String
  /// It has come so far.
  public var position: KeptTarget.Position?
  public var givenUp: Int
  public var hasEnded: Bool
  /// The last ones.
  public var last: [GivenUp]

  public init(
    registration: String, position: KeptTarget.Position? = nil, givenUp: Int = 0, hasEnded: Bool = false,
    last: [GivenUp] = []
  ) {
    (self.registration, self.position, self.givenUp) = (registration, position, givenUp)
    (self.hasEnded, self.last) = (hasEnded, last)
  }
}

/// A notification as a receiver got it, and what it answered.
public struct PushCall: Sendable, Hashable {
  public var url: String
  /// The same at each try.
  public var id: String
  public var what: SeenNotification
  /// RFC 3339.
  public var at: String
  /// When it came, in milliseconds since the cluster began.
  public var time: UInt64
  /// nil: nobody heard an answer.
  public var status: Int?

  public init(
    _ url: String, id: String, _ what: SeenNotification, at: String = "", time: UInt64 = 0, status: Int? = 204
  ) {
    (self.url, self.id, self.what, self.at, self.time, self.status) = (url, id, what, at, time, status)
  }

  var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
  /// It says that the target is no more.
  var isGone: Bool { status == 404 || status == 410 }
  /// It says that this notification is not taken, whenever it comes.
  var isRefused: Bool {
    status.map { (400..<500).contains($0) && ![401, 403, 404, 408, 410, 425, 429].contains($0) } ?? false
  }
}
