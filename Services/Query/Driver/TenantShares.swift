import CaravanModel
import CaravanQueryCore
import CaravanRuntime

/// How many questions each tenant has in work: of one partition's places nobody takes all.
final class TenantShares: Sendable {
  /// A user with all their databases, or the public database of one container.
  private enum Tenant: Hashable {
    case user(UserID)
    case everybody(ContainerID, Environment)

    init(_ database: DatabaseID) {
      self = database.owner.map { .user($0) } ?? .everybody(database.container, database.environment)
    }
  }

  private struct Taken {
    var all = 0
    var byViewer: [Query.Viewer?: Int] = [:]

    mutating func take(_ viewer: Query.Viewer?) -> Bool {
      let own = byViewer[viewer, default: 0]
      guard all < QueryLimits.inFlightPerTenant, viewer == nil || own < QueryLimits.inFlightPerViewer else {
        return false
      }
      all += 1
      byViewer[viewer] = own + 1
      return true
    }

    mutating func leave(_ viewer: Query.Viewer?) {
      all -= 1
      let own = (byViewer[viewer] ?? 1) - 1
      byViewer[viewer] = own == 0 ? nil : own
    }
  }

  private let taken = Mutex<[Tenant: Taken]>([:])

  /// - Parameter viewer: who asks about a public database; nil: about one's own.
  /// - Throws: `serverBusy` where the tenant, or this viewer, has no place left.
  func within<Result: Sendable>(
    _ database: DatabaseID, _ viewer: Query.Viewer?, _ body: () async throws(CaravanError) -> Result
  ) async throws(CaravanError) -> Result {
    let tenant = Tenant(database)
    let isIn = taken.withLock { $0[tenant, default: Taken()].take(viewer) }
    guard isIn else {
      throw CaravanError(
        .serverBusy, "many queries of this user or app are being answered: ask again", retryAfterMilliseconds: 100)
    }
    defer {
      taken.withLock { taken in
        taken[tenant]?.leave(viewer)
        if taken[tenant]?.all == 0 { taken[tenant] = nil }
      }
    }
    return try await body()
  }
}
