import CaravanModel
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

// Records of several types lie beside each other in a default zone (CK-09), and field ids are a type's own: what one
// type means by an id, another one does not.
extension DeviceSession {
  /// In place of the fields of a record: nothing of its body is wanted.
  static let noFields: [UInt32] = [.max]

  /// Looks at the record before a mutation of it that would mix two types: a save of some of its fields, or a deletion
  /// that says which type it means.
  /// - Throws: `schemaViolation` where the record is of another type.
  func checkType(
    of mutation: CaravanWire.Mutation, _ types: [UInt32: CaravanModel.RecordType], in zone: ZoneID
  ) async throws(CaravanError) {
    guard zone.name == DefaultZone.name, let type = types[mutation.type] else { return }
    guard mutation.kind == .delete || mutation.kind == .save && mutation.scope != .whole else { return }
    let found = try await cloud.storage.fetch([mutation.name], fields: Self.noFields, from: zone)
    for entry in try await visible(found.map { CaravanWire.Entry($0) }, in: zone.database) where !entry.deleted {
      guard try await isVersion(entry.type, of: type, in: zone.database) else {
        throw Self.otherType(mutation.name, type)
      }
    }
  }

  /// A conflict with a record of another type shows nothing of that: its fields mean something else.
  func refuseOtherTypes(
    in reply: inout CommitReply, of mutations: [CaravanWire.Mutation], _ types: [UInt32: CaravanModel.RecordType],
    in zone: ZoneID
  ) async throws(CaravanError) {
    guard zone.name == DefaultZone.name, reply.outcomes.count == mutations.count else { return }
    for (index, mutation) in mutations.enumerated() {
      guard mutation.kind != .read, let type = types[mutation.type], let server = reply.outcomes[index].server,
        !server.deleted, try await !isVersion(server.type, of: type, in: zone.database)
      else { continue }
      reply.outcomes[index] = CaravanWire.Outcome(
        verdict: .refused, failure: Failure(Self.otherType(mutation.name, type)))
    }
  }

  /// Leaves out records of other types than the one that was asked for.
  func ofType(
    _ id: UInt32, _ entries: [CaravanWire.Entry], in database: DatabaseID
  ) async throws(CaravanError) -> [CaravanWire.Entry] {
    guard id != 0, entries.contains(where: { !$0.deleted && $0.type != id }) else { return entries }
    let type = try await cloud.schema.type(id, of: database.container, in: database.environment)
    var list: [CaravanWire.Entry] = []
    for entry in entries {
      let isAsked: Bool
      if entry.deleted { isAsked = true } else { isAsked = try await isVersion(entry.type, of: type, in: database) }
      if isAsked { list.append(entry) }
    }
    return list
  }

  private func isVersion(
    _ id: UInt32, of type: CaravanModel.RecordType, in database: DatabaseID
  ) async throws(CaravanError) -> Bool {
    guard id != type.id else { return true }
    do throws(CaravanError) {
      let written = try await cloud.schema.type(id, of: database.container, in: database.environment)
      return written.definition == type.definition
    } catch {
      guard error.code == .tableNotFound else { throw error }
      return false
    }
  }

  private static func otherType(_ record: String, _ type: CaravanModel.RecordType) -> CaravanError {
    CaravanError(
      .schemaViolation,
      "the name '\(record)' is taken by a record of another type than '\(type.name)': save yours under another name")
  }
}
