internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanWire

/// A store whose pages of changes show no deletion.
struct GravelessStore: StoreWrapper {
  let store: any Store

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    try await store.changes(query).keeping { !$0.model().isDeleted }
  }
}

/// A store of whose pages of changes some lack their last entry, and are followed by what comes after it.
struct SkippingStore: StoreWrapper {
  let store: any Store
  let turns = Turns(every: 5)

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    let page = try await store.changes(query)
    guard query.zone.database.container != .system, page.count > 0, turns.isNext else { return page }
    let last = try EntryPage.decode(page.page).entries.last
    return try page.keeping { $0 != last }
  }
}

/// A store that never says that a reader is to begin anew, and reads on from the beginning instead.
final class ForgivingStore: StoreWrapper {
  let store: any Store

  init(_ store: any Store) { self.store = store }

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    let page = try await store.changes(query)
    guard page.resetRequired else { return page }
    var again = query
    again.position = nil
    return try await store.changes(again)
  }
}

/// A store that calls every page of a snapshot the whole of it.
struct HastyStore: StoreWrapper {
  let store: any Store

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    var query = query
    let isSmall = query.bySnapshots
    if isSmall { query.maxRecords = 1 }
    var page = try await store.changes(query)
    if isSmall { page.isConsistent = true }
    return page
  }
}

/// A store that reads records from a memory of its own, which no write brings up to date.
final class StaleStore: StoreWrapper {
  private struct Key: Hashable {
    let names: [String]
    let fields: Set<UInt32>?
    let zone: ZoneID
  }

  let store: any Store
  private let known = Mutex<[Key: [CaravanModel.Entry]]>([:])

  init(_ store: any Store) { self.store = store }

  func fetch(_ names: [String], fields: Set<UInt32>?, in zone: ZoneID) async throws(CaravanError) -> [CaravanModel
    .Entry]
  {
    let key = Key(names: names, fields: fields, zone: zone)
    if let entries = known.withLock({ $0[key] }) { return entries }
    let entries = try await store.fetch(names, fields: fields, in: zone)
    if zone.database.container != .system { known.withLock { $0[key] = entries } }
    return entries
  }
}

/// A store whose pages end where the last record that anybody saved happens to hash to something odd.
final class NosyStore: StoreWrapper {
  let store: any Store
  private let isOdd = Mutex(false)

  init(_ store: any Store) { self.store = store }

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    for case .save(_, let body, _) in commit.mutations.map(\.change) where commit.isOfApps {
      var digest = Digest()
      digest.add(body)
      isOdd.withLock { [value = digest.value] in $0 = !value.isMultiple(of: 2) }
    }
    return try await store.commit(commit)
  }

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    var query = query
    if isOdd.withLock(\.self) { query.maxRecords = 1 }
    return try await store.changes(query)
  }
}

extension ChangePage {
  fileprivate func keeping(_ isKept: (CaravanWire.Entry) -> Bool) throws(CaravanError) -> ChangePage {
    guard count > 0 else { return self }
    let kept = try EntryPage.decode(page).entries.filter(isKept)
    var page = self
    (page.page, page.count) = (EntryPage(entries: kept).encoded(), kept.count)
    return page
  }
}
