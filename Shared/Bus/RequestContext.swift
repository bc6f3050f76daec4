internal import Encoding
public import Runtime

/// What a piece of work is part of. It follows the task: whatever a handler sends carries it on.
public struct RequestContext: Sendable, Equatable {
  public let trace: TraceContext
  public let requestID: String

  @TaskLocal public static var current: RequestContext?

  /// Begins here.
  public init(random: any RandomSource) {
    trace = TraceContext(random: random)
    requestID = Hex.encode(random.bytes(8))
  }

  /// The next span of the trace that came with a message; a new one when none of the right form did.
  public init(continuing headers: Headers, random: any RandomSource) {
    trace =
      headers.traceparent.flatMap { TraceContext(traceparent: $0) }?.child(random: random)
      ?? TraceContext(random: random)
    requestID = headers.requestID ?? Hex.encode(random.bytes(8))
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
