import CaravanModel

@testable import CaravanDiffSync

/// Diffs in few words.
func create(_ uuid: String, _ fields: [String: Int64] = [:], at time: UInt64, height: Seq? = nil) -> Diff {
  let stamp = HybridStamp(rawValue: time)
  return Diff(
    height: height, timestamp: stamp, objtype: "note", uuid: uuid,
    .create(fields.mapValues { Stamped(.integer($0), at: stamp) }))
}

func update(_ uuid: String, _ field: String, _ value: Int64?, at time: UInt64, height: Seq? = nil) -> Diff {
  Diff(
    height: height, timestamp: HybridStamp(rawValue: time), objtype: "note", uuid: uuid,
    .update(field: field, value.map { .integer($0) } ?? .null))
}

func delete(_ uuid: String, at time: UInt64 = 0, height: Seq? = nil, created: Seq? = nil) -> Diff {
  Diff(
    height: height, timestamp: HybridStamp(rawValue: time), objtype: "note", uuid: uuid, .delete, created: created)
}

func object(_ fields: [String: Int64] = [:]) -> Object {
  Object(objtype: "note", fields: fields.mapValues { .integer($0) })
}

extension [String: Object] {
  /// Without what only a restore of the server asks for.
  var bare: [String: Object] { mapValues { Object(objtype: $0.objtype, fields: $0.fields, isStale: $0.isStale) } }
}

extension Merge {
  /// - Parameter objects: D before the pending changes, which are done to it here.
  static func of(_ objects: [String: Object] = [:], log: [Diff] = [], server: [Diff] = []) -> Merge {
    var objects = objects
    for diff in log { objects.apply(diff) }
    return Merge(objects: objects, log: log, server: server, serverTime: HybridStamp(rawValue: .max))
  }

  func after(_ steps: (inout Merge) -> Void) -> Merge {
    var merge = self
    steps(&merge)
    return merge
  }

  func run(after height: Seq = 0) -> Merge { after { $0.run(after: height) } }
}
