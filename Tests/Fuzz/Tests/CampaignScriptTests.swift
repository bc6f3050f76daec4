import Foundation
import Testing

/// Goal: a campaign of the fuzzer goes on where it was stopped. Method: the script, with a fuzzer that only says how
/// many inputs it tried.
@Suite struct CampaignScriptTests {
  private let directory: String

  init() throws {
    directory = NSTemporaryDirectory() + "caravan-fuzz-campaign-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  private var book: String { "\(directory)/campaign" }

  /// - Returns: the lines, and the exit code.
  private func campaign(
    _ targets: [String], hours: Double, failing: String = "none"
  ) throws -> (lines: [String], status: Int32) {
    let fuzzer = """
      #!/usr/bin/env bash
      [ -z "${CARAVAN_FUZZ_SEEDS:-}" ] || exit 0
      sleep 1
      echo "stat::number_of_executed_units: 10"
      [ "$CARAVAN_FUZZ_TARGET" != \(failing) ]
      """
    let path = "\(directory)/fuzzer"
    try Data(fuzzer.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let process = Process()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    process.executableURL = root.appendingPathComponent("run")
    process.arguments = ["--campaign", "\(hours)", "--seconds", "1", "--directory", directory] + targets
    process.environment = ProcessInfo.processInfo.environment.merging(["CARAVAN_FUZZER": path]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init), process.terminationStatus
    )
  }

  @Test("whichever target had least time is next, and times add up over campaigns; a damaged line is told of")
  func times() throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Data("frame 50 500 0\nhello x\n".utf8).write(to: URL(fileURLWithPath: book))
    let first = try campaign(["frame", "ticket"], hours: 0.0006)
    #expect(first.status == 0, "\(first.lines)")
    #expect(first.lines.contains { $0.contains("hello") && $0.contains("left out") }, "\(first.lines)")
    #expect(first.lines.contains { $0.hasPrefix("frame ") && $0.contains(" 50 s,") }, "\(first.lines)")
    let lines = try String(contentsOfFile: book, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2 && lines.first == "frame 50 500 0", "\(lines)")
    let ticket = try #require(lines.last?.split(separator: " ").compactMap { Int($0) })
    #expect(ticket.count == 3 && ticket[0] >= 1 && ticket[1] >= 10 && ticket[2] == 0)
    // Whoever fails is not tried again, and others have the rest of the time.
    // A loaded machine takes more than a second for a fuzzer's second.
    let second = try campaign(["frame", "ticket"], hours: 0.003, failing: "ticket")
    #expect(second.status == 1 && second.lines.last?.contains("bytes that break: ticket ") == true, "\(second.lines)")
    let after = try String(contentsOfFile: book, encoding: .utf8)
    let failed = after.split(separator: "\n").last?.split(separator: " ").compactMap { Int($0) } ?? []
    #expect(failed.count == 3 && failed[0] > ticket[0] && failed[2] == 1, "\(after)")
    #expect(!after.contains("frame 50 "), "\(after)")
  }
}
