import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// What every implementation of the bus does. Goal: whoever is written against the twin in memory works on NATS.
@Suite("Bus conformance", .timeLimit(.minutes(2)))
struct ConformanceTests {
  @Test("A request reaches one who serves, with its headers, and the answer comes back", arguments: BusKind.allCases)
  func requestReply(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let requests = try await server.subscribe(.exact(.echo), group: nil, capacity: 8)
      let context = RequestContext(random: Host.quiet.random)
      async let answer = RequestContext.$current.withValue(context) {
        try await client.request(Message([1, 2, 3]), to: .echo, deadline: .seconds(10))
      }
      let incoming = try await requests.nextMessage()
      #expect(incoming.subject == .echo)
      #expect(incoming.message.payload == [1, 2, 3])
      #expect(incoming.message.headers.traceparent == context.trace.traceparent)
      #expect(incoming.message.headers.requestID == context.requestID)
      let address = try #require(incoming.reply)
      #expect(address.text.hasPrefix("inbox.b."))
      try await server.reply(Message([4]), to: address)
      #expect(try await answer.payload == [4])
    }
  }

  @Test("Nobody serves: unavailable at once, long before the deadline", arguments: BusKind.allCases)
  func noResponders(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let client = try await cluster.connect("a")
      let clock = Host.quiet.clock
      let start = clock.now
      let error = await failure { try await client.request(Message(), to: .echo, deadline: .seconds(60)) }
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains("svc.schema.echo") == true)
      #expect(clock.now - start < .seconds(10))
      #expect(try await client.gather(Message(), to: .echo, within: .seconds(60), limit: 9).isEmpty)
    }
  }

  @Test("No answer: timedOut after the deadline, and a late answer hurts nobody", arguments: BusKind.allCases)
  func deadline(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let requests = try await server.subscribe(.exact(.echo), group: nil, capacity: 8)
      let error = await failure { try await client.request(Message(), to: .echo, deadline: .milliseconds(50)) }
      #expect(error?.code == .timedOut)
      let late = try #require(try await requests.nextMessage().reply)
      try await server.reply(Message([9]), to: late)
      async let answer = client.request(Message([1]), to: .echo, deadline: .seconds(10))
      let next = try #require(try await requests.nextMessage().reply)
      try await server.reply(Message([1]), to: next)
      #expect(try await answer.payload == [1])
    }
  }

  @Test("Cancelling the task ends the wait with cancelled, also before it begins", arguments: BusKind.allCases)
  func cancellation(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let requests = try await server.subscribe(.exact(.echo), group: nil, capacity: 8)
      let ask: @Sendable () async -> CaravanError? = {
        await failure { try await client.request(Message(), to: .echo, deadline: .seconds(60)) }
      }
      await withTaskGroup(of: CaravanError?.self) { group in
        group.addTask(operation: ask)
        _ = await requests.next()
        group.cancelAll()
        #expect(await group.next()??.code == .cancelled)
        group.addTask(operation: ask)
        #expect(await group.next()??.code == .cancelled)
      }
      await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          while case .message? = await requests.next() {}
          return true
        }
        group.cancelAll()
        #expect(await group.next() == true)
      }
    }
  }

  @Test("Of a queue group one gets each message, all of them some; outside it everybody", arguments: BusKind.allCases)
  func queueGroup(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let count = 100
      let pattern = SubjectPattern.everyChange
      let members = [
        try await server.subscribe(pattern, group: "g", capacity: count),
        try await server.subscribe(pattern, group: "g", capacity: count),
      ]
      let outside = try await server.subscribe(pattern, group: nil, capacity: count)
      for number in 0..<count {
        try await client.publish(Message([UInt8(number)]), to: .changes(try Partition(UInt32(number % 64))))
      }
      var everything: [UInt8] = []
      for number in 0..<count {
        let incoming = try await outside.nextMessage()
        #expect(incoming.subject == .changes(try Partition(UInt32(number % 64))))
        everything += incoming.message.payload
      }
      #expect(everything == (0..<UInt8(count)).map { $0 })
      var shared: [UInt8] = []
      for member in members {
        member.cancel()
        let before = shared.count
        while case .message(let incoming)? = await member.next() { shared += incoming.message.payload }
        #expect(shared.count > before)
      }
      #expect(shared.sorted() == everything)
    }
  }

  @Test("A slow consumer sees a gap that counts what it missed, and the bus says so", arguments: BusKind.allCases)
  func slowConsumer(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let events = server.events()
      let subject = Subject.changes(try Partition(5))
      let slow = try await server.subscribe(.exact(subject), group: nil, capacity: 4)
      let quick = try await server.subscribe(.exact(subject), group: nil, capacity: 100)
      for number in 0..<50 { try await client.publish(Message([UInt8(number)]), to: subject) }
      for _ in 0..<50 { _ = try await quick.nextMessage() }
      guard case .slowConsumer(let text, _)? = await events.next() else { throw Unexpected("another event") }
      #expect(text == subject.text)
      var dropped: UInt64 = 0
      var received = 0
      while dropped + UInt64(received) < 50 {
        switch await slow.next() {
        case .gap(let count): dropped += count
        case .message: received += 1
        case nil: throw Unexpected("the end")
        }
      }
      #expect(received >= 4 && dropped > 0 && UInt64(received) + dropped == 50)
    }
  }

  @Test("Larger than Limits.messageBytes: limitExceeded; exactly that: carried", arguments: BusKind.allCases)
  func sizes(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let subject = Subject.changes(try Partition(0))
      let large = try await server.subscribe(.exact(subject), group: nil, capacity: 2)
      let most = [UInt8](repeating: 7, count: Limits.messageBytes)
      let error = await failure { try await client.publish(Message(most + [7]), to: subject) }
      #expect(error?.code == .limitExceeded)
      #expect(error?.message.contains("\(Limits.messageBytes)") == true)
      let context = RequestContext(random: Host.quiet.random)
      try await RequestContext.$current.withValue(context) { try await client.publish(Message(most), to: subject) }
      #expect(try await large.nextMessage().message.payload.count == Limits.messageBytes)
    }
  }

  @Test("The broker dies and comes back: unavailable meanwhile, then all goes on", arguments: BusKind.allCases)
  func reconnect(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let requests = try await server.subscribe(.exact(.echo), group: "g", capacity: 8)
      let (serverEvents, clientEvents) = (server.events(), client.events())
      async let lost = failure { try await client.request(Message(), to: .echo, deadline: .seconds(60)) }
      _ = try await requests.nextMessage()
      try await cluster.killBroker()
      #expect(await clientEvents.next() == .disconnected)
      #expect(await serverEvents.next() == .disconnected)
      #expect(await lost?.code == .timedOut)
      #expect(await failure { try await client.publish(Message(), to: .echo) }?.code == .unavailable)
      let refused = await failure { try await client.request(Message(), to: .echo, deadline: .seconds(60)) }
      #expect(refused?.code == .unavailable)
      try await cluster.startBroker()
      #expect(await clientEvents.next() == .connected)
      #expect(await serverEvents.next() == .connected)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let address = try #require(try await requests.nextMessage().reply)
          try await server.reply(Message([2]), to: address)
        }
        // The broker may hear of the request before it hears again of the subscription.
        try await eventually("the subscription is served again") {
          let answer = try? await client.request(Message([1]), to: .echo, deadline: .seconds(10))
          return answer?.payload == [2]
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Drain lets a waiting request finish; then the bus refuses everything", arguments: BusKind.allCases)
  func drain(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let requests = try await server.subscribe(.exact(.echo), group: nil, capacity: 8)
      let events = client.events()
      async let answer = client.request(Message(), to: .echo, deadline: .seconds(60))
      let address = try #require(try await requests.nextMessage().reply)
      async let drained: Void = client.drain(deadline: .seconds(30))
      try await server.reply(Message([5]), to: address)
      #expect(try await answer.payload == [5])
      await drained
      #expect(await failure { try await client.publish(Message(), to: .echo) }?.code == .unavailable)
      #expect(await failure { try await client.subscribe(.exact(.echo), group: nil, capacity: 1) } != nil)
      var last: BusEvent?
      while let event = await events.next() { last = event }
      #expect(last == .closed)
    }
  }

  @Test("Gather collects every answer until the limit or the time", arguments: BusKind.allCases)
  func gather(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let everybody = [
        try await server.subscribe(.exact(.echo), group: nil, capacity: 8),
        try await server.subscribe(.exact(.echo), group: nil, capacity: 8),
      ]
      for limit in [1, 2, 3] {
        let time: Duration = limit == 3 ? .seconds(4) : .seconds(60)
        async let answers = client.gather(Message(), to: .echo, within: time, limit: limit)
        for (number, requests) in everybody.enumerated() {
          let address = try #require(try await requests.nextMessage().reply)
          try await server.reply(Message([UInt8(number)]), to: address)
        }
        let numbers = try await answers.map(\.payload)
        #expect(numbers.count == min(limit, 2))
      }
    }
  }
}
