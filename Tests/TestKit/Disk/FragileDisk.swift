public import CaravanRuntime

/// A disk that can end at any change: the process that writes is killed there, or the power is cut. Kept are, beside
/// the files themselves, what of each would still be there without power: its content when it was last synced, and the
/// changes since.
///
/// One disk serves one life of a process. What the files held when it began is taken as synced.
public final class FragileDisk: DiskTap {
  /// What becomes of changes that were not synced when the power went.
  public enum Unsynced: Sendable, Hashable {
    case dropped
    /// Some were on their way: each block of 512 bytes is there or not, as chance has it.
    case scattered(seed: UInt64)
  }

  private struct Image {
    var synced: [UInt8]?
    var since: [DiskChange] = []

    mutating func take(_ change: DiskChange) {
      guard change == .sync else { return since.append(change) }
      for change in since { FragileDisk.apply(change, to: &synced) }
      since = []
    }
  }

  private struct State {
    var images: [String: Image] = [:]
    var changes = 0
    var lastChange: Int?
    var isDead = false
    var refuses: (@Sendable (DiskChange, String) -> Bool)?
  }

  private let state = Mutex(State())
  private let unsynced: Unsynced

  public init(_ unsynced: Unsynced = .dropped) { self.unsynced = unsynced }

  // MARK: Faults

  /// Changes so far.
  public var changes: Int { state.withLock { $0.changes } }
  public var isDead: Bool { state.withLock { $0.isDead } }

  /// Nothing changes any more once so many changes have happened from now on: 0: nothing at all.
  public func die(afterChanges count: Int) { state.withLock { $0.lastChange = $0.changes + count } }

  /// Nothing changes any more from the first change on of which this is true; that one does not happen either.
  public func die(before fatal: @escaping @Sendable (_ change: DiskChange, _ path: String) -> Bool) {
    state.withLock { $0.refuses = fatal }
  }

  // MARK: The tap

  public func allows(_ change: DiskChange, of path: String) -> Bool {
    state.withLock { state in
      if state.isDead { return false }
      if state.changes == state.lastChange || state.refuses?(change, path) == true {
        state.isDead = true
        return false
      }
      state.changes += 1
      if state.images[path] == nil { state.images[path] = Image(synced: Files.read(path)) }
      state.images[path]?.take(change)
      return true
    }
  }

  // MARK: After a power cut

  /// - Returns: nil: the file is not there.
  public func afterPowerCut(_ path: String) -> [UInt8]? {
    guard let image = state.withLock({ $0.images[path] }) else { return Files.read(path) }
    guard let synced = image.synced else { return nil }
    switch unsynced {
    case .dropped: return synced
    case .scattered(let seed): return Self.scatter(image.since, over: synced, seed: seed)
    }
  }

  private static func apply(_ change: DiskChange, to file: inout [UInt8]?) {
    if case .remove = change {
      file = nil
      return
    }
    var bytes = file.take() ?? []
    switch change {
    case .write(let new, let offset):
      grow(&bytes, to: offset + new.count)
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    case .resize(let size):
      grow(&bytes, to: size)
      bytes.removeLast(bytes.count - size)
    case .release(let range):
      let range = range.clamped(to: 0..<bytes.count)
      bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
    case .sync, .remove: break
    }
    file = bytes
  }

  private static func grow(_ bytes: inout [UInt8], to size: Int) {
    if size > bytes.count { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
  }

  private static func scatter(_ changes: [DiskChange], over synced: [UInt8], seed: UInt64) -> [UInt8]? {
    var bytes: [UInt8]? = synced
    var chance = SplitMix64(seed: seed)
    for change in changes {
      switch change {
      case .write(let new, let offset):
        for start in stride(from: 0, to: new.count, by: 512) where chance.next() & 1 == 0 {
          apply(.write(Array(new[start..<min(start + 512, new.count)]), at: offset + start), to: &bytes)
        }
      case .resize, .release: if chance.next() & 1 == 0 { apply(change, to: &bytes) }
      // Files are removed when what was in them is elsewhere; whether they still are makes no difference.
      case .remove, .sync: break
      }
    }
    return bytes
  }
}
