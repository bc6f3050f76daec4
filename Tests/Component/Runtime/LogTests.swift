import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

@Suite("Logging")
struct LogTests {
  let sink = MemoryLogSink()
  var log: Log { Log(level: .info, clock: ManualClock(), sink: sink) }

  @Test("a line is JSON with time, level, message and fields, whatever their text")
  func line() throws {
    let nasty = "quote \" backslash \\ line\nfeed \u{01} é 🐪"
    log.with([.service: "sync"]).warning(nasty, [.zone: nasty, .count: 3, .duration: Duration.milliseconds(1_500)])
    let line = try #require(sink.records.first).line
    #expect(!line.contains(UInt8(ascii: "\n")))
    let json = try JSON.parse(line)
    #expect(json["time"] == "2023-11-14T22:13:20.000Z")
    #expect(json["level"] == "warning")
    #expect(json["message"] == .string(nasty))
    #expect(json["zone"] == .string(nasty))
    #expect(json["service"] == "sync")
    #expect(json["count"] == 3)
    #expect(json["duration"] == 1.5)
  }

  @Test("fields keep integers, numbers, flags and ids what they are")
  func fields() throws {
    let fields: LogFields = [
      .seq: UInt64.max, .bytes: UInt8(7), .limit: 0.5, .state: true, .user: UserID(unchecked: "ann"),
    ]
    #expect(fields[.seq] == .string("18446744073709551615"))
    #expect(fields[.bytes] == 7)
    #expect(fields[.limit] == 0.5)
    #expect(fields[.state] == true)
    #expect(fields[.user] == "ann")
  }

  @Test("what is below the level is not even computed")
  func level() {
    var computed = 0
    func expensive() -> String {
      computed += 1
      return "text"
    }
    log.debug(expensive(), [.reason: expensive()])
    #expect(computed == 0)
    #expect(sink.records.isEmpty)
    log.info(expensive())
    #expect(computed == 1)
    #expect(sink.records.count == 1)
  }

  @Test("a line that would be too long is shortened, and is still JSON")
  func bounded() throws {
    let (reading, writing) = try pipePair()
    defer { for end in [reading, writing] { close(end) } }
    let log = Log(level: .info, clock: ManualClock(), sink: DescriptorLogSink(descriptor: writing))
    log.info(String(repeating: "🐪\"", count: 10_000), [.reason: String(repeating: "x", count: 100_000)])
    let text = read(reading, 100_000)
    #expect(text.utf8.count <= 4_096)
    #expect(text.hasSuffix("\n"))
    let json = try JSON.parse(String(text.dropLast()))
    #expect(json["level"] == "info")
    #expect((json["bytes"]?.intValue ?? 0) > 100_000)
  }

  @Test("a reader that does not read costs lines, which are counted, and no time")
  func slowReader() throws {
    let (reading, writing) = try pipePair()
    defer { for end in [reading, writing] { close(end) } }
    let log = Log(level: .info, clock: ManualClock(), sink: DescriptorLogSink(descriptor: writing))
    let message = String(repeating: "x", count: 1_000)
    for _ in 0..<500 { log.info(message) }
    var lines = 0
    while lines == 0 || hasInput(reading) { lines += read(reading, 100_000).split(separator: "\n").count }
    #expect(lines < 500)
    log.info("after")
    let last = try JSON.parse(String(read(reading, 100_000).dropLast()))
    #expect(last["message"] == "after")
    #expect(last["dropped"] == .int(Int64(500 - lines)))
  }

  private func pipePair() throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  private func hasInput(_ descriptor: Int32) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 0) == 1
  }

  private func read(_ descriptor: Int32, _ count: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = Glibc.read(descriptor, &bytes, count)
    return String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
  }
}

@Suite("Trace context")
struct TraceContextTests {
  let random = SeededRandom(seed: 1)

  @Test("a context survives its text; a child keeps the trace and has a span of its own")
  func roundTrip() throws {
    let context = TraceContext(random: random)
    #expect(TraceContext(traceparent: context.traceparent) == context)
    let child = context.child(random: random)
    #expect(child.traceID == context.traceID)
    #expect(child.spanID != context.spanID)
    #expect(context.traceparent.utf8.count == 55)
  }

  @Test(
    "what the recommendation calls invalid is refused",
    arguments: [
      "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
      "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
    ])
  func invalid(text: String) { #expect(TraceContext(traceparent: text) == nil) }

  @Test("a later version with more parts is read as version 00")
  func later() throws {
    let text = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like"
    let context = try #require(TraceContext(traceparent: text))
    #expect(context.traceparent == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
  }
}
