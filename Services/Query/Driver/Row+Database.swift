import CaravanModel
import CaravanSQLite

extension CaravanSQLite.Row {
  /// The database that three columns name: container, environment and owner.
  /// - Parameter first: the first of them.
  /// - Returns: nil: its environment is of another release.
  func database(at first: Int32 = 0) throws(CaravanError) -> DatabaseID? {
    guard let environment = Environment(rawValue: text(first + 1)) else { return nil }
    return try DatabaseID(
      container: ContainerID(text(first)), environment: environment, ownerText: text(first + 2))
  }
}
