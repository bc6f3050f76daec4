import CaravanAgentCore
import CaravanModel

@testable import CaravanAgentStore

extension LocalStore {
  /// The app's tables, in the order of their creation.
  func tableNames(of app: ContainerID) -> [String] {
    tables.values.filter { $0.table.app == app }.sorted { $0.number < $1.number }.map(\.table.name)
  }
}
