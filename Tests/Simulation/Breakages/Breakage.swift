internal import CaravanBus
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore

internal import struct Synchronization.Atomic

/// A fault put into the cluster on purpose, to show that the checkers find it: a part of the product is wrapped by
/// something that undoes what the product sees to there.
public enum Breakage: String, Sendable, CaseIterable {
  /// The store forgets which ops it has applied.
  case opIDs = "op-ids"
  /// The store compares no commit with what its writer had seen.
  case staleBase = "stale-base"
  /// The store acknowledges some commits and drops them.
  case droppedCommit = "dropped-commit"
  /// The store leaves out the last change of each batch.
  case tornBatch = "torn-batch"
  /// Some commits are applied twice, the second time as another op.
  case repeatedCommit = "repeated-commit"
  /// Zones are found without their user.
  case zoneWithoutUser = "zone-without-user"
  /// Pages of changes have no tombstones.
  case noTombstones = "no-tombstones"
  /// Some pages of changes lack an entry.
  case skippedEntry = "skipped-entry"
  /// Who lacks what was purged is not told to begin anew.
  case noReset = "no-reset"
  /// Every page of a snapshot counts as the whole.
  case mixedSnapshot = "mixed-snapshot"
  /// Reads of records come from a cache that is never brought up to date.
  case staleRead = "stale-read"
  /// Storage gives out chunks whatever their checksums say.
  case chunkChecksum = "chunk-checksum"
  /// Nobody hears which chunks are damaged.
  case damageUntold = "damage-untold"
  /// Nobody reads chunks to see whether they are whole.
  case noScrub = "no-scrub"
  /// Nobody asks the store whether they have a lease.
  case leaseNotAsked = "lease-not-asked"
  /// A chunk ticket serves whoever shows it.
  case ticketWithoutDevice = "ticket-without-device"
  /// What is sent to a device's inbox reaches devices of other users too.
  case inboxWithoutUser = "inbox-without-user"
  /// Devices are not told of changes.
  case muteNotify = "mute-notify"
  /// A device sends everything twice, and counts it once.
  case uncountedBytes = "uncounted-bytes"
  /// The file of storage's chunks is not synced, and the power fails.
  case chunkFileUnsynced = "chunk-file-unsynced"
  /// The database of a device is not synced, and the power fails.
  case deviceUnsynced = "device-unsynced"
  /// Every device may listen at everybody's inbox.
  case wideInbox = "wide-inbox"
  /// Every device may speak as any other.
  case wideEdge = "wide-edge"
  /// The broker is not told of a revocation.
  case revocationUntold = "revocation-untold"
  /// Sync's credentials lack a subject that it uses.
  case narrowSync = "narrow-sync"
  /// The database of storage is not synced, and the power fails.
  case storageUnsynced = "storage-unsynced"
  /// The query service does not hear that a zone has begun another life.
  case resetUnheard = "reset-unheard"
  /// The query service counts some notifications as written that are not in their log.
  case lostNotification = "lost-notification"
  /// Sync does not say what somebody who asks a query has seen, and the index lags.
  case seenUntold = "seen-untold"
  /// The notify service counts some pushes as taken that nobody carries.
  case lostPush = "lost-push"
  /// Some push targets get what is another's.
  case foreignPush = "foreign-push"
  /// A push has another id at each try.
  case renamedPush = "renamed-push"
  /// Nobody is told what push targets do not take.
  case giveUpUntold = "give-up-untold"
  /// An app of another user counts as the device's owner.
  case hostileOwner = "hostile-owner"
  /// An app of another user sets the link of a device.
  case foreignLink = "foreign-link"

  /// How long pages are depends on what others have written.
  case nosyPages = "nosy-pages"
  /// Whether a device is told depends on what devices of others were told.
  case nosyNotify = "nosy-notify"

  /// Nothing that it does is wrong in itself: only another run shows it, with other contents.
  public var showsInTwo: Bool { [.nosyPages, .nosyNotify].contains(self) }

  /// As `--break` is to name them.
  public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

// MARK: Where they are put

extension Breakage {
  /// What shows in few clusters only is put where it shows.
  func shape(_ scale: inout Scale) {
    if [.damageUntold, .noScrub].contains(self) {
      scale.hasRot = !scale.hasRestore && !scale.hasMoves && !scale.hasPowerCuts && scale.shares.isEmpty
    }
    if self == .revocationUntold { scale.hasGuest = true }
    if [.resetUnheard, .lostNotification, .seenUntold].contains(self) { scale.hasSubscribers = !scale.hasRestore }
    if [.lostPush, .foreignPush, .renamedPush, .giveUpUntold].contains(self) {
      (scale.hasSubscribers, scale.hasPushes) = (!scale.hasRestore, true)
    }
    if self == .hostileOwner { scale.hasHostileApps = true }
    guard self == .noReset else { return }
    // Somebody is away for longer than tombstones are kept; of a restore they could not tell.
    scale.hasLateReader = !scale.hasRestore
    scale.tombstones.activity = .seconds(30)
  }

  /// - Parameter owner: the first user.
  func wrap(_ store: any Store, owner: UserID) -> any Store {
    switch self {
    case .opIDs: ForgetfulStore(store)
    case .staleBase: TrustingStore(store: store)
    case .droppedCommit: ForgettingStore(store: store)
    case .tornBatch: TearingStore(store: store)
    case .repeatedCommit: RepeatingStore(store)
    case .zoneWithoutUser: CommunalStore(store: store, owner: owner)
    case .noTombstones: GravelessStore(store: store)
    case .skippedEntry: SkippingStore(store: store)
    case .mixedSnapshot: HastyStore(store: store)
    case .staleRead: StaleStore(store)
    case .chunkChecksum: RottenStore(store)
    case .damageUntold: SilentStore(store: store)
    case .leaseNotAsked: GenerousStore(store: store)
    case .nosyPages: NosyStore(store)
    default: store
    }
  }

  /// Where those who read past the bus have it as well.
  func wrap(vault store: any Store & AnyObject) -> any Store & AnyObject {
    switch self {
    case .noReset: ForgivingStore(store)
    case .noScrub: UnreadStore(store)
    default: store
    }
  }

  /// The bus of storage.
  func wrap(storage bus: any MessageBus, _ keyring: Keyring) -> any MessageBus {
    self == .ticketWithoutDevice ? UndemandingBus(bus: bus, keyring: keyring) : bus
  }

  /// The bus of a notify service.
  func wrap(notify bus: any MessageBus, _ devices: [EnrolledDevice]) -> any MessageBus {
    switch self {
    case .inboxWithoutUser: MisdirectingBus(bus: bus, devices: devices)
    case .muteNotify: MuteBus(bus: bus)
    case .nosyNotify: NosyBus(bus: bus)
    case .lostPush: LossyPushBus(bus: bus)
    case .foreignPush: ChangedPushBus(bus: bus, .users)
    case .renamedPush: ChangedPushBus(bus: bus, .ids)
    case .giveUpUntold: SilentPushBus(bus: bus)
    default: bus
    }
  }

  /// The bus of a query service.
  func wrap(query bus: any MessageBus) -> any MessageBus {
    switch self {
    case .resetUnheard: ResetlessBus(bus: bus)
    case .lostNotification: LossyLogBus(bus: bus)
    case .seenUntold: HardOfHearingBus(bus: bus)
    default: bus
    }
  }

  /// The bus of a sync service.
  func wrap(sync bus: any MessageBus) -> any MessageBus { self == .seenUntold ? BlindBus(bus: bus) : bus }

  /// The bus of a device, where its bytes are counted already.
  func wrap(device bus: any MessageBus) -> any MessageBus {
    self == .uncountedBytes ? WastefulBus(bus: bus) : bus
  }

  /// What the account's token allows devices.
  func widen(_ permissions: inout Permissions) {
    switch self {
    case .wideInbox: permissions.subscribe.allow.append("inbox.>")
    case .wideEdge: permissions.publish.allow.append("edge.>")
    default: break
    }
  }

  /// How the disk of a process fails it; nil: it does not.
  func disk(of part: String, isDevice: Bool) -> CarelessDisk.Forgotten? {
    switch self {
    case .chunkFileUnsynced: part == "storage" ? .chunks : nil
    case .storageUnsynced: part == "storage" ? .database : nil
    case .deviceUnsynced: isDevice ? .database : nil
    default: nil
    }
  }
}

/// Says of some calls, one in so many, that it is their turn.
final class Turns: Sendable {
  private let period: Int
  private let count = Atomic<Int>(0)

  init(every period: Int) { self.period = period }

  var isNext: Bool { count.wrappingAdd(1, ordering: .relaxed).newValue % period == 0 }
}
