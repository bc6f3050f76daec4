internal import CaravanModel
internal import CaravanRuntime

/// Room on the disk that an app's writes and chunks from the cloud leave alone: a file that takes it, and gives it up
/// when the disk refuses a transaction. Rows can be deleted then, tables dropped, and what becomes of pushes recorded;
/// what adds to the store is refused until there is as much room again.
final class DiskReserve {
  private enum State {
    /// The store is being opened: recovery has it.
    case unclaimed
    case held
    case spent
  }

  private let file: DiskFile
  private let bytes: Int
  private var state = State.unclaimed

  /// - Parameter bytes: 0: none is kept.
  /// - Throws: `storageFull`.
  init(_ path: String, bytes: Int, tap: (any DiskTap)?) throws(CaravanError) {
    file = try DiskFile(path, tap: tap)
    self.bytes = bytes
    giveUp()
  }

  /// The disk has refused, and not had the room since.
  var isSpent: Bool { state == .spent }

  /// Takes the room unless it is there: before something is added to the store.
  /// - Throws: `storageFull` when the disk has less.
  func hold() throws(CaravanError) {
    guard state != .held, bytes > 0 else { return }
    do { try file.allocate(bytes) } catch {
      release()
      throw error
    }
    state = .held
  }

  /// The disk refuses: leaves the room to those who must go on.
  func release() {
    giveUp()
    state = bytes > 0 ? .spent : .unclaimed
  }

  func close() { file.close() }

  private func giveUp() { try? file.resize(to: 0) }
}
