public import CaravanModel

/// Bounds of the device's sync engine.
public enum EngineLimits {
  /// Transfers whose first frame has no answer yet; what becomes due beyond waits, and goes together.
  public static let transfersInFlight = 8
  /// Databases of which it is remembered how far the zones are that were written to lately.
  public static let databasesWritten = 64
  /// Tables and directions that are synced at once.
  public static let sessions = 64
  /// Exchange frames on their way at once, and those that may wait behind them.
  public static let exchangesInFlight = 16
  public static let exchangesWaiting = 1_024
  /// Bytes of operations in one frame; the rest of `Limits.frameBytes` is for what surrounds them.
  public static let frameBytes = Limits.frameBytes - (64 << 10)
  /// Pages that one frame asks for: beyond, each would be too small to be worth its place.
  public static let pullsPerFrame = 32
  /// Bodies that the pages of one frame may hold together.
  public static let pulledBytes = Limits.pageBytes
  /// Rows and bodies of one push.
  public static let rowsPerPush = Limits.recordsPerCommit
  public static let bytesPerPush = 1 << 20
  /// Times one push may be told of missing chunks before it is put off.
  public static let stagingRounds = 4
  /// Chunk messages on their way at once: of one table, and of all.
  public static let chunkMessagesPerTable = 3
  public static let chunkMessages = 6
  /// Chunks offered to one upload message: as many as fit are taken.
  public static let chunksPerUpload = 1_024
  /// How long a chunk message waits altogether where the cloud says when to come again (CK-101); its session, beyond.
  public static let ratePatience: Duration = .seconds(2)
  /// Hashes in one request for chunks: rather more than an answer holds, so that an object of about its size does not
  /// need a second one for its last chunk. What an answer leaves out is asked for again.
  public static let chunksPerRequest = Limits.chunkBatchBytes * 3 / 2 / (64 << 10)
  /// The most that is entrusted to one message as long as nothing is lost, and the least after losses.
  public static let largestMessage = Limits.chunkBatchBytes
  public static let fragmentBytes = 4 << 10
  /// What a loss divides it by, and how many large messages pass before it doubles.
  public static let fragmentDivisor = 8
  public static let passesToDouble = 16
  /// Times a message that cannot be smaller is sent again before its table waits.
  public static let resends = 4
  /// Pieces that a chunk is cut into, and each of those into the next: as many as a patch may have bases.
  public static let pieceBytes = [Limits.chunkBytes >> 2, Limits.chunkBytes >> 4, fragmentBytes]
  /// Chunks of which parts are kept until the rest is here.
  public static let chunksInParts = 4
  /// Chunks and patches that travel with a push, each and together; larger ones go to storage by themselves.
  public static let ridingChunkBytes = 4 << 10
  public static let ridingBytes = 64 << 10
  /// The same over links that cost nothing by the byte, where the cloud is not asked first what it lacks.
  public static let freelyRidingBytes = 384 << 10
  /// Bytes of a row's objects that are worth a message before the row is written, and messages of one table that are
  /// on their way so early.
  public static let earlyBytes = 256 << 10
  public static let earlyMessages = 4
  /// Times that a row being written had so much, and the sync loop has not looked: what is more goes with its row.
  public static let cutsWaiting = 64
  /// Chunks of which it is known that they went ahead.
  public static let earlyChunks = 4_096
  /// After so many patches in a row that were too large to ride, the object is taken for another one.
  public static let vainPatches = 3
  public static let tickets = 256
  /// A ticket this close to its end is not used any more.
  public static let ticketMarginMilliseconds: Int64 = 10_000
  /// For one frame, or one chunk message; after that the table is tried again (E17).
  public static let exchangeDeadline: Duration = .seconds(10)
  public static let chunkDeadline: Duration = .seconds(30)
  public static let firstRetryMilliseconds: UInt64 = 100
  public static let longestRetryMilliseconds: UInt64 = 60_000
  /// Failures of a transient kind after which an app that waits for its sync is told.
  public static let attemptsBeforeAnswer: UInt32 = 3
  /// Failures in a row inside the cloud after which a table rests until somebody resets it; at a minute each, half an
  /// hour.
  public static let attemptsBeforeFault: UInt32 = 40
  /// Between two signs of life, so that what was missed is offered again even if nobody noticed the loss.
  public static let heartbeatMilliseconds: UInt64 = 240_000
  /// Chunks brought to a cloud that had lost them, of which a device remembers for a heartbeat that it did.
  public static let chunksBrought = 4_096
  /// Refusals of the device's credentials in a row after which it is marked: with the waits between them half a minute
  /// or more, in which a broker that has just started comes to know its accounts.
  public static let refusalsBeforeMark = 10
  /// Between two times that a marked device tries its broker; up to a quarter more.
  public static let refusedRetryMilliseconds: UInt64 = 3_600_000
  /// Waiting bytes that make a transfer due before any deadline: enough to be worth one of its own. A cellular radio
  /// stays on for some twelve seconds afterwards; of the time that so much takes, that is a fifth.
  public static func volumeBytes(over link: LinkClass) -> UInt64 {
    switch link {
    case .wired, .wifi: 1 << 20
    case .cellular, .roaming: 32 << 20
    }
  }
  /// A table rides along once in this part of its period, at most this long, and so often in a row: beside one that
  /// never rests it would be sent as often as that one.
  public static let restsPerPeriod: UInt64 = 10
  public static let longestRestMilliseconds: UInt64 = 10_000
  public static let ridesInARow: UInt64 = 6
  /// A transfer that begins this long after a deadline is counted as late.
  public static let patienceMilliseconds: UInt64 = 1_000
  /// A wall clock that gets ahead of the monotonic one by more than this has jumped.
  public static let clockJumpMilliseconds: Int64 = 1_000
  /// What is written down of a link's budget at once, before it is used; a crash costs the day at most so much.
  public static let budgetGrantBytes: UInt64 = 256 << 10
  /// How long rows that the cloud has refused as they are wait before they are tried again: it may have learnt what it
  /// lacked. An app that changes or demands them does not wait.
  public static let refusedRestMilliseconds: UInt64 = 3_600_000
  /// How often it is looked whether a new day has begun, while there is a budget: clocks are set, and devices sleep.
  public static let dayCheck: Duration = .seconds(900)
  /// With less left of its budget the device does not begin to speak over a link.
  public static let leastBudgetBytes: UInt64 = 8 << 10
  /// Of a row that nothing is known about yet, where only so many are wanted.
  public static let rowGuess = 1 << 10
  /// Of a budget that is nearly used up, for what surrounds the rows of a push, and each row, and for their answer.
  public static let pushCost = 1 << 10
  public static let rowCost = 512
  /// The same for a chunk that is asked for: its name and those of its bases, there and back.
  public static let chunkCost = 512
  /// Rows too large for what is left of a budget that are looked behind for smaller ones in one turn of the store.
  public static let passedOverAtOnce = 1_000
  /// Beside what an operation asks for or brings back itself: its result.
  public static let answerBytes: UInt64 = 256
  /// Of the outcomes of a batch that went in parts, those of one part.
  public static let partOutcomeBytes: UInt64 = 32 << 10
  /// Between two times that what the links carried is written down.
  public static let usageSaveMilliseconds: UInt64 = 60_000
  public static let usageDays: Int64 = 31
  /// Rows that may be lost are given up when their table's period, or so long where it has none, brought no transfer.
  public static let lossIntervalMilliseconds: UInt64 = 60_000
  /// How long an app's demand waits for a connection that is just being made.
  public static let connectionGrace: Duration = .seconds(3)
  /// After how long without a connection a log says so.
  public static let outageNotice: Duration = .seconds(5)
  /// How long a connection that is given up may take to end.
  public static let drainDeadline: Duration = .seconds(1)
  public static let notificationsWaiting = 64
  /// Changes of cloud records that one frame carries.
  public static let changesPerFrame = 64
  /// Chunks of an object being written for a record of the cloud that are read for one upload message.
  public static let writtenChunksTogether = Limits.chunkBatchBytes / Limits.chunkBytes
  /// Objects of records of the cloud whose chunks are remembered between two pieces, up to twice as many.
  public static let cloudObjectsKnown = 8
  /// Bytes of records of the cloud in one answer to an app; one record comes in any case.
  public static let recordBytesPerAnswer = 1 << 20
  /// So many numbers back a change of cloud records may be asked for again; as numbers grow with the milliseconds, that
  /// is an hour for apps that change less than a thousand a second.
  public static let changesRemembered: UInt64 = 3_600_000
  /// Record types that are remembered for apps which ask the cloud itself, and how long.
  public static let cloudTypes = 256
  public static let cloudTypeFreshness: Duration = .seconds(60)
  /// Apps that wait for one table and direction.
  public static let waitersPerTable = 256
}
