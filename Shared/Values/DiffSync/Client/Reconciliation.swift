internal import CaravanModel

// After a restore of the server: the client begins at height 0, is shown what there is, and gives back what it has of
// the heights that are lost. Field by field the later value wins, as always; what was deleted stays deleted.

extension [LostRange] {
  /// The height of an object that a restore took back with its creation; nil: the backup had it.
  func creation(of object: Object) -> Seq? {
    guard let created = object.created else { return unseen }
    return contains { $0.contains(created) } ? created : nil
  }

  /// For a creation that was sent, and how that ended was not seen: it is as young as can be.
  var unseen: Seq? { last.map { $0.after + 1 } }

  /// As the server is to see it: whether it is about an object that a restore took back.
  func claiming(_ diff: Diff) -> Diff {
    var diff = diff
    if let created = diff.created, !contains(where: { $0.contains(created) }) { diff.created = nil }
    return diff
  }
}

extension Merge {
  /// Takes what the client has later than the server into L, of objects that the server shows for the first time. From
  /// height 0 it shows them as creates.
  mutating func giveBack(_ lost: [LostRange]) {
    guard !lost.isEmpty else { return }
    keepDeletes(lost)
    // It was made anew after that delete.
    server.removeAll { diff in
      guard diff.isDelete, let object = objects[diff.uuid], object.isStale else { return false }
      return lost.creation(of: object).map { $0 > diff.height ?? 0 } ?? false
    }
    for diff in server {
      guard case .create(let fields) = diff.change, let object = objects[diff.uuid], object.isStale else { continue }
      for (field, ours) in object.stamped.sorted(by: { $0.key < $1.key }) {
        // Also where the server has the same, or has nothing and it was emptied: others may have what was in between.
        guard ours.timestamp > fields[field]?.timestamp ?? HybridStamp(rawValue: 0) else { continue }
        log.append(
          Diff(timestamp: ours.timestamp, objtype: object.objtype, uuid: diff.uuid, .update(field: field, ours.value))
            .made(by: serverTime))
      }
    }
  }

  /// What was created and deleted here others may have, when the create was sent and not answered.
  private mutating func keepDeletes(_ lost: [LostRange]) {
    let deleted = Set(log.lazy.filter(\.isDelete).map(\.uuid))
    for index in log.indices where log[index].isCreate && deleted.contains(log[index].uuid) {
      log[index].created = log[index].created ?? lost.unseen
    }
  }

  /// After the last page of a restart: what the server did not show is not there. What was lost is created again.
  mutating func settleStale(_ lost: [LostRange], after currentHeight: Seq) {
    let stale = objects.filter(\.value.isStale)
    for (uuid, edits) in Dictionary(grouping: upstream.compactMap(\.updatedField), by: \.uuid) {
      guard let object = stale[uuid], lost.creation(of: object) == nil else { continue }
      aside[uuid] = UnsentObject(objtype: object.objtype, fields: object.fields, edited: Set(edits.map(\.field)))
    }
    upstream.removeAll { stale[$0.uuid] != nil }
    var creates: [Diff] = []
    for (uuid, object) in stale.sorted(by: { $0.key < $1.key }) {
      guard let created = lost.creation(of: object) else {
        objects[uuid] = nil
        continue
      }
      objects[uuid]?.isStale = false
      creates.append(object.create(uuid, created).made(by: serverTime))
    }
    upstream.insert(contentsOf: creates, at: upstream.firstIndex { !$0.isDelete } ?? upstream.count)
    assignHeights(after: currentHeight)
  }
}

extension Object {
  fileprivate func create(_ uuid: String, _ created: Seq) -> Diff {
    Diff(
      timestamp: stamps.values.max() ?? HybridStamp(rawValue: 0), objtype: objtype, uuid: uuid, .create(stamped),
      created: created)
  }
}
