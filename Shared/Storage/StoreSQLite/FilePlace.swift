internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// Where one file of a store is: the database, and beside it the file of its long chunks, which a store in memory has
/// not.
struct FilePlace: Sendable {
  let database: Connection.Location
  private let chunks: String?
  /// nil: in memory.
  private let directory: String?

  static let memory = FilePlace(database: .memory, chunks: nil, directory: nil)

  init(_ directory: String, number: Int) {
    self.init(
      database: .file("\(directory)/store-\(number).db"), chunks: "\(directory)/store-\(number).chunks",
      directory: directory)
  }

  private init(database: Connection.Location, chunks: String?, directory: String?) {
    self.database = database
    self.chunks = chunks
    self.directory = directory
  }

  /// For people.
  var path: String {
    switch database {
    case .file(let path): path
    case .memory: "the store in memory"
    }
  }

  /// Whose the store's devices are, by its registry: that lies in this file, or in one beside it.
  /// - Parameter db: of this file.
  func registeredDevices(beside db: Connection, number: Int, files: Int) throws(CaravanError) -> EnrolledNames {
    var names = EnrolledNames()
    let home = Int(Partition(of: EnrolledNames.registry.database).number) % files
    if home == number {
      try FileMigrations.learnDevices(db, &names)
    } else if let directory, DiskFile.exists("\(directory)/store-\(home).db") {
      var options = ConnectionOptions()
      options.isReadOnly = true
      let other = try Connection(FilePlace(directory, number: home).database, options)
      defer { other.close() }
      // A file that has no tables yet has no devices.
      if try other.userVersion > 0 { try FileMigrations.learnDevices(other, &names) }
    }
    return names
  }

  /// Whether a file of this name in a store's directory may be the store's, or the file system's own.
  static func isOfStore(_ name: String) -> Bool {
    name.hasPrefix("store-") || ["lock", "restoring", "lost+found"].contains(name)
  }

  /// For the one who writes; makes the file.
  func openChunks(_ options: StoreOptions) throws(CaravanError) -> LongChunks? {
    guard let chunks else { return nil }
    return LongChunks(
      file: try ChunkFile(chunks, isDurable: options.durability == .full, tap: options.tap),
      inlineBytes: options.inlineBytes)
  }

  /// For those who read.
  func readChunks() throws(CaravanError) -> DiskFile? {
    guard let chunks else { return nil }
    return try DiskFile(chunks, isReadOnly: true)
  }
}

/// Chunks that have a file of their own.
struct LongChunks {
  let file: ChunkFile
  /// Shorter ones lie in the database.
  let inlineBytes: Int
}
