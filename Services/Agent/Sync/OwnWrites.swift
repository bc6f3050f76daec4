internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// How far the zones are that this device has written to lately, so that its questions to the cloud are answered with
/// what it wrote (CK-31). What is forgotten is seen a moment later.
final class OwnWrites: Sendable {
  private struct Database: Hashable {
    let container: String
    let isPublic: Bool
  }

  private let zones = Mutex(
    BoundedCache<Database, [CaravanModel.Query.Seen]>(capacity: EngineLimits.databasesWritten))

  func note(_ operations: [Operation.Kind], _ results: [Result.Kind]) {
    for (operation, result) in zip(operations, results) {
      guard case .commit(let reply) = result, reply.incarnation > 0, reply.zoneSeq > 0 else { continue }
      switch operation {
      case .push(let push): note(reply, push.container, push.database == .public, push.zone)
      case .commitGroup(let commit): note(reply, commit.container, false, commit.zone)
      default: continue
      }
    }
  }

  private func note(_ reply: CommitReply, _ container: String, _ isPublic: Bool, _ zone: String) {
    // The parts of a default zone are numbered each by itself.
    guard zone != DefaultZone.name else { return }
    let database = Database(container: container, isPublic: isPublic)
    zones.withLock { databases in
      var zones = (databases.value(for: database) ?? []).filter { $0.zone != zone }
      zones.append(.init(zone: zone, incarnation: reply.incarnation, seq: reply.zoneSeq))
      databases.insert(zones.suffix(Limits.querySeenZones), for: database)
    }
  }

  /// - Parameter zone: that is asked about; nil: all are.
  func seen(in container: String, isPublic: Bool, zone: String?) -> [CaravanModel.Query.Seen] {
    let written = zones.withLock { $0.value(for: Database(container: container, isPublic: isPublic)) } ?? []
    return written.filter { zone == nil || zone == $0.zone }
  }

  /// Some zone is another one by now.
  func forget(_ container: String, isPublic: Bool) {
    zones.withLock { $0.remove(Database(container: container, isPublic: isPublic)) }
  }
}
