internal import Glibc

/// A whole process: everything happens on the event loop, and the main thread only waits. Top-level code that awaits
/// would start the concurrency library's own pool, which wakes a process every second to look after itself.
public enum Program {
  /// Exits with what `body` returns, at once: threads of libraries may still be at work, and exit(3) would take from
  /// under them what they use (OpenSSL's tables from libnats).
  public static func run(_ body: @escaping @Sendable () async -> Int32) -> Never {
    FreeMemory.keep()
    Task(executorPreference: EventLoop.main) { leave(await body()) }
    // A signal ends one pause.
    while true { pause() }
  }

  private static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}
