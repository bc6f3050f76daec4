package import CaravanModel
package import CaravanRuntime
import CaravanStorageCore
package import CaravanStore

/// Several stores as one archive: of each user what is in the store where the user is, of everything else what the main
/// one has. What it is restored into is one store, with all users in it; they can be moved again.
package struct RoutedArchive: ArchiveSource {
  private let home: any HomeSource
  private let neighbours: [String: any ArchiveSource]
  private let placements: [UserID: Placement]

  /// Opens all of them while nobody is on the way from one to another; waits for that.
  /// - Parameters:
  ///   - home: opens the main store, each time as it is then.
  ///   - others: where the others are, by name.
  ///   - neighbour: opens one of those.
  /// - Throws: `serverBusy` when somebody is on the way for too long, `invalidData` when users are in a store that is
  ///   not given.
  package static func open<Place>(
    home: () throws(CaravanError) -> any HomeSource, _ others: [String: Place],
    neighbour: (Place) throws(CaravanError) -> any ArchiveSource, clock: any Clock
  ) async throws(CaravanError) -> RoutedArchive {
    let expiry = clock.now + StorageLimits.archivePatience
    while true {
      if let archive = try RoutedArchive(home, others, neighbour) { return archive }
      guard clock.now < expiry else {
        throw CaravanError(.serverBusy, "users are being moved from store to store: make the backup later")
      }
      do { try await clock.sleep(for: StorageLimits.archivePause) } catch {
        throw CaravanError(.cancelled, "the task was cancelled")
      }
    }
  }

  /// nil: somebody is on the way, or was while they were opened. Where users are is written before anything is done.
  private init?<Place>(
    _ home: () throws(CaravanError) -> any HomeSource, _ others: [String: Place],
    _ neighbour: (Place) throws(CaravanError) -> any ArchiveSource
  ) throws(CaravanError) {
    let before = try home().records(of: PlacementCache.zone)
    var neighbours: [String: any ArchiveSource] = [:]
    for (name, place) in others { neighbours[name] = try neighbour(place) }
    self.neighbours = neighbours
    self.home = try home()
    let records = try self.home.records(of: PlacementCache.zone)
    placements = try PlacementCache.read(records)
    guard records == before, placements.values.allSatisfy({ $0.next == .rest }) else { return nil }
    for (owner, placement) in placements where placement.store != Placement.main && neighbours[placement.store] == nil {
      throw CaravanError(
        .invalidData, "user '\(owner)' is in store '\(placement.store)': name it, with --store \(placement.store)=…")
    }
  }

  private func store(of owner: UserID?) -> String { owner.flatMap { placements[$0]?.store } ?? Placement.main }

  /// The main store last: of what two have, an op before and after a move, it is the last one that counts.
  package func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    for (name, source) in neighbours.sorted(by: { $0.key < $1.key }) { try export(source, of: name, take) }
    try export(home, of: Placement.main, take)
  }

  private func export(
    _ source: any ArchiveSource, of name: String, _ take: (StoreContent) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    var database: DatabaseID?
    var isTaken = false
    try source.export { item throws(CaravanError) in
      switch item {
      case .database(let id): (database, isTaken) = (id, store(of: id.owner) == name)
      case .zone(let zone):
        // Where users are says nothing of the store that this goes into.
        let placementCache = PlacementCache.zone
        isTaken =
          store(of: database?.owner) == name
          && (database != placementCache.database || zone.name != placementCache.name)
      case .chunk, .damaged, .record: break
      case .op, .reach: isTaken = true
      case .quota(let account, _): isTaken = store(of: Account(key: account)?.user) == name
      // Others' logs are in the main store's.
      case .head: isTaken = name == Placement.main
      }
      if isTaken { try take(item) }
    }
  }
}
