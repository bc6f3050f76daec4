/// Structured logging: one event, one line. Values below the level are not computed.
///
///     host.log.info("page sent", [.zone: zone, .count: page.count])
///
/// Never log whole payloads, keys or tokens.
public struct Log: Sendable {
  public let level: LogLevel
  private let bound: LogFields
  private let clock: any Clock
  private let sink: any LogSink

  public init(level: LogLevel, clock: any Clock, sink: any LogSink) {
    self.init(level: level, bound: [:], clock: clock, sink: sink)
  }

  private init(level: LogLevel, bound: LogFields, clock: any Clock, sink: any LogSink) {
    self.level = level
    self.bound = bound
    self.clock = clock
    self.sink = sink
  }

  /// A log whose every line has these fields too.
  public func with(_ fields: LogFields) -> Log {
    Log(level: level, bound: bound.adding(fields), clock: clock, sink: sink)
  }

  /// A log whose every line has the trace.
  public func with(_ trace: TraceContext) -> Log { with([.trace: trace.traceID, .span: trace.spanID]) }

  /// What a developer looks for.
  public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.debug, message, fields)
  }

  /// What an operator wants to know of a healthy system: few lines.
  public func info(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.info, message, fields)
  }

  /// Something went wrong and is being dealt with.
  public func warning(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.warning, message, fields)
  }

  /// Somebody has to do something.
  public func error(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.error, message, fields)
  }

  private func write(_ level: LogLevel, _ message: () -> String, _ fields: () -> LogFields) {
    guard level >= self.level else { return }
    sink.write(LogRecord(time: clock.wallTime, level: level, message: message(), fields: bound.adding(fields())))
  }
}
