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

  private let taken = Mutex<[Tenant: Int]>([:])

  /// - Throws: `serverBusy` where the tenant has no place left.
  func within<Result: Sendable>(
    _ database: DatabaseID, _ body: () async throws(CaravanError) -> Result
  ) async throws(CaravanError) -> Result {
    let tenant = Tenant(database)
    let isIn = taken.withLock { taken in
      guard taken[tenant, default: 0] < QueryLimits.inFlightPerTenant else { return false }
      taken[tenant, default: 0] += 1
      return true
    }
    guard isIn else {
      throw CaravanError(
        .serverBusy, "\(QueryLimits.inFlightPerTenant) queries of this user or app are being answered: ask again",
        retryAfterMilliseconds: 100)
    }
    defer {
      taken.withLock { taken in
        let left = (taken[tenant] ?? 1) - 1
        taken[tenant] = left == 0 ? nil : left
      }
    }
    return try await body()
  }
}
