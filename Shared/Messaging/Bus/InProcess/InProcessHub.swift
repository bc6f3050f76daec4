internal import CaravanModel
public import CaravanRuntime

/// A broker in memory, for one process that plays a whole deployment. It obeys the rules of the real one: sizes,
/// deadlines, one receiver of each queue group, `unavailable` when nobody serves, drops for slow consumers. Without
/// delays it delivers within the sender's call; what a policy delays needs `run()`.
public final class InProcessHub: Service {
  private struct Late: Sendable {
    let at: Instant
    let deliver: @Sendable () -> Void
  }

  let clock: any Clock
  let random: any RandomSource
  private let faults: any FaultPolicy
  private let refused: @Sendable (BrokerRefusal) -> Void
  private let routes = Mutex(RoutingTable())
  private let late = Mailbox<Late>(capacity: BusLimits.messagesDelayed)

  /// - Parameter refused: hears of what a client is not permitted to do. Called without locks.
  public init(
    clock: any Clock, random: any RandomSource, faults: any FaultPolicy = NoFaults(),
    refused: @escaping @Sendable (BrokerRefusal) -> Void = { _ in }
  ) {
    self.clock = clock
    self.random = random
    self.faults = faults
    self.refused = refused
  }

  /// A new client. Names may repeat: faults then meet all of that name. Who sends on a device's subjects goes by the
  /// device's name, as the broker would see to.
  /// - Parameter admission: what it may do; nil: everything.
  public func connect(as name: String, _ admission: BrokerAdmission? = nil) -> InProcessBus {
    precondition(!name.isEmpty && !name.contains { ". *>".contains($0) }, "'\(name)' cannot be part of a subject")
    return InProcessBus(hub: self, peer: routes.withLock { $0.addPeer(named: name, admission) })
  }

  /// Ends the connections that were admitted so, for good.
  public func expel(_ reason: String, where isMeant: (BrokerAdmission) -> Bool) {
    for peer in routes.withLock({ $0.peers(where: isMeant) }) {
      peer.expel(reason)
      remove(peer)
    }
  }

  /// Takes the connection of every peer of that name away, as a broken network would.
  public func disconnect(_ name: String) {
    for peer in routes.withLock({ $0.peers(named: name) }) { peer.disconnect() }
  }

  public func reconnect(_ name: String) {
    for peer in routes.withLock({ $0.peers(named: name) }) { peer.reconnect() }
  }

  /// Delivers what is late.
  public func run() async {
    await withDiscardingTaskGroup { group in
      while let item = await late.next() {
        guard case .element(let message) = item else { continue }
        group.addTask {
          guard (try? await self.clock.sleep(until: message.at)) != nil else { return }
          message.deliver()
        }
      }
    }
  }

  /// Ends `run` when all that is late has been delivered.
  public func shutDown() { late.finish() }

  // MARK: For its buses

  /// How many receive it, or would if nothing were lost. Of what it may not send the sender learns by an event only,
  /// as if somebody had got it.
  func send(_ incoming: Incoming, from peer: Peer) -> Int {
    let text = incoming.subject.text
    guard peer.mayPublish(to: text) else {
      refuse(peer, .publish, text)
      return 1
    }
    let receivers = routes.withLock { $0.receivers(of: incoming.subject, random: random) }
    for receiver in receivers {
      let passage = Passage(
        sender: peer.name, receiver: receiver.peer.name, subject: text, isReply: false,
        bytes: incoming.message.payload.count)
      carry(passage) { [clock] copies in
        guard receiver.peer.isUp else { return }
        if let reply = incoming.reply { receiver.peer.asked(from: reply, copies: copies, at: clock.now) }
        if case .droppedFirst = receiver.mailbox.push(incoming) {
          receiver.peer.events.send(.slowConsumer(subject: receiver.pattern.text, dropped: 1))
        }
      }
    }
    return receivers.count
  }

  func answer(_ message: Message, to address: ReplyAddress, from peer: Peer) {
    guard peer.mayAnswer(address.text, at: clock.now) else { return refuse(peer, .publish, address.text) }
    guard let inbox = Inbox(address), let receiver = routes.withLock({ $0.peer(inbox.peer) }) else { return }
    let passage = Passage(
      sender: peer.name, receiver: receiver.name, subject: address.text, isReply: true, bytes: message.payload.count)
    carry(passage) { _ in
      // Whoever may not listen there never learns of an answer.
      guard receiver.isUp, receiver.hearsAnswers else { return }
      receiver.replies.resolve(inbox.request, .success(message))
    }
  }

  func subscribe(_ peer: Peer, _ pattern: SubjectPattern, group: String?, capacity: Int) -> any BusSubscription {
    let mailbox = Mailbox<Incoming>.forMessages(capacity: capacity)
    guard peer.maySubscribe(to: pattern.text) else {
      refuse(peer, .subscribe, pattern.text)
      return Subscriber(mailbox) { mailbox.finish() }
    }
    let id = routes.withLock { $0.add(Route(peer: peer, pattern: pattern, group: group, mailbox: mailbox)) }
    return Subscriber(mailbox) { [weak self] in
      self?.routes.withLock { $0.remove(id) }
      mailbox.finish()
    }
  }

  /// Ends all subscriptions of the peer; what they hold may still be read.
  func endSubscriptions(of peer: Peer) {
    for mailbox in routes.withLock({ $0.removeRoutes(of: peer) }) { mailbox.finish() }
  }

  func remove(_ peer: Peer) {
    endSubscriptions(of: peer)
    routes.withLock { $0.removePeer(peer) }
  }

  private func refuse(_ peer: Peer, _ action: BrokerRefusal.Action, _ subject: String) {
    let refusal = BrokerRefusal(peer: peer.name, action: action, subject: subject)
    peer.events.send(refusal.event)
    refused(refusal)
  }

  /// - Parameter deliver: is told how many copies there are.
  private func carry(_ passage: Passage, deliver: @escaping @Sendable (Int) -> Void) {
    let delays = faults.copies(of: passage, random: random)
    for delay in delays {
      if delay > .zero {
        late.push(Late(at: clock.now + delay) { deliver(delays.count) })
      } else {
        deliver(delays.count)
      }
    }
  }
}

/// `<root>.r.<peer>.<request>`
struct Inbox {
  let root: String
  let peer: UInt64
  let request: UInt64

  /// - Parameter peer: asks. Where nobody has admitted it, its name is a device's name only: with it a client may send
  ///   on subjects of that device, and is answered at its inbox.
  init(_ peer: Peer, request: UInt64, askingAt subject: Subject) {
    let guess = subject.sender?.device.text == peer.name ? subject.senderInbox : nil
    root = peer.admission?.inbox ?? guess ?? "inbox.\(peer.name)"
    self.peer = peer.id
    self.request = request
  }

  init?(_ address: ReplyAddress) {
    let tokens = address.text.split(separator: ".")
    guard tokens.count >= 5, tokens[0] == "inbox", tokens[tokens.count - 3] == "r" else { return nil }
    guard let peer = UInt64(tokens[tokens.count - 2]), let request = UInt64(tokens[tokens.count - 1]) else {
      return nil
    }
    root = tokens.dropLast(3).joined(separator: ".")
    self.peer = peer
    self.request = request
  }

  var address: ReplyAddress { ReplyAddress(text: "\(root).r.\(peer).\(request)") }
}
