public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// Makes one process the owner of a directory: `flock` on a file in it. The kernel frees it when the process dies, so
/// a crash leaves nothing to clean up.
public final class DirectoryLock: Sendable {
  private let descriptor: Mutex<Int32>

  /// - Throws: `unavailable` when another owner holds the directory, `storageFull` when the disk has no room for
  ///   it, `invalidData` when it cannot be used.
  public init(_ directory: String) throws(CaravanError) {
    if mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw Self.failure("make \(directory)", errno)
    }
    let path = "\(directory)/lock"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure("open \(path)", errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(file)
      throw CaravanError(.unavailable, "\(directory) belongs to another running process: stop that one first")
    }
    descriptor = Mutex(file)
  }

  /// Waits for an owner that is going: of a process that was killed the kernel lets go of the directory when it has
  /// done with all else.
  /// - Throws: as `init`, when it has not gone after the patience; `cancelled`.
  public static func whenFree(
    _ directory: String, within patience: Duration, clock: any Clock
  ) async throws(CaravanError) -> DirectoryLock {
    let end = clock.now + patience
    while true {
      do { return try DirectoryLock(directory) } catch {
        guard error.code == .unavailable, clock.now < end else { throw error }
      }
      do { try await clock.sleep(for: pause) } catch {
        throw CaravanError(.cancelled, "whoever waited for \(directory) has gone")
      }
    }
  }

  private static let pause: Duration = .milliseconds(20)

  deinit { release() }

  private static func failure(_ what: String, _ code: Int32) -> CaravanError {
    CaravanError(
      code == ENOSPC || code == EDQUOT ? .storageFull : .invalidData,
      "cannot \(what): \(String(cString: strerror(code)))")
  }

  /// Gives the directory up; callable more than once.
  public func release() {
    descriptor.withLock { file in
      if file >= 0 { Glibc.close(file) }
      file = -1
    }
  }
}
