internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Record types of apps that ask the cloud itself. What is remembered may be behind the cloud: a field that it lacks is
/// looked for there, and a type that the cloud does not know any more is forgotten. Records behave as the version says
/// with which they are saved, so that none counts for long.
final class CloudTypes: Sendable {
  private struct Known {
    let type: CaravanModel.RecordType
    let until: Instant
  }

  private let clock: any Clock
  private let known = Mutex(BoundedCache<TableID, Known>(capacity: EngineLimits.cloudTypes))

  init(clock: any Clock) { self.clock = clock }

  func known(_ table: TableID) -> CaravanModel.RecordType? {
    guard let known = known.withLock({ $0.value(for: table) }), clock.now < known.until else { return nil }
    return known.type
  }

  func forget(_ table: TableID) { known.withLock { $0.remove(table) } }

  /// The type as the cloud has it now, with these fields, which it gains where it lacks them.
  /// - Parameter fields: none: it is looked for only.
  /// - Throws: `tableNotFound` where a type that is looked for is not there; what the cloud refuses.
  func agree(
    on fields: [CaravanModel.FieldDefinition] = [], of table: TableID, over exchanger: Exchanger
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let wanted = CaravanModel.RecordType(id: 0, definition: 0, name: table.name, fields: fields)
    let proposal = ProposeTable(
      container: table.app.text, type: CaravanWire.RecordType(wanted), remembered: true, partial: true)
    let result = try await exchanger.exchange([.propose(proposal)], through: [])[0]
    guard case .type(let found) = result else {
      let error = CaravanError.unexpected(result, to: "proposal")
      if error.code == .tableNotFound { forget(table) }
      throw error
    }
    let type = try found.model()
    let until = clock.now + EngineLimits.cloudTypeFreshness
    known.withLock { $0.insert(Known(type: type, until: until), for: table) }
    return type
  }
}
