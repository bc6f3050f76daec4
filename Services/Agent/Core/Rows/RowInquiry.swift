public import CaravanModel

/// What has to be known of a row before it is decided what becomes of it. An answer may cost a look into the database,
/// so each is asked for only where it matters.
public enum RowQuestion: UInt8, Sendable, Hashable, CaseIterable {
  /// The row was deleted here when this version of it, or a later one, was the newest.
  case wasDeleted
  /// An app has an object of the row open, or conflicts of its table are being resolved.
  case isBusy
  /// What came has exactly the row's present content.
  case isAsHere
  /// What came is what the row's change was made from.
  case isOwnPast
  /// What came is what was sent.
  case isAsSent
  /// The table keeps rows of what came.
  case belongs
  /// Every object that what came names, and that the table keeps, is here.
  case isWhole
}

/// What is known of a row so far.
public struct RowFacts: Sendable, Hashable {
  /// Nil: there is no such row.
  public let head: RowHead?
  private var asked: UInt8 = 0
  private var confirmed: UInt8 = 0

  public init(_ head: RowHead?) { self.head = head }

  /// Nil: nobody has asked.
  public subscript(_ question: RowQuestion) -> Bool? {
    get {
      let bit: UInt8 = 1 << question.rawValue
      return asked & bit == 0 ? nil : confirmed & bit != 0
    }
    set {
      let bit: UInt8 = 1 << question.rawValue
      asked = newValue == nil ? asked & ~bit : asked | bit
      confirmed = newValue == true ? confirmed | bit : confirmed & ~bit
    }
  }
}

/// How the decision about a row goes on: with a question, or with what is to be done.
public enum RowStep<Plan: Sendable & Hashable>: Sendable, Hashable {
  case ask(RowQuestion)
  case plan(Plan)
}

/// What is asked about a row until its plan is made: `RowInquiry` → `RowFacts` → `RowPlan`, as `ZoneInquiry` →
/// `ZoneFacts` → `ZoneCommit` in the cloud. Whoever holds the database answers the questions and carries out the plan;
/// it decides nothing.
public enum RowInquiry {
  /// The cloud's copy of a row.
  public struct Copy: Sendable, Hashable {
    public var version: Seq
    public var isDeleted: Bool

    public init(version: Seq, isDeleted: Bool) {
      self.version = version
      self.isDeleted = isDeleted
    }
  }
}

extension RowInquiry {
  /// An entry of a change page has come, or one that waited may be taken in.
  public struct Arrived: Sendable, Hashable {
    private let arrival: Arrival
    private let table: Table

    /// What the entry's table says of its rows.
    public struct Table: Sendable, Hashable {
      /// It keeps some of its zone's rows only.
      public var isPartial: Bool
      /// Its conflicts have a policy (UNI-02): the app hears of those only that it leaves.
      public var cloudDecides: Bool

      public init(isPartial: Bool = false, cloudDecides: Bool = false) {
        self.isPartial = isPartial
        self.cloudDecides = cloudDecides
      }
    }

    public init(_ arrival: Arrival, in table: Table = Table()) {
      self.arrival = arrival
      self.table = table
    }

    public func next(knowing facts: RowFacts) -> RowStep<RowPlan.Arrived> {
      if arrival.origin == .own, table.isPartial {
        guard let head = facts.head else { return .plan(.leave) }
        // It was left to the cloud and made anew since: this is not what it is.
        if head.isNew { return .plan(.unexplained) }
      }
      // Also where the row has been made anew since: it is not what this entry was.
      if !arrival.isDeleted {
        guard let wasDeleted = facts[.wasDeleted] else { return .ask(.wasDeleted) }
        if wasDeleted { return .plan(.leave) }
      }
      var arrival = arrival
      var isBusy = false
      if let head = facts.head {
        guard let known = facts[.isBusy] else { return .ask(.isBusy) }
        isBusy = known
        if let question = likeness(&arrival, to: head, facts) { return .ask(question) }
      }
      switch ArrivalDecision.of(arrival, at: facts.head, isBusy: isBusy, cloudDecides: table.cloudDecides) {
      case .ignore: return .plan(.leave)
      case .hold: return .plan(.hold)
      case .unexplained: return .plan(.unexplained)
      case .remove: return .plan(.remove)
      case .insert, .apply: return taken(facts)
      case .adopt: return .plan(.adopt(known(facts).adopting(arrival.version)))
      case .conflict:
        var head = known(facts)
        head.contest()
        return .plan(.contest(head))
      }
    }

    private func known(_ facts: RowFacts) -> RowHead {
      guard let head = facts.head else { preconditionFailure("a row that does not exist met another copy") }
      return head
    }

    /// - Returns: what has to be asked before it is known.
    private func likeness(_ arrival: inout Arrival, to head: RowHead, _ facts: RowFacts) -> RowQuestion? {
      guard head.flags.isDirty || head.flags.inConflict, !arrival.isDeleted, arrival.origin == .others else {
        return nil
      }
      if head.presence.isVisible {
        guard let isAsHere = facts[.isAsHere] else { return .isAsHere }
        if isAsHere {
          arrival.likeness = .local
          return nil
        }
      }
      // Most changes have a version to say what they are based on.
      guard head.confirmed == 0 || head.presence.isLost else { return nil }
      guard let isOwnPast = facts[.isOwnPast] else { return .isOwnPast }
      if isOwnPast { arrival.likeness = .ancestor }
      return nil
    }

    private func taken(_ facts: RowFacts) -> RowStep<RowPlan.Arrived> {
      if arrival.origin != .outsideFilter {
        guard let belongs = facts[.belongs] else { return .ask(.belongs) }
        if belongs {
          guard let isWhole = facts[.isWhole] else { return .ask(.isWhole) }
          return .plan(isWhole ? .take : .hold)
        }
      }
      return .plan(facts.head == nil ? .leave : .remove)
    }
  }

  /// The cloud has answered what was sent of the row.
  public struct Answered: Sendable, Hashable {
    public enum Verdict: Sendable, Hashable {
      case accepted(Seq)
      case refused
      /// It was not applied and never will be.
      case aborted
      case merged(Copy?)
      case conflict(Copy?)
    }

    private let verdict: Verdict
    private let armed: RowChange
    private let sentDeletion: Bool

    /// - Parameter armed: what was dirty when the row was collected.
    public init(_ verdict: Verdict, armed: RowChange, sentDeletion: Bool) {
      self.verdict = verdict
      self.armed = armed
      self.sentDeletion = sentDeletion
    }

    public func next(knowing facts: RowFacts) -> RowStep<RowPlan.Answered> {
      guard let head = facts.head else { return .plan(RowPlan.Answered(effect: .gone)) }
      switch verdict {
      case .accepted(let version): return settled(head, .accepted(version, asDelete: sentDeletion))
      case .refused, .aborted: return settled(head, .notApplied)
      // Nobody has said yet what the row is now, and pages will not.
      case .merged(nil) where head.presence.isLost: return settled(head, .notApplied)
      case .merged(let copy):
        if let copy, !copy.isDeleted {
          guard let isAsSent = facts[.isAsSent] else { return .ask(.isAsSent) }
          // Somebody else has brought it there: after a restore, several may have it to offer.
          if isAsSent { return settled(head, .accepted(copy.version, asDelete: false)) }
        }
        // The row's own content is done with; at the version it had, whatever the cloud holds now is newer.
        return settled(head, .accepted(head.version, asDelete: sentDeletion))
      case .conflict(let copy):
        guard let copy, !copy.isDeleted else {
          return settled(head, .conflict(RowHead.ServerCopy(version: copy?.version ?? 0, content: .deleted)))
        }
        return met(copy, head, facts)
      }
    }

    private func met(_ copy: Copy, _ head: RowHead, _ facts: RowFacts) -> RowStep<RowPlan.Answered> {
      guard let isAsSent = facts[.isAsSent] else { return .ask(.isAsSent) }
      if isAsSent { return settled(head, .accepted(copy.version, asDelete: false)) }
      // What the change was made from may be there under another version: the cloud lost it, and somebody offered it
      // again.
      let mayBeForgotten =
        head.presence.isLost || head.version == 0
        || copy.version > head.version && LostRange.mayBeOfTwoIncarnations(head.version, copy.version)
      if mayBeForgotten {
        guard let isOwnPast = facts[.isOwnPast] else { return .ask(.isOwnPast) }
        if isOwnPast {
          var head = head
          _ = head.settle(.notApplied, armed: armed)
          return .plan(RowPlan.Answered(effect: .adopt, head: head.adopting(copy.version)))
        }
      }
      guard let isAsHere = facts[.isAsHere] else { return .ask(.isAsHere) }
      return settled(
        head, .conflict(RowHead.ServerCopy(version: copy.version, content: isAsHere ? .same : .different)))
    }

    private func settled(_ before: RowHead, _ result: RowHead.PushResult) -> RowStep<RowPlan.Answered> {
      var head = before
      let effect = head.settle(result, armed: armed)
      var plan = RowPlan.Answered(effect: .clean, head: head, endsTolerance: result != .notApplied)
      if case .accepted(let version, _) = result { plan.knownThrough = version }
      switch effect {
      case .clean: plan.effect = .clean
      case .editedSince: plan.effect = .editedSince(deletedAt: sentDeletion ? accepted : nil)
      case .remove: plan.effect = .remove(removal)
      case .conflict: plan.effect = .contest
      case .rearmed: plan.effect = .sendAgain(isInVain: verdict == .aborted && !sentDeletion)
      }
      return .plan(plan)
    }

    private var accepted: Seq? {
      if case .accepted(let version) = verdict { version } else { nil }
    }

    private var removal: RowPlan.Removal {
      switch verdict {
      case .accepted(let version): .deleted(version)
      case .conflict(let copy?): .outdated(copy.version)
      case .conflict(nil), .merged, .refused, .aborted: .untold
      }
    }
  }

  /// An app has decided what becomes of the row's conflict.
  public struct Resolved: Sendable, Hashable {
    private let choice: Resolution
    private let server: Copy

    /// - Parameter server: the cloud's copy.
    public init(_ choice: Resolution, server: Copy) {
      self.choice = choice
      self.server = server
    }

    public func next(knowing facts: RowFacts) -> RowStep<RowPlan.Resolved> {
      guard var head = facts.head, head.flags.inConflict else { return .plan(.leave) }
      switch head.resolve(choice, server: server.version, serverDeleted: server.isDeleted) {
      case .takeServer:
        guard let belongs = facts[.belongs] else { return .ask(.belongs) }
        return .plan(belongs ? .take : .remove(.untold))
      case .remove: return .plan(.remove(.outdated(server.version)))
      case .keepLocal: return .plan(.keep(head, merging: choice == .new))
      }
    }
  }
}
