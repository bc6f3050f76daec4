internal import CaravanBus
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSyncClient
internal import CaravanWire

/// Many devices of one user that listen and acknowledge as agents do, but store nothing: so that what is measured is
/// the cloud, on the machine that carries both.
final class EdgeFleet: Sendable {
  /// What the devices wait for, each once.
  private struct Round {
    let subscription: Int
    let isAcknowledging: Bool
    var silent: Int
    /// By device.
    var heard: [[UInt8]?]
    var times: [Instant] = []
    let end = Promise<Swift.Result<Void, CaravanError>>()
  }

  private struct State {
    var talks: [BrokerTalk]
    var round: Round?
  }

  /// Numbers of their subscriptions.
  private static let notifications = 1
  private static let answers = 2
  /// Devices that ask at once.
  private static let asking = 16

  private struct Member {
    let device: EnrolledDevice
    let line: BrokerLine
  }

  private let user: UserID
  private let members: [Member]
  private let host: Host
  private let state: Mutex<State>

  /// Connects them, one after the other.
  init(_ credentials: [Credentials], user: UserID, port: UInt16, host: Host) throws(CaravanError) {
    self.user = user
    self.host = host
    var members: [Member] = []
    for own in credentials {
      let device = try EnrolledDevice(credentials: own.jwt.claims.name, user: own.jwt.claims.userTag)
      let line = try BrokerLine(port: port, own)
      let hearing =
        "SUB \(device.inbox).notify \(Self.notifications)\r\nSUB \(device.inbox).r.1 \(Self.answers)\r\n"
      try line.send(Array("\(hearing)PING\r\n".utf8))
      while try !line.receive(isWaiting: true).ends(with: "PONG\r\n".utf8) {}
      members.append(Member(device: device, line: line))
    }
    self.members = members
    state = Mutex(State(talks: members.map { _ in BrokerTalk() }))
  }

  var count: Int { members.count }
  var inboxes: [String] { members.map { Subject.notify($0.device).text } }

  /// Begins to listen, until the task is cancelled.
  func run() async throws(CaravanError) {
    var watches: [DescriptorWatch] = []
    defer { for watch in watches { watch.cancel() } }
    for (index, member) in members.enumerated() {
      watches.append(try EventLoop.main.watch(member.line.descriptor, for: .reading) { _ in self.read(index) })
    }
    await Latch().wait()
  }

  // MARK: What they do

  /// Each sends one operation in a frame.
  /// - Throws: the first refusal.
  func ask(_ operation: Operation.Kind) async throws(CaravanError) {
    let exchange = Exchange(epoch: 1, operations: [Operation(kind: operation)]).encoded()
    let frame = Frame(plainBytes: UInt32(exchange.count), body: exchange).encoded()
    for start in stride(from: 0, to: members.count, by: Self.asking) {
      let some = start..<min(start + Self.asking, members.count)
      let answers = try await hear(Self.answers, some) { [self] () throws(CaravanError) in
        for member in members[some] {
          let subject = Subject.exchange(member.device).text
          try member.line.send(BrokerLine.publish(frame, to: subject, reply: "\(member.device.inbox).r.1"))
        }
      }
      for answer in answers.payloads {
        let results = try SyncClient.reply(in: answer).results
        if case .failure(let failure)? = results.first?.kind { throw failure.model() }
      }
    }
  }

  /// Does something, and waits until every device has been told of it.
  /// - Returns: when each was, in order; and what one was told.
  func hearAll(
    isAcknowledging: Bool = true, _ body: @Sendable () async throws(CaravanError) -> Void
  ) async throws(CaravanError) -> (times: [Instant], payload: [UInt8]) {
    let heard = try await hear(Self.notifications, members.indices, isAcknowledging: isAcknowledging, body)
    return (heard.times, heard.payloads.first ?? [])
  }

  private func hear(
    _ subscription: Int, _ who: Range<Int>, isAcknowledging: Bool = false,
    _ body: @Sendable () async throws(CaravanError) -> Void
  ) async throws(CaravanError) -> (times: [Instant], payloads: [[UInt8]]) {
    let round = Round(
      subscription: subscription, isAcknowledging: isAcknowledging, silent: who.count,
      heard: Array(repeating: nil, count: members.count))
    state.withLock { $0.round = round }
    try await body()
    let end = round.end
    let result = try await host.clock.withDeadline(.seconds(60), "hearing from the cloud") { () throws(CaravanError) in
      try await end.wait()
    }
    try result.get()
    return state.withLock { state in
      defer { state.round = nil }
      return (state.round?.times ?? [], state.round?.heard.compactMap(\.self) ?? [])
    }
  }

  // MARK: On the loop

  private func read(_ index: Int) {
    do throws(CaravanError) {
      let bytes = try members[index].line.receive()
      let (answer, end) = try state.withLock { state throws(CaravanError) in
        let answer = try take(bytes, of: index, &state)
        return (answer, state.round?.silent == 0 ? state.round?.end : nil)
      }
      if !answer.isEmpty { try members[index].line.send(answer) }
      end?.fulfil(.success(()))
    } catch {
      state.withLock { $0.round?.end }?.fulfil(.failure(error))
    }
  }

  /// - Returns: what the device says to that.
  private func take(_ bytes: [UInt8], of index: Int, _ state: inout State) throws(CaravanError) -> [UInt8] {
    var said: [UInt8] = []
    state.talks[index].hear(bytes)
    while let item = try state.talks[index].next() {
      switch item {
      case .pong: continue
      case .ping: said += Array("PONG\r\n".utf8)
      case .complaint(let text): throw CaravanError(.internalError, "the broker minds a device: \(text)")
      case .message(let subscription, let payload):
        let isOfRound = subscription == state.round?.subscription
        // What comes between rounds would come again and again, and the next round would hear of that.
        if subscription == Self.notifications, !isOfRound || state.round?.isAcknowledging == true {
          said += acknowledgement(of: payload, by: members[index].device)
        }
        guard isOfRound else { continue }
        guard state.round?.heard[index] == nil else { continue }
        state.round?.heard[index] = payload
        state.round?.times.append(host.clock.now)
        state.round?.silent -= 1
      }
    }
    return said
  }

  /// The number is the first field of both messages.
  private func acknowledgement(of notification: [UInt8], by device: EnrolledDevice) -> [UInt8] {
    let tag = notification.first
    let number = notification.dropFirst().prefix { $0 >= 0x80 }
    guard tag == 0x08, number.endIndex < notification.endIndex else { return [] }
    let home = Partition(of: .system(user))
    return BrokerLine.publish(
      Array(notification[...number.endIndex]), to: Subject.acks(device, home).text)
  }
}

extension [UInt8] {
  fileprivate func ends(with other: some Collection<UInt8>) -> Bool { suffix(other.count).elementsEqual(other) }
}
