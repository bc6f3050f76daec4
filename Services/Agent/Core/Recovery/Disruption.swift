/// SIM-70, Table 3(a): where a sync can stand when its connection goes, and what is done about it.
public enum Disruption: String, Sendable, Hashable, CaseIterable {
  /// Up: nothing is in flight.
  case u1 = "U1"
  /// Up: sent, and no answer seen.
  case u2 = "U2"
  /// Up: the answer was seen, and it is whole.
  case u3 = "U3"
  /// Up: the answer was seen, an object of the cloud's copy in conflict is still arriving. Table 3(b).
  case u4 = "U4"
  /// Down: nobody has said that there is something new.
  case d1 = "D1"
  /// Down: notified, and not asked yet.
  case d2 = "D2"
  /// Down: asked, and no answer seen.
  case d3 = "D3"
  /// Down: the answer was seen, and it is whole. Table 3(c).
  case d4 = "D4"
  /// Down: the answer was seen, an object of it is still arriving. Table 3(c).
  case d5 = "D5"

  public enum Policy: Sendable, Hashable {
    case notNeeded
    case resetAndRetry
    case rollForward
    case normalOperation
    case retry
  }

  public enum Action: Sendable, Hashable {
    case none
    /// U2: the same bytes again under the same op id, for the answer may be all that was lost (E9); if the cloud never
    /// had them, SP←0, TD←1, OD←1 if objects were sent.
    case sendAgain
    /// U4: the row is armed as in U2 and in conflict; the part of the cloud's copy that is here stays, for chunks are
    /// known by their content, and the rest is fetched.
    case completeConflict
    case ask
    /// D3: from the token that was not moved on.
    case askAgain
    /// D4 and D5: as Table 3(c) says.
    case takeIn
  }

  public var policy: Policy {
    switch self {
    case .u1, .d1: .notNeeded
    case .u2, .u4, .d5: .resetAndRetry
    case .u3, .d4: .rollForward
    case .d2: .normalOperation
    case .d3: .retry
    }
  }

  public var action: Action {
    switch self {
    case .u1, .u3, .d1: .none
    case .u2: .sendAgain
    case .u4: .completeConflict
    case .d2: .ask
    case .d3: .askAgain
    case .d4, .d5: .takeIn
    }
  }

  // MARK: Detection

  /// What has come of a question to the cloud.
  public enum Answer: Sendable, Hashable, CaseIterable {
    case missing
    case whole
    /// Objects it names are still arriving.
    case lacksObjects
  }

  public static func upstream(inFlight: Bool, _ answer: Answer) -> Disruption {
    switch (inFlight, answer) {
    case (false, .missing): .u1
    case (true, .missing): .u2
    case (_, .whole): .u3
    case (_, .lacksObjects): .u4
    }
  }

  public static func downstream(notified: Bool, asked: Bool, _ answer: Answer) -> Disruption {
    switch (asked, answer) {
    case (false, _): notified ? .d2 : .d1
    case (true, .missing): .d3
    case (true, .whole): .d4
    case (true, .lacksObjects): .d5
    }
  }

  // MARK: Flags of the rows concerned

  /// The flags of a row after an upstream sync was cut off for good. U4 is Table 3(b), whose four rows agree once E1 is
  /// mended: SP never falls without TD rising, and OD with it if the push carried changed objects; or else the next
  /// page would overwrite what the cloud does not have.
  /// - Parameter changedObjects: the push carried changed objects (∃DCT).
  public func recovered(_ flags: RowFlags, changedObjects: Bool) -> RowFlags {
    switch self {
    case .u1, .u3, .d1, .d2, .d3, .d4, .d5: return flags
    case .u2, .u4:
      var flags = flags
      flags.syncPending = false
      flags.tableDirty = true
      flags.objectDirty = flags.objectDirty || changedObjects
      return flags
    }
  }
}
