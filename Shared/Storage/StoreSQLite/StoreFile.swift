internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

internal import struct Synchronization.Atomic

/// One file with its writer and readers.
final class StoreFile: Sendable {
  let writer: FileWriter
  /// Where devices have shown to be, until maintenance writes it.
  let sightings = Mutex(Sightings())
  private let readers: [FileReader]
  private let turn = Atomic<Int>(0)

  init(
    number: Int, options: StoreOptions, host: Host, liveness: Liveness, observer: (any CommitObserver)?,
    disk: Outage, spread: SpreadAccounts
  ) async throws(CaravanError) {
    let place: FilePlace =
      switch options.location {
      case .directory(let path): FilePlace(path, number: number)
      case .memory: .memory
      }
    var writing = ConnectionOptions()
    writing.durability = options.durability
    (writing.tap, writing.statements) = (options.tap, options.statements)
    writing.cacheBytes = FileLimits.writerCacheBytes
    writing.returnsPages = true
    writing.checkpointPages = FileLimits.checkpointPages
    writer = FileWriter(
      name: "store-\(number)", host: host, liveness: liveness, observer: observer,
      metrics: FileMetrics(file: number, host), disk: disk)
    let life: UInt64
    do throws(CaravanError) {
      life = try await writer.open(place, writing, number: number, options, host: host, spread: spread)
    } catch {
      throw error.isDamagedDatabase ? Self.damaged(place, error) : error
    }

    var reading = ConnectionOptions()
    reading.isReadOnly = true
    reading.cacheBytes = FileLimits.readerCacheBytes
    (reading.tap, reading.statements) = (options.tap, options.statements)
    readers = (0..<options.readersPerFile).map { index in
      FileReader(
        name: "read-\(number).\(index)", host: host, place: place, options: reading, life: life, liveness: liveness)
    }
  }

  /// Leases, cursors and sums over all users need every file: without one of them nothing is served.
  private static func damaged(_ place: FilePlace, _ error: CaravanError) -> CaravanError {
    CaravanError(
      .internalError,
      "\(place.path) is damaged where it says what is in it (\(error.message)): look at the disk; then restore the "
        + "newest backup into a new directory (caravan-storage restore BACKUP --data DIR) and start on that: devices "
        + "bring what they have of later changes")
  }

  func write<Value: Sendable>(
    bytes: Int = 0, isDurable: Bool = true, _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    try await writer.write(bytes: bytes, isDurable: isDurable, work)
  }

  /// On a snapshot that has everything acknowledged before the call.
  func read<Value: Sendable>(
    _ work: @Sendable (FileReads) throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    guard !readers.isEmpty else { return try await writer.read(work) }
    let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return try await readers[Int(UInt(bitPattern: index) % UInt(readers.count))].read(work)
  }

  func close() async {
    for reader in readers { await reader.close() }
    await writer.close()
  }
}
