internal import CaravanCrypto
internal import CaravanModel
internal import CaravanSQLite

/// Whose the store is: one user's in one environment, from the first device that opens it on.
struct StoreOwner: StorePart {
  let context: StoreContext

  /// Makes the store the user's whose device opens it first, and nobody else's from then on: what is in it and not at
  /// the cloud would go to another's zones, and what is at the cloud would seem deleted. It is of one environment as
  /// well; those from before devices had one are development's.
  /// - Throws: `notAuthenticated` when it is another user's, or the other environment's.
  func claim(for device: EnrolledDevice) throws(CaravanError) {
    let holder = Self.holder(of: device)
    let kept = try database.first("SELECT value FROM meta WHERE key = 'user'") { row in row.bytes(0) }
    // One that is rotten keeps nobody out.
    guard let kept, Self.sealed(kept.dropFirst(Self.sealBytes)) == kept else {
      return try database.run("INSERT OR REPLACE INTO meta VALUES ('user', ?)", Self.sealed(Array(holder.utf8)[...]))
    }
    let owner = String(decoding: kept.dropFirst(Self.sealBytes), as: UTF8.self)
    guard owner == holder else {
      throw CaravanError(
        .notAuthenticated,
        "\(context.directory) holds data of user '\(owner)', and this device is enrolled for '\(holder)': "
          + "use another directory")
    }
  }

  private static func holder(of device: EnrolledDevice) -> String {
    device.environment == .development ? device.user.text : "\(device.user)/\(device.environment.rawValue)"
  }

  private static let sealBytes = 8

  private static func sealed(_ name: ArraySlice<UInt8>) -> [UInt8] {
    Array(SHA256.hash(name).bytes.prefix(sealBytes)) + name
  }
}
