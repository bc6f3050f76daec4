import CaravanAgentCore
import CaravanAgentStore
import CaravanChunking
import CaravanModel
import CaravanTestKit

/// A store whose process can be killed, and whose power can be cut, at any change it makes to the disk. What comes
/// after is another life, on the files that are left.
final class FragileStore {
  enum Death: String, Sendable, CaseIterable {
    case kill
    /// What was not synced is gone.
    case powerCut
    /// What was not synced is there in pieces.
    case scatteringCut
  }

  private let directory: TemporaryDirectory
  private let options: LocalStoreOptions
  private var files: CrashFiles
  private var lives: UInt64 = 0
  private(set) var disk = FragileDisk()
  private(set) var store: LocalStore

  /// Small pieces, so that objects of a few thousand bytes have many chunks, in the file as well as in the database.
  static var options: LocalStoreOptions {
    var options = LocalStoreOptions()
    options.chunking = .init(minimum: 64, average: 256, maximum: 1_024)
    options.inlineBytes = 128
    return options
  }

  init(_ options: LocalStoreOptions = options) async throws {
    directory = try TemporaryDirectory()
    files = CrashFiles("\(directory.path)/store")
    files.open()
    self.options = options
    store = try await Self.open(files.directory, options, disk)
  }

  private static func open(
    _ directory: String, _ options: LocalStoreOptions, _ disk: FragileDisk
  ) async throws -> LocalStore {
    var options = options
    options.tap = disk
    return try await LocalStore.open(directory, host: StoreFixture.host(seed: 3), options: options)
  }

  /// The end of this life, wherever its disk is; opens the next.
  /// - Parameter changes: one life more ends after so many, in the middle of its recovery.
  func die(_ death: Death, again changes: Int) async throws {
    let old = (store: store, disk: disk)
    old.disk.die(afterChanges: 0)
    lives += 1
    files.die(powerCutOn: death == .kill ? nil : old.disk)
    await old.store.close()
    disk = FragileDisk(death == .scatteringCut ? .scattered(seed: lives) : .dropped)
    disk.die(afterChanges: changes)
    if let short = try? await Self.open(files.directory, options, disk) { store = short }
    try await die(death)
  }

  /// The end of this life, wherever its disk is; opens the next.
  func die(_ death: Death) async throws {
    let old = (store: store, disk: disk)
    old.disk.die(afterChanges: 0)
    lives += 1
    files.die(powerCutOn: death == .kill ? nil : old.disk)
    await old.store.close()
    disk = FragileDisk(death == .scatteringCut ? .scattered(seed: lives) : .dropped)
    store = try await Self.open(files.directory, options, disk)
  }

  func close() async {
    await store.close()
    directory.remove()
  }
}
