public import CaravanModel

extension PullSession {
  /// Where a pull stands; every state but the first and the last waits for what came of one action. A failure of any
  /// action goes to `over`, if nothing else is said.
  enum State: Sendable {
    /// Not begun. Can go to `surveying` and `matching`.
    case idle
    /// How does the table stand? Can go to `locating`, `opening` and `over`.
    case surveying
    /// The same after the table was started over. Can go to `opening` and `over`.
    case surveyingAgain
    /// Does a page that nobody asked for begin where the table's copy ends? Can go to `decoding` and `over`.
    case matching(ChangePage, from: [UInt8])
    /// The first frame is on its way. Can go to `keepingTicket`, `adopting`, `declining`, `noting` and `over`.
    case opening(isAgreed: Bool, pagesFollow: Bool)
    /// The store takes over the type agreed on. Can go to `filtering`.
    case adopting(Then)
    /// What may the cloud leave out, now that the type is known? Can go to `keepingTicket` and `asking`.
    case filtering(Then)
    /// The cloud refused the type, for there is no zone; was it ever there? Can go to `noting` and `over`.
    case declining(CaravanError)
    /// The reason is written down for the app. Can go to `over`.
    case noting(CaravanError)
    /// A ticket that came along is kept. Can go to `catchingUp`, `asking`, and to what an answer leads to.
    case keepingTicket(Reply?)
    /// Chunks of entries kept aside are fetched first. Also over a failure for want of budget it can go to `asking`,
    /// and to what an answer leads to.
    case catchingUp(Reply?)
    /// Where does the zone begin now? Can go to `guarding`, `locatingNothing` and `over`.
    case locating(Restart)
    /// There is no zone; was it ever there? Can go to `guarding` and `over`.
    case locatingNothing(Restart, CaravanError)
    /// Is a push of the table in flight? Can go to `resetting` and `over`.
    case guarding(Restart, Beginning)
    /// The store starts over. Can go to `resuming`.
    case resetting(Restart, Beginning)
    /// How does the table stand then? Can go to `surveyingAgain`, `readingProposal` and `asking`.
    case resuming(Restart, Beginning)
    /// The type may be among what was lost; what is to be proposed? Can go to `proposing`.
    case readingProposal
    /// It was proposed again. Can go to `adopting`, `declining`, `noting` and `over`.
    case proposing
    /// A page was asked for. Can go to `reviving`, `turning`, `missingZone`, `locating`, `guarding`, itself and `over`.
    case asking
    /// A page asked for early is waited for. Can go where `asking` can.
    case following
    /// The zone is there after all. Can go where `asking` can.
    case reviving(Reply)
    /// There is no zone; was it ever there? Can go to `turning` and `over`.
    case missingZone(CaravanError)
    /// A page is there, or none follows. Can go to `pausing`, `decoding`, `fetchingLast` and `over`.
    case turning(ChangePage?)
    /// The page behind is asked for while this one is taken in. Can go to `decoding`.
    case pausing(ChangePage)
    /// The page is decoded. Can go to `marking`, `applying`, and to what follows a page.
    case decoding(ChangePage, PageEnd)
    /// The store hears of rows that are damaged at the cloud. Can go to `applying`, and to what follows a page.
    case marking(ChangePage, PageEnd, [IncomingEntry])
    /// The store takes the page in. Can go to `refiltering`, `fetching`, and to what follows a page.
    case applying(ChangePage, PageEnd)
    /// What may the cloud leave out from here on? Can go to `fetching`, and to what follows a page.
    case refiltering(ChangePage, PageEnd, PullSummary)
    /// Chunks of the page are fetched. Also over a failure for want of budget it can go to what follows a page:
    /// `asking`, `following`, `turning`, `locating`, `fetchingLast` and `over`.
    case fetching(ChangePage, PageEnd, PullSummary)
    /// Everything is there but chunks. Can go to `over`.
    case fetchingLast
    case over
  }

  /// What follows once a type is agreed on.
  enum Then: Sendable, Hashable {
    /// The answer to the first question, where there was one.
    case opened(Reply?)
    /// The table is asked for from its beginning.
    case restarted
  }

  /// Why a table starts over.
  enum Restart: Sendable, Hashable {
    /// The pull begins with that.
    case beginning
    /// The cloud asks for it.
    case asked
  }

  /// Where a table starts over.
  public struct Beginning: Sendable, Hashable {
    /// The token of the life of the zone that `lost` is about: should there be another one before the resync ends, the
    /// cloud says so. Empty: the zone has had no other life.
    public let token: [UInt8]
    /// What restores took from the cloud.
    public let lost: [LostRange]

    public init(token: [UInt8] = [], lost: [LostRange] = []) { (self.token, self.lost) = (token, lost) }
  }

  /// What is to be done.
  public enum Action: Sendable, Hashable {
    /// Answer: `state`.
    case readState
    /// The first frame of the session goes. Answer: `opened`.
    case open(proposal: RecordType?, question: Position?, wantsTicket: Bool)
    /// The ticket that came with the first frame, if one did. Answer: `kept`.
    case keepTicket
    /// Where would a table begin that has nothing? Answer: `replied`.
    case locate(needsOwnRows: Bool)
    /// Answer: `replied`.
    case ask(Position)
    /// Asks for the page behind the one that is taken in next. Answer: `paused`, at once.
    case askEarly(Position)
    /// The answer to that question. Answer: `replied`.
    case awaitPage
    /// The turn of one page is over, and with it a question that was asked early. Answer: `turned`.
    case turn
    /// The proposal goes alone. Answer: `agreed`.
    case propose(RecordType)
    /// Answer: `adopted`.
    case adopt(RecordType)
    /// Answer: `cleared`.
    case reset(Beginning)
    /// The store hears that the zone does not exist. Answer: `absence`.
    case markAbsent
    /// The store hears that it does. Answer: `marked`.
    case markPresent
    /// The reason is kept for the app. Answer: `noted`.
    case note(CaravanError, TableFault?)
    /// Answer: `decoded`.
    case decode(ChangePage)
    /// Answer: `marked`.
    case markDamaged([CloudDamage])
    /// The store takes a page in, with chunks for it if `brings`. Answer: `applied`.
    case apply([IncomingEntry], token: [UInt8], end: PageEnd, point: Seq?, brings: Bool)
    /// Chunks that the table lacks. Answer: `fetched`.
    case fetchChunks
    /// A page that nobody asked for does not fit: the table is to be pulled. No answer.
    case decline
    /// The session is over; nil: everything is here. No answer.
    case stop(CaravanError?)
  }

  /// What came of an action.
  public enum Event: Sendable, Hashable {
    case state(TableSyncState)
    case opened(Agreement?, Reply?)
    case kept
    case replied(Reply)
    case paused
    case turned
    case agreed(Agreement)
    case adopted
    case cleared
    /// - Parameter isNew: the zone has never been there.
    case absence(isNew: Bool)
    case marked
    case noted
    case decoded([IncomingEntry])
    case applied(PullSummary)
    /// False: chunks are not at the cloud.
    case fetched(Bool)
    /// The action could not be carried out.
    case failed(CaravanError)
  }

  /// What the cloud said to a proposal.
  public enum Agreement: Sendable, Hashable {
    case type(RecordType)
    case failure(CaravanError)
    case other
  }

  /// What the cloud said to a question.
  public enum Reply: Sendable, Hashable {
    case page(ChangePage)
    /// The token means nothing any more.
    case startOver(Beginning)
    case failure(CaravanError)
    case other
  }
}

/// Changes of one table as they came from the cloud.
public struct ChangePage: Sendable, Hashable {
  /// The entries as they travel.
  public let bytes: [UInt8]
  /// The change token behind it.
  public let token: [UInt8]
  public let hasMore: Bool
  /// With it, everything has come as it was at `point`.
  public let isConsistent: Bool
  public let point: Seq
  /// Rows whose copies at the cloud are damaged.
  public let damaged: [CloudDamage]

  public init(
    bytes: [UInt8] = [], token: [UInt8] = [], hasMore: Bool = false, isConsistent: Bool = false, point: Seq = 0,
    damaged: [CloudDamage] = []
  ) {
    self.bytes = bytes
    self.token = token
    self.hasMore = hasMore
    self.isConsistent = isConsistent
    self.point = point
    self.damaged = damaged
  }
}
