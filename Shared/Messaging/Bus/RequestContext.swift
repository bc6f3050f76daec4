internal import CaravanEncoding
public import CaravanRuntime

/// What a piece of work is part of. It follows the task: whatever a handler sends carries it on.
public struct RequestContext: Sendable, Equatable {
  public let trace: TraceContext
  private let request: Request

  /// Drawn here, or as it came.
  private enum Request: Sendable, Equatable {
    case number(UInt64)
    case text(String)
  }

  @TaskLocal public static var current: RequestContext?

  /// Begins here.
  public init(random: any RandomSource) {
    trace = TraceContext(random: random)
    request = .number(random.next())
  }

  /// The next span of the trace that came with a message; a new one when none of the right form did.
  public init(continuing headers: Headers, random: any RandomSource) {
    trace =
      headers.traceparent.flatMap { TraceContext(traceparent: $0) }?.child(random: random)
      ?? TraceContext(random: random)
    request = headers.requestID.map { .text($0) } ?? .number(random.next())
  }

  public var requestID: String {
    switch request {
    case .number(let number): String(number, radix: 16)
    case .text(let text): text
    }
  }

  public var logFields: LogFields { [.trace: trace.traceID, .span: trace.spanID, .request: requestID] }
}

/// Adds the context of the task that logs to every line.
public struct ContextLogSink: LogSink {
  private let sink: any LogSink

  public init(_ sink: any LogSink) { self.sink = sink }

  public func write(_ record: LogRecord) {
    guard let context = RequestContext.current else { return sink.write(record) }
    var fields = record.fields
    for member in context.logFields.json.members {
      if let key = LogKey(rawValue: member.name), fields[key] == nil { fields[key] = member.value }
    }
    sink.write(LogRecord(time: record.time, level: record.level, message: record.message, fields: fields))
  }
}

extension Message {
  /// With the context of the task that sends it, unless it has its own.
  package func inContext() -> Message {
    guard let context = RequestContext.current else { return self }
    var message = self
    message.headers.traceparent = headers.traceparent ?? context.trace.traceparent
    message.headers.requestID = headers.requestID ?? context.requestID
    return message
  }
}
