import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanWire
import Glibc
import Testing

/// The other end of a connection, without any framing.
private final class FarEnd: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }
  deinit { Glibc.close(descriptor) }

  func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
  func end() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// What has come; nil at the end of the stream.
  func receive() -> Int? {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let got = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return got > 0 ? got : got == 0 ? nil : 0
  }
}

@Suite("Frames between app and agent", .timeLimit(.minutes(1)))
struct FrameSocketTests {
  private func pair(
    messageBytes: Int = 1_000, backlogBytes: Int = 1 << 20, maximumBacklogBytes: Int = 8 << 20, stall: Duration? = nil
  ) throws -> (FrameSocket, FarEnd) {
    var ends: [Int32] = [-1, -1]
    let status = socketpair(AF_UNIX, FrameSocket.streamType, 0, &ends)
    #expect(status == 0)
    let bounds = FrameSocket.Bounds(
      messageBytes: messageBytes, backlogBytes: backlogBytes, maximumBacklogBytes: maximumBacklogBytes, stall: stall)
    return (try FrameSocket(ends[0], bounds), FarEnd(ends[1]))
  }

  private func frame(_ message: [UInt8], data: [UInt8] = []) -> [UInt8] {
    Frame.head(message: message.count, data: data.count) + message + data
  }

  private func next(_ socket: FrameSocket) async throws -> String {
    switch try await socket.next() {
    case .frame(let frame): frame.data.isEmpty ? "\(frame.message)" : "\(frame.message) \(frame.data)"
    case .woken: "woken"
    case .closed: "closed"
    }
  }

  @Test("messages come whole and in order however they were cut, those before the end of the stream too")
  func cuts() async throws {
    let (socket, peer) = try pair()
    let messages: [[UInt8]] = [[1], [], [2, 3], [UInt8](repeating: 7, count: 900)]
    for byte in messages.flatMap({ frame($0) }) { peer.send([byte]) }
    for message in messages { #expect(try await next(socket) == "\(message)") }
    peer.send(messages.flatMap { frame($0) } + Frame.head(message: 9) + [1])
    peer.end()
    for message in messages { #expect(try await next(socket) == "\(message)") }
    for _ in 0..<2 { #expect(try await next(socket) == "closed") }
  }

  @Test("data come behind their message, short and long, however they were cut")
  func data() async throws {
    let (socket, peer) = try pair(messageBytes: 1 << 20)
    let sizes = [(1, 0), (0, 1), (3, 100), (40_000, 0), (10, 100_000), (30_000, 30_000), (0, 0), (5, 16 << 10)]
    let frames = sizes.map { message, data in
      (StoreFixture.noise(message), StoreFixture.noise(data, seed: 7))
    }
    for portion in [1 << 20, 40_001, 16 << 10, 777] {
      let sender = WorkerQueue()
      async let sent: Void = sender.run {
        var rest = frames.flatMap { frame($0, data: $1) }[...]
        while !rest.isEmpty {
          peer.send(Array(rest.prefix(portion)))
          rest = rest.dropFirst(portion)
        }
      }
      for (message, data) in frames {
        guard case .frame(let frame) = try await socket.next() else { throw CancellationError() }
        #expect(frame.message == message)
        #expect(frame.data == data)
      }
      await sent
    }
  }

  @Test("what was posted with data arrives as it was")
  func dataBothWays() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, FrameSocket.streamType, 0, &ends) == 0)
    let bounds = FrameSocket.Bounds(
      messageBytes: 1 << 20, backlogBytes: .max, maximumBacklogBytes: .max, stall: nil)
    let (from, to) = (try FrameSocket(ends[0], bounds), try FrameSocket(ends[1], bounds))
    let noise = StoreFixture.noise(900_000)
    let sizes = [(0, 0), (10, 10), (20_000, 10), (10, 20_000), (100_000, 100_000), (7, 900_000)]
    for (message, data) in sizes { from.post(Array(noise.prefix(message)), data: noise.suffix(data)) }
    for (message, data) in sizes {
      guard case .frame(let frame) = try await to.next() else { throw CancellationError() }
      #expect(frame.message.elementsEqual(noise.prefix(message)))
      #expect(frame.data.elementsEqual(noise.suffix(data)))
    }
  }

  @Test("only an object's bytes stand behind a message")
  func surplus() throws {
    let write = AppRequest(id: 1, kind: .writeObject(WriteObject(write: 2, object: "photo")))
    guard case .writeObject(let whole)? = try Frame(write.encoded(), data: [1, 2]).request().kind else {
      throw CancellationError()
    }
    #expect(whole.data == [1, 2])
    let others = [
      AppRequest(kind: .status(Empty())), AppRequest(), AppRequest(kind: .writeObject(WriteObject(data: [1]))),
    ]
    for other in others {
      #expect(throws: CaravanError.self) { try Frame(other.encoded(), data: [1]).request() }
      #expect(try Frame(other.encoded()).request() == other)
    }
    let read = AppReply(id: 1, kind: .objectBytes(ObjectBytes(size: 9)))
    #expect(try Frame(read.encoded(), data: [1]).reply().kind == .objectBytes(ObjectBytes(data: [1], size: 9)))
    #expect(throws: CaravanError.self) { try Frame(AppReply(kind: .done(Empty())).encoded(), data: [1]).reply() }
  }

  @Test("more messages than are taken at one time lose nothing")
  func many() async throws {
    let (socket, peer) = try pair()
    let message = [UInt8](repeating: 5, count: 1_000)
    let sender = WorkerQueue()
    let count = 1_000
    async let sent: Void = sender.run { for _ in 0..<count { peer.send(frame(message)) } }
    for _ in 0..<count { #expect(try await next(socket) == "\(message)") }
    await sent
  }

  @Test("a message beyond the bound ends it with a reason, after what came before")
  func tooLong() async throws {
    let (socket, peer) = try pair(messageBytes: 10)
    peer.send(frame([1]) + Frame.head(message: 4, data: 7))
    #expect(try await next(socket) == "[1]")
    await #expect { try await socket.next() } throws: { ($0 as? CaravanError)?.code == .limitExceeded }
  }

  @Test("whoever stops in the middle of a message is cut off, and so is who never begins within the patience")
  func standstill() async throws {
    let (socket, peer) = try pair(stall: .milliseconds(20))
    peer.send(frame([1]) + Frame.head(message: 2) + [1])
    #expect(try await next(socket) == "[1]")
    #expect(try await next(socket) == "closed")
    while peer.receive() != nil { await Task.yield() }
    let (silent, other) = try pair()
    guard case .closed = try await silent.next(within: .milliseconds(20)) else {
      Issue.record("patience without end")
      return
    }
    while other.receive() != nil { await Task.yield() }
  }

  @Test("what is posted arrives whole with a slow reader, who is not read meanwhile")
  func backlog() async throws {
    let (socket, peer) = try pair(backlogBytes: 1_000)
    for _ in 0..<4 { socket.post([UInt8](repeating: 1, count: 1 << 20)) }
    peer.send(frame([1]))
    socket.wake()
    #expect(try await next(socket) == "woken", "its message waits until it reads")
    var left = 4 * (8 + (1 << 20))
    while left > 0 {
      left -= try #require(peer.receive())
      await Task.yield()
    }
    #expect(try await next(socket) == "[1]")
    socket.post([2])
    while peer.receive() == 0 { await Task.yield() }
  }

  @Test("what has come from a slow reader is not taken before it reads")
  func held() async throws {
    let (socket, peer) = try pair(backlogBytes: 1_000)
    peer.send(frame([1]) + frame([2]))
    #expect(try await next(socket) == "[1]")
    socket.post([UInt8](repeating: 1, count: 1 << 20))
    socket.wake()
    #expect(try await next(socket) == "woken")
    var left = 8 + (1 << 20)
    while left > 0 {
      left -= try #require(peer.receive())
      await Task.yield()
    }
    #expect(try await next(socket) == "[2]")
  }

  @Test("a reader that leaves too much, or takes nothing for too long, is cut off")
  func slowReader() async throws {
    let (hoarder, first) = try pair(maximumBacklogBytes: 1 << 20)
    for _ in 0..<3 { hoarder.post([UInt8](repeating: 1, count: 1 << 20)) }
    #expect(try await next(hoarder) == "closed")
    while first.receive() != nil { await Task.yield() }
    let (sleeper, second) = try pair(stall: .milliseconds(20))
    sleeper.post([UInt8](repeating: 1, count: 1 << 20))
    #expect(try await next(sleeper) == "closed")
    while second.receive() != nil { await Task.yield() }
  }

  @Test("being woken many times is heard once; the end is heard by who waits")
  func wakes() async throws {
    let (socket, peer) = try pair()
    for _ in 0..<3 { socket.wake() }
    peer.send(frame([1]))
    var heard = [try await next(socket), try await next(socket)]
    heard.sort()
    #expect(heard == ["[1]", "woken"])
    async let last = next(socket)
    socket.shutDown()
    #expect(try await last == "closed")
    while peer.receive() != nil { await Task.yield() }
    let (other, gone) = try pair()
    gone.end()
    other.wake()
    #expect(try await next(other) == "closed", "nobody is there to hear of it")
  }
}

/// Runs what blocks on a thread of its own.
private actor WorkerQueue {
  private let executor = Host.live(logLevel: .error).executors.makeSerial("blocking")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run(_ body: @Sendable () -> Void) { body() }
}
