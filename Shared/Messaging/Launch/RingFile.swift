public import CaravanCrypto
public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// The file of a ring, which services read again when it changes, because operators rotate keys while services run.
public final class RingFile: TicketKeys, Service {
  /// What tells one writing of the file from another.
  private struct Stamp: Equatable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
  }

  private struct State {
    var ring: KeyRing
    var stamp: Stamp
  }

  private let path: String
  private let host: Host
  private let state: Mutex<State>
  private let outage: Outage
  private let stop = Latch()

  /// - Throws: `invalidData` naming the file.
  public init(_ path: String, host: Host) throws(CaravanError) {
    self.path = path
    self.host = host
    outage = Outage(
      host, "the file of the ticket keys cannot be read again: those of before stay",
      over: "the file of the ticket keys can be read again")
    // The stamp comes first: a file that changes meanwhile is read again.
    let stamp = try Self.stamp(of: path)
    state = Mutex(State(ring: try KeyRing.reading(path), stamp: stamp))
  }

  public var ring: KeyRing { state.withLock { $0.ring } }

  public func run() async {
    while !stop.isOpen && !Task.isCancelled {
      await pause()
      look()
    }
  }

  public func shutDown() { stop.open() }

  private func look() {
    do throws(CaravanError) {
      let stamp = try Self.stamp(of: path)
      guard state.withLock({ $0.stamp != stamp }) else { return outage.ended() }
      let ring = try KeyRing.reading(path)
      let isNew = state.withLock { state in
        defer { state = State(ring: ring, stamp: stamp) }
        return state.ring != ring
      }
      outage.ended()
      if isNew { host.log.info("the ticket keys have changed", [.count: ring.members.count]) }
    } catch { outage.lasts(error) }
  }

  private func pause() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.host.clock.sleep(for: LaunchLimits.ringRereads) }
      group.addTask { await self.stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private static func stamp(of path: String) throws(CaravanError) -> Stamp {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw CaravanError(.invalidData, "cannot look at '\(path)': \(SystemError.text(errno))")
    }
    return Stamp(
      inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec)
  }
}

extension KeyRing {
  /// - Throws: `invalidData` naming the file, never what it holds.
  public static func reading(_ path: String) throws(CaravanError) -> KeyRing {
    let text = try TextFile.read(path, upTo: LaunchLimits.ringFileBytes)
    do { return try KeyRing(parsing: text) } catch {
      throw CaravanError(.invalidData, "'\(path)' holds no ticket keys: \(error.message)")
    }
  }
}
