internal import Glibc

internal import struct Synchronization.Atomic

/// SIGTERM and SIGINT, once per process. The handler only writes a byte to a pipe; a thread of ours reads it. Nothing
/// is masked or ignored, so processes started from here have the usual signals.
public enum TerminationSignals {
  /// Write end of the pipe; -1: not installed.
  private static let pipeEnd = Atomic<Int32>(-1)

  /// Calls `action` with the first signal's number from a thread of its own. A second signal ends the process at once.
  public static func handle(_ action: @escaping @Sendable (Int32) -> Void) {
    var ends: [Int32] = [-1, -1]
    let status = unsafe pipe(&ends)
    precondition(status == 0, "no pipe could be made for signals: error \(errno)")
    let (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    precondition(pipeEnd.exchange(writing, ordering: .sequentiallyConsistent) == -1, "signals are handled twice")
    for number in [SIGTERM, SIGINT] { install(number) }
    WorkerThread.start("signals") {
      guard let first = next(reading) else { return }
      action(first)
      if let second = next(reading) { _exit(128 + second) }
    }
  }

  private static func install(_ number: Int32) {
    var handler = sigaction()
    unsafe handler.__sigaction_handler.sa_handler = { number in
      let saved = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = unsafe write(TerminationSignals.pipeEnd.load(ordering: .relaxed), &byte, 1)
      errno = saved
    }
    // Calls of other libraries are not to see EINTR because of us.
    handler.sa_flags = SA_RESTART
    unsafe sigaction(number, &handler, nil)
  }

  private static func next(_ descriptor: Int32) -> Int32? {
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(descriptor, &byte, 1)
      if count == 1 { return Int32(byte) }
      if count == 0 || errno != EINTR { return nil }
    }
  }
}
