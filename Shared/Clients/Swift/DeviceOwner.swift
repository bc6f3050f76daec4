package import CaravanModel
internal import CaravanWire

/// The device's owner, the user who runs the agent or root: decides which users may be which apps.
package final class DeviceOwner: Sendable {
  /// An app of the device.
  package struct App: Sendable, Hashable {
    package enum Standing: String, Sendable {
      case bound
      /// It has not come since.
      case allowed
      /// It came, and was refused.
      case waiting
    }

    package let name: String
    package let user: UInt32
    package let standing: Standing

    init?(_ entry: AppEntry) {
      switch entry.standing {
      case .bound: standing = .bound
      case .allowed: standing = .allowed
      case .waiting: standing = .waiting
      case .unspecified: return nil
      }
      name = entry.app
      user = entry.uid
    }
  }

  private let connection: AppConnection

  private init(_ connection: AppConnection) { self.connection = connection }

  /// Connects, runs `body`, and disconnects.
  /// - Parameters:
  ///   - socket: path of the agent's socket.
  ///   - patience: as `CaravanClient.withConnection` has it.
  /// - Throws: `notAuthenticated` to any other user; what `body` throws.
  package nonisolated(nonsending) static func withConnection<Result: Sendable>(
    to socket: String, within patience: Duration? = nil, _ body: (DeviceOwner) async throws -> Result
  ) async throws -> Result {
    let connection = AppConnection(try AppSocket.connected(to: socket), within: patience)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await connection.run() }
      defer { connection.shutDown() }
      guard case .welcome = try await connection.request(.hello(AppHello(owner: true))) else {
        throw AppConnection.surprise("hello")
      }
      connection.letIn()
      return try await body(DeviceOwner(connection))
    }
  }

  package func apps() async throws(CaravanError) -> [App] {
    guard case .apps(let list) = try await connection.request(.listApps(Empty())) else {
      throw AppConnection.surprise("list of apps")
    }
    return list.apps.compactMap { App($0) }
  }

  /// Has a user be the app. A token that the app had is void.
  /// - Throws: `objectExists` while it is another user's.
  package func allow(_ app: ContainerID, user: UInt32) async throws(CaravanError) {
    try await connection.done(.allowApp(AllowApp(app: app.text, uid: user)))
  }

  /// Ends the app's connections and its binding.
  /// - Returns: how many tables of it stay.
  /// - Throws: `noSuchObject`.
  package func forget(_ app: ContainerID) async throws(CaravanError) -> UInt64 {
    guard case .affected(let affected) = try await connection.request(.forgetApp(AppName(app: app.text))) else {
      throw AppConnection.surprise("request")
    }
    return affected.rows
  }
}
