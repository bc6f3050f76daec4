import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what becomes of a row is one value, and only what matters for it is asked (SIM-61, SIM-67, SIM-68). Method:
/// tables of rows and events, each with the answers that are given; a question that no line answers fails.
@Suite struct RowPlanTests {
  private static let clean = RowHead(version: 5)
  private static let changed = RowHead(flags: RowFlags(tableDirty: true), version: 5)
  private static let inPush = RowHead(flags: RowFlags(syncPending: true), version: 5)
  private static let deletedInPush = RowHead(flags: RowFlags(syncPending: true), version: 5, presence: .deleted)
  private static let contested = RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 5)
  private static let unconfirmed = RowHead(flags: RowFlags(tableDirty: true), version: 5, presence: .unconfirmed)

  /// Asks until there is a plan.
  private static func run<Plan>(
    _ head: RowHead?, _ answers: [RowQuestion: Bool], _ next: (RowFacts) -> RowStep<Plan>
  ) -> (plan: Plan?, asked: [RowQuestion]) {
    var (facts, asked) = (RowFacts(head), [RowQuestion]())
    while true {
      switch next(facts) {
      case .plan(let plan): return (plan, asked)
      case .ask(let question):
        asked.append(question)
        guard let answer = answers[question], facts[question] == nil else { return (nil, asked) }
        facts[question] = answer
      }
    }
  }

  // MARK: Arrivals

  struct Arrived: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var head: RowHead?
    var arrival = Arrival(version: 9)
    var table = RowInquiry.Arrived.Table()
    var answers: [RowQuestion: Bool] = [:]
    let plan: RowPlan.Arrived
  }

  static let arrivals: [Arrived] = [
    Arrived(
      testDescription: "a new row", answers: [.wasDeleted: false, .belongs: true, .isWhole: true], plan: .take),
    Arrived(
      testDescription: "a new row that lacks an object",
      answers: [.wasDeleted: false, .belongs: true, .isWhole: false],
      plan: .hold),
    Arrived(
      testDescription: "a new row of others' interest", answers: [.wasDeleted: false, .belongs: false], plan: .leave),
    Arrived(testDescription: "one that was deleted here since", answers: [.wasDeleted: true], plan: .leave),
    Arrived(
      testDescription: "a deletion of nothing", arrival: Arrival(version: 9, isDeleted: true), plan: .leave),
    Arrived(
      testDescription: "an echo of nothing", arrival: Arrival(version: 9, origin: .own), answers: [.wasDeleted: false],
      plan: .unexplained),
    Arrived(
      testDescription: "an echo of a row that was left to the cloud", arrival: Arrival(version: 9, origin: .own),
      table: .init(isPartial: true), plan: .leave),
    Arrived(
      testDescription: "an echo, and the row was made anew", head: RowHead(flags: RowFlags(tableDirty: true)),
      arrival: Arrival(version: 9, origin: .own), table: .init(isPartial: true), plan: .unexplained),
    Arrived(
      testDescription: "a clean row", head: clean,
      answers: [.wasDeleted: false, .isBusy: false, .belongs: true, .isWhole: true], plan: .take),
    Arrived(
      testDescription: "a clean row that an app has open", head: clean, answers: [.wasDeleted: false, .isBusy: true],
      plan: .hold),
    Arrived(
      testDescription: "a clean row that leaves the query", head: clean,
      answers: [.wasDeleted: false, .isBusy: false, .belongs: false], plan: .remove),
    Arrived(
      testDescription: "a clean row, and the cloud left its body out", head: clean,
      arrival: Arrival(version: 9, origin: .outsideFilter), answers: [.wasDeleted: false, .isBusy: false], plan: .remove
    ),
    Arrived(
      testDescription: "a clean row that was deleted", head: clean, arrival: Arrival(version: 9, isDeleted: true),
      answers: [.isBusy: false], plan: .remove),
    Arrived(
      testDescription: "a changed row", head: changed, answers: [.wasDeleted: false, .isBusy: false, .isAsHere: false],
      plan: .contest(contested)),
    Arrived(
      testDescription: "a changed row whose change the cloud decides", head: changed, table: .init(cloudDecides: true),
      answers: [.wasDeleted: false, .isBusy: false, .isAsHere: false], plan: .hold),
    Arrived(
      testDescription: "a row that was changed alike", head: changed,
      answers: [.wasDeleted: false, .isBusy: false, .isAsHere: true, .belongs: true, .isWhole: true], plan: .take),
    Arrived(
      testDescription: "what the change of an unconfirmed row is based on", head: unconfirmed,
      answers: [.wasDeleted: false, .isBusy: false, .isAsHere: false, .isOwnPast: true],
      plan: .adopt(RowHead(flags: RowFlags(tableDirty: true), version: 9))),
    Arrived(
      testDescription: "something else than an unconfirmed row is based on", head: unconfirmed,
      answers: [.wasDeleted: false, .isBusy: false, .isAsHere: false, .isOwnPast: false],
      plan: .contest(RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 0))),
    Arrived(
      testDescription: "a row in a push", head: inPush, answers: [.wasDeleted: false, .isBusy: false], plan: .hold),
  ]

  @Test("SIM-67, SIM-68: an entry that arrives", arguments: arrivals)
  func arrived(_ line: Arrived) {
    let inquiry = RowInquiry.Arrived(line.arrival, in: line.table)
    let (plan, asked) = Self.run(line.head, line.answers, inquiry.next)
    #expect(plan == line.plan)
    #expect(Set(asked) == Set(line.answers.keys), "nothing is asked that does not matter")
  }

  // MARK: Answers to a push

  struct Answered: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var head: RowHead? = inPush
    let verdict: RowInquiry.Answered.Verdict
    var sentDeletion = false
    var answers: [RowQuestion: Bool] = [:]
    let plan: RowPlan.Answered
  }

  private static let copy = RowInquiry.Copy(version: 9, isDeleted: false)
  private static let gone = RowInquiry.Copy(version: 9, isDeleted: true)

  static let outcomes: [Answered] = [
    Answered(testDescription: "there is no row", head: nil, verdict: .accepted(9), plan: .init(effect: .gone)),
    Answered(
      testDescription: "accepted", verdict: .accepted(9),
      plan: .init(effect: .clean, head: RowHead(version: 9), endsTolerance: true, knownThrough: 9)),
    Answered(
      testDescription: "accepted, and edited since",
      head: RowHead(flags: RowFlags(tableDirty: true, syncPending: true), version: 5), verdict: .accepted(9),
      plan: .init(
        effect: .editedSince(deletedAt: nil), head: RowHead(flags: RowFlags(tableDirty: true), version: 9),
        endsTolerance: true, knownThrough: 9)),
    Answered(
      testDescription: "a deletion was accepted", head: deletedInPush, verdict: .accepted(9), sentDeletion: true,
      plan: .init(
        effect: .remove(.deleted(9)), head: RowHead(version: 0, presence: .deleted), endsTolerance: true,
        knownThrough: 9)),
    Answered(
      testDescription: "a deletion was accepted, and the row written again since",
      head: RowHead(flags: RowFlags(tableDirty: true, syncPending: true), version: 5), verdict: .accepted(9),
      sentDeletion: true,
      plan: .init(
        effect: .editedSince(deletedAt: 9), head: RowHead(flags: RowFlags(tableDirty: true)), endsTolerance: true,
        knownThrough: 9)),
    Answered(
      testDescription: "refused", verdict: .refused,
      plan: .init(effect: .sendAgain(isInVain: false), head: changed)),
    Answered(
      testDescription: "aborted", verdict: .aborted, plan: .init(effect: .sendAgain(isInVain: true), head: changed)),
    Answered(
      testDescription: "merged", verdict: .merged(copy), answers: [.isAsSent: false],
      plan: .init(effect: .clean, head: RowHead(version: 5), endsTolerance: true, knownThrough: 5)),
    Answered(
      testDescription: "merged into what was sent", verdict: .merged(copy), answers: [.isAsSent: true],
      plan: .init(effect: .clean, head: RowHead(version: 9), endsTolerance: true, knownThrough: 9)),
    Answered(
      testDescription: "another copy", verdict: .conflict(copy), answers: [.isAsSent: false, .isAsHere: false],
      plan: .init(effect: .contest, head: contested, endsTolerance: true)),
    Answered(
      testDescription: "the copy that was sent: the answer comes again", verdict: .conflict(copy),
      answers: [.isAsSent: true],
      plan: .init(effect: .clean, head: RowHead(version: 9), endsTolerance: true, knownThrough: 9)),
    Answered(
      testDescription: "a copy that is as the row is now", verdict: .conflict(copy),
      answers: [.isAsSent: false, .isAsHere: true],
      plan: .init(effect: .clean, head: RowHead(version: 9), endsTolerance: true)),
    Answered(
      testDescription: "a new row meets what it was made from", head: RowHead(flags: RowFlags(syncPending: true)),
      verdict: .conflict(copy), answers: [.isAsSent: false, .isOwnPast: true],
      plan: .init(effect: .adopt, head: RowHead(flags: RowFlags(tableDirty: true), version: 9))),
    Answered(
      testDescription: "deleted on both sides", head: deletedInPush, verdict: .conflict(gone), sentDeletion: true,
      plan: .init(
        effect: .remove(.outdated(9)), head: RowHead(flags: RowFlags(tableDirty: true), version: 5, presence: .deleted),
        endsTolerance: true)),
    Answered(
      testDescription: "deleted there, changed here", verdict: .conflict(gone),
      plan: .init(effect: .contest, head: contested, endsTolerance: true)),
  ]

  @Test("SIM-61: the answer to a push", arguments: outcomes)
  func answered(_ line: Answered) {
    let inquiry = RowInquiry.Answered(
      line.verdict, armed: RowChange(cells: true, objects: false), sentDeletion: line.sentDeletion)
    let (plan, asked) = Self.run(line.head, line.answers, inquiry.next)
    #expect(plan == line.plan)
    #expect(Set(asked) == Set(line.answers.keys), "nothing is asked that does not matter")
  }

  // MARK: Resolutions

  struct Resolved: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var head = contested
    let choice: Resolution
    var server = copy
    var answers: [RowQuestion: Bool] = [:]
    let plan: RowPlan.Resolved
  }

  private static let deletedHere = RowHead(
    flags: RowFlags(tableDirty: true, inConflict: true), version: 5, presence: .deleted)

  static let resolutions: [Resolved] = [
    Resolved(testDescription: "in no conflict any more", head: changed, choice: .mine, plan: .leave),
    Resolved(
      testDescription: "mine", choice: .mine,
      plan: .keep(RowHead(flags: RowFlags(tableDirty: true, objectDirty: true), version: 9), merging: false)),
    Resolved(
      testDescription: "new", choice: .new,
      plan: .keep(RowHead(flags: RowFlags(tableDirty: true, objectDirty: true), version: 9), merging: true)),
    Resolved(
      testDescription: "mine, and the cloud has deleted it", choice: .mine, server: gone,
      plan: .keep(RowHead(flags: RowFlags(tableDirty: true, objectDirty: true), version: 0), merging: false)),
    Resolved(
      testDescription: "deleted on both sides", head: deletedHere, choice: .mine, server: gone,
      plan: .remove(.outdated(9))),
    Resolved(testDescription: "theirs", choice: .theirs, answers: [.belongs: true], plan: .take),
    Resolved(
      testDescription: "theirs, which the table does not keep", choice: .theirs, answers: [.belongs: false],
      plan: .remove(.untold)),
    Resolved(
      testDescription: "theirs, and the cloud has deleted it", choice: .theirs, server: gone,
      plan: .remove(.outdated(9))),
  ]

  @Test("SIM-27: a conflict that an app has decided", arguments: resolutions)
  func resolved(_ line: Resolved) {
    let inquiry = RowInquiry.Resolved(line.choice, server: line.server)
    let (plan, asked) = Self.run(line.head, line.answers, inquiry.next)
    #expect(plan == line.plan)
    #expect(Set(asked) == Set(line.answers.keys), "nothing is asked that does not matter")
  }

  // MARK: Facts

  @Test("an answer that was given is known, and no other")
  func facts() {
    for question in RowQuestion.allCases {
      for answer in [true, false] {
        var facts = RowFacts(nil)
        facts[question] = answer
        for other in RowQuestion.allCases { #expect(facts[other] == (other == question ? answer : nil)) }
        facts[question] = nil
        #expect(facts == RowFacts(nil))
      }
    }
  }
}
