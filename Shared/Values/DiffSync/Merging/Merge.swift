public import CaravanModel

/// The merge of requirements part 3.2 (thesis, appendix A), on values: what a client pulled with what it has pending.
/// One function a step; erratum E3: it follows SYNC_BEGIN_RESP.
///
///     var merge = Merge(objects: touched, log: pending, server: pulled, serverTime: now)
///     merge.run(after: currentHeight)
public struct Merge: Sendable, Hashable {
  /// D: the client's objects that `log` and `server` speak of, its pending changes in them.
  public internal(set) var objects: [String: Object]
  /// L: what is pending, in the order it was made.
  var log: [Diff]
  /// S: what came from the server.
  var server: [Diff]
  /// U: what goes to the server.
  public internal(set) var upstream: [Diff] = []
  /// Those of S that took effect, creates of objects that were here as updates.
  public internal(set) var applied: [Diff] = []
  /// Objects that are gone at the server, with edits that it has never seen.
  public internal(set) var aside: [String: UnsentObject] = [:]
  /// Objects that were created here and elsewhere with different content.
  public internal(set) var conflicts: [String] = []
  let serverTime: HybridStamp
  /// There is nothing in the server but what S and the pages before it say.
  private let isLast: Bool
  /// Objects that the merge looks at; those that are not in `objects` in the end are gone.
  public let touched: Set<String>

  /// - Parameter serverTime: a local clock that is ahead counts as far as this one (DIF-31).
  public init(
    objects: [String: Object], log: [Diff], server: [Diff], serverTime: HybridStamp, isLast: Bool = true
  ) {
    self.objects = objects
    self.log = log.map { $0.made(by: serverTime) }
    self.server = server
    self.serverTime = serverTime
    self.isLast = isLast
    touched = Set(objects.keys).union(log.lazy.map(\.uuid)).union(server.lazy.map(\.uuid))
  }

  /// Steps 1 to 8. The same S once more changes nothing (DIF-30).
  public mutating func run(after currentHeight: Seq) {
    mergeDeletes()
    keepLastUpdates()
    foldUpdatesIntoCreates()
    applyServerCreates()
    sendCreates()
    compareUpdates()
    sendUpdates()
    assignHeights(after: currentHeight)
  }

  /// Step 1. A delete beats everything else on its object, wherever it was made.
  mutating func mergeDeletes() {
    let deleted = Set(server.lazy.filter(\.isDelete).map(\.uuid))
    applied += server.filter(\.isDelete)
    for uuid in deleted { objects[uuid] = nil }
    log.removeAll { deleted.contains($0.uuid) }
    server.removeAll { deleted.contains($0.uuid) }
    mergeLocalDeletes()
  }

  private mutating func mergeLocalDeletes() {
    let createdHere = Dictionary(log.lazy.filter(\.isCreate).map { ($0.uuid, $0.created) }) { $1 }
    let known = Dictionary(server.map { ($0.uuid, $0.isCreate ? $0.height : nil) }) { $1 ?? $0 }
    var deleted: Set<String> = []
    for var delete in log where delete.isDelete && deleted.insert(delete.uuid).inserted {
      objects[delete.uuid] = nil
      // The server never knew it. If S shows it, it was our own create whose answer was lost.
      if let lost = createdHere[delete.uuid], known[delete.uuid] == nil {
        if !isLast { upstream += log.filter { $0.isCreate && $0.uuid == delete.uuid } + [delete] }
        // Unless others hear of the delete they give back what a restore took.
        guard isLast, let lost else { continue }
        delete.created = lost
      }
      if let created = known[delete.uuid] ?? nil { delete.created = created }
      upstream.append(delete)
    }
    log.removeAll { deleted.contains($0.uuid) }
    server.removeAll { deleted.contains($0.uuid) }
  }

  /// Step 2. Of the local updates of one field the last remains: the latest, of equals the one logged last.
  mutating func keepLastUpdates() {
    var last: [FieldKey: Int] = [:]
    for (index, diff) in log.enumerated() {
      guard let key = diff.updatedField else { continue }
      if let other = last[key], log[other].timestamp > diff.timestamp { continue }
      last[key] = index
    }
    log = log.enumerated().filter { index, diff in diff.updatedField.map { last[$0] == index } ?? true }.map(\.element)
  }

  /// Step 3. A local update of an object that is created here, too, becomes part of its create; also one that empties a
  /// field, for the server may have the create already, by a message whose answer was lost.
  mutating func foldUpdatesIntoCreates() {
    var folded: [Diff] = []
    var places: [String: Int] = [:]
    for diff in log where diff.isCreate {
      places[diff.uuid] = folded.count
      folded.append(diff)
    }
    for diff in log where !diff.isCreate {
      guard case .update(let field, let value) = diff.change, let place = places[diff.uuid],
        case .create(var fields) = folded[place].change
      else {
        folded.append(diff)
        continue
      }
      fields[field] = Stamped(value, at: diff.timestamp)
      folded[place].change = .create(fields)
    }
    log = folded
  }

  /// Step 5.
  mutating func sendCreates() {
    upstream += log.filter(\.isCreate)
    log.removeAll(where: \.isCreate)
  }

  /// Step 6. Field by field the later update wins, and of equals the server's; what one side alone changed stays.
  mutating func compareUpdates() {
    var latest: [FieldKey: Diff] = [:]
    for diff in server {
      guard let key = diff.updatedField else { continue }
      if let other = latest[key], other.height ?? 0 > diff.height ?? 0 { continue }
      latest[key] = diff
    }
    var local: [FieldKey: Diff] = [:]
    for diff in log { if let key = diff.updatedField { local[key] = diff } }
    var beaten: Set<FieldKey> = []
    for diff in server {
      guard let key = diff.updatedField, let theirs = latest.removeValue(forKey: key) else { continue }
      objects[key.uuid]?.isStale = false
      if let ours = local[key], ours.timestamp > theirs.timestamp { continue }
      beaten.insert(key)
      take(theirs)
    }
    log.removeAll { $0.updatedField.map { beaten.contains($0) } ?? false }
    server = []
  }

  /// Step 7, the updates of one object side by side. An update of what is no longer here is moot.
  mutating func sendUpdates() {
    var groups: [String: Int] = [:]
    var updates: [[Diff]] = []
    for diff in log where objects[diff.uuid] != nil {
      if let group = groups[diff.uuid] {
        updates[group].append(diff)
      } else {
        groups[diff.uuid] = updates.count
        updates.append([diff])
      }
    }
    upstream += updates.joined()
    log = []
  }

  /// Step 8. U lies in the order deletes, creates, updates.
  mutating func assignHeights(after currentHeight: Seq) {
    for index in upstream.indices { upstream[index].height = currentHeight + Seq(index) + 1 }
  }

  mutating func take(_ diff: Diff) {
    guard objects[diff.uuid] != nil || diff.isCreate else { return }
    objects.apply(diff)
    applied.append(diff)
  }
}
