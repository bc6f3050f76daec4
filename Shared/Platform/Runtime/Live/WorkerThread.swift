internal import Glibc

/// A detached thread of ours. No signal is masked, so that processes started from here inherit nothing odd.
enum WorkerThread {
  /// What the kernel keeps of a name.
  static let nameBytes = 15

  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    // `enter` balances this: the thread owns its start until the body has returned.
    let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var thread = pthread_t()
    let status = unsafe pthread_create(&thread, nil, enter, start.toOpaque())
    precondition(status == 0, "no thread could be started for '\(name)': error \(status); raise the limit on tasks")
    pthread_detach(thread)
  }

  /// Names the calling thread. A name is a comfort: failing to set one is no failure.
  fileprivate static func setName(_ name: String) {
    guard let file = unsafe fopen("/proc/thread-self/comm", "w") else { return }
    unsafe fputs(String(decoding: name.utf8.prefix(nameBytes), as: UTF8.self), file)
    unsafe fclose(file)
  }
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func enter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  WorkerThread.setName(start.name)
  start.body()
  return nil
}
