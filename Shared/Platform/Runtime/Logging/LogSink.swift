internal import CaravanEncoding
internal import Glibc

public struct LogRecord: Sendable, Equatable {
  public let time: WallTime
  public let level: LogLevel
  public let message: String
  public let fields: LogFields

  public init(time: WallTime, level: LogLevel, message: String, fields: LogFields) {
    self.time = time
    self.level = level
    self.message = message
    self.fields = fields
  }

  /// One line of JSON without its line feed: `time` (RFC 3339, UTC), `level`, `message`, then the fields.
  public var line: [UInt8] {
    var object: JSON.Object = [
      "time": .string(time.description), "level": .string(level.name), "message": .string(message),
    ]
    for member in fields.json.members { object[member.name] = member.value }
    return JSON.object(object).encodedBytes()
  }
}

/// Where lines go. `write` is called from any thread and must not block for long.
public protocol LogSink: Sendable {
  func write(_ record: LogRecord)
}

/// One JSON line per event to a file descriptor. A reader too slow to empty its pipe costs lines, not time: they are
/// counted, and the next line that fits says how many (`dropped`).
public final class DescriptorLogSink: LogSink {
  /// Linux writes up to this many bytes (`PIPE_BUF`) to a pipe whole, and has room for them whenever `poll` says so.
  static let lineBytes = 4_096
  /// What a message keeps when its line was too long.
  static let shortenedMessageBytes = 1_024

  private let descriptor: Int32
  private let dropped = Mutex<UInt64>(0)

  public static let standardError = DescriptorLogSink(descriptor: STDERR_FILENO)

  public init(descriptor: Int32) { self.descriptor = descriptor }

  public func write(_ record: LogRecord) {
    dropped.withLock { dropped in
      var record = record
      if dropped > 0 { record = record.adding([.dropped: dropped]) }
      if put(Self.bounded(record)) { dropped = 0 } else { dropped += 1 }
    }
  }

  /// The line with its line feed, at most `lineBytes`: what does not fit loses its fields and the end of its message.
  static func bounded(_ record: LogRecord) -> [UInt8] {
    var line = record.line
    if line.count >= lineBytes {
      let message = String(decoding: Array(record.message.utf8.prefix(shortenedMessageBytes)), as: UTF8.self)
      let fields: LogFields = [.bytes: line.count]
      line = LogRecord(time: record.time, level: record.level, message: message, fields: fields).line
    }
    if line.count >= lineBytes { line = Array(line.prefix(lineBytes - 1)) }
    return line + [UInt8(ascii: "\n")]
  }

  private func put(_ line: [UInt8]) -> Bool {
    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&room, 1, 0) == 1 else { return false }
    return unsafe line.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } == line.count
  }
}

extension LogRecord {
  func adding(_ more: LogFields) -> LogRecord {
    LogRecord(time: time, level: level, message: message, fields: fields.adding(more))
  }
}

/// Keeps the newest lines, for tests and simulations.
public final class MemoryLogSink: LogSink {
  private let capacity: Int
  private let kept = Mutex<[LogRecord]>([])

  public init(capacity: Int = 10_000) { self.capacity = capacity }

  public var records: [LogRecord] { kept.withLock { $0 } }

  public func write(_ record: LogRecord) {
    kept.withLock { kept in
      if kept.count == capacity { kept.removeFirst(capacity / 2) }
      kept.append(record)
    }
  }
}

/// Takes lines and forgets them.
public struct NullLogSink: LogSink {
  public init() {}
  public func write(_ record: LogRecord) {}
}
