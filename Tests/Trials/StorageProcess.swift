import CaravanRuntime
import Foundation

/// One storage process, again and again on the same data.
final class StorageProcess: Sendable {
  private let path: String
  private let arguments: [String]
  private let log: String
  private let process = Mutex<Process?>(nil)

  init(_ path: String, _ arguments: [String], log: String) {
    self.path = path
    self.arguments = arguments
    self.log = log
  }

  func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    if !FileManager.default.fileExists(atPath: log) { _ = FileManager.default.createFile(atPath: log, contents: nil) }
    let output = FileHandle(forWritingAtPath: log) ?? FileHandle.nullDevice
    _ = try? output.seekToEnd()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    self.process.withLock { $0 = process }
  }

  /// Returns once it is gone.
  func kill() {
    guard let process = process.withLock({ $0.take() }) else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
