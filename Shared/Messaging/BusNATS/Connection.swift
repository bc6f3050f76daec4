internal import CCaravanNats
internal import CaravanBus
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// What the library's callbacks of one connection work on. The library gets a number for it, not its address: libnats
/// may still report an error of a connection after it has said that the connection is closed.
final class ConnectionContext: Sendable {
  let events = EventFeed()
  let replies = ReplyTable()
  let spent = SpentMessages()
  let lanes: AnswerLanes
  let inlets: Inlets
  let options: NATSOptions
  private let socket: BrokerSocket
  private let random: any RandomSource
  /// What was shown to the broker last: the key that signs belongs to the token that was shown.
  private let shown = Mutex<Credentials?>(nil)
  /// What the library knows it by.
  private let registered = Mutex<UInt>(0)

  init(_ options: NATSOptions, loop: EventLoop, host: Host) {
    self.options = options
    random = host.random
    let (lanes, inlets) = (AnswerLanes(loop: loop), Inlets(loop: loop, clock: host.clock))
    (self.lanes, self.inlets) = (lanes, inlets)
    socket = BrokerSocket(loop: loop) { [replies, spent] arrived in
      let answers = lanes.take(
        accept: { NATSBus.accept($0, for: replies, spent) },
        nobody: { replies.resolve($0, .failure(.noResponders)) })
      inlets.take(arrived - answers)
    }
  }

  var number: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: registered.withLock { $0 }) }

  /// Hands to the socket what waits for it, where this is the loop's thread; else that happens at the end of its turn.
  func flush() { socket.flush() }

  /// Doubles from try to try; the second half of it is random, so that a fleet does not come back in step.
  fileprivate func delay(beforeAttempt attempt: Int32) -> Int64 {
    let doublings = min(max(attempt, 1) - 1, 16)
    let whole = min(options.firstRetry.milliseconds << Int64(doublings), options.lastRetry.milliseconds)
    return whole / 2 + Int64(random.below(UInt64(whole / 2 + 1)))
  }

  fileprivate func failed(_ status: natsStatus, _ connection: OpaquePointer?) {
    switch status {
    case NATS_NOT_PERMITTED:
      let text = Self.lastError(connection)
      // The broker says which in words only: Permissions Violation for Subscription to "…".
      let isSubscription = text.split(separator: " ").contains { word in word == "Subscription" }
      events.send(.denied(isSubscription ? .subscription : .publish, text))
    case NATS_CONNECTION_AUTH_FAILED: events.send(.denied(.connection, Self.lastError(connection)))
    default: break
    }
  }

  private static func lastError(_ connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    guard let connection else { return "" }
    _ = natsConnection_GetLastError(connection, &text)
    return text.map { String(cString: $0) } ?? ""
  }
}

// MARK: Callbacks

extension ConnectionContext {
  private struct Registry {
    var contexts: [UInt: ConnectionContext] = [:]
    var last: UInt = 0
  }

  /// The contexts of connections that are not closed, by the number the library has for each.
  private static let registry = Mutex(Registry())

  fileprivate static func enter(_ context: ConnectionContext) -> UnsafeMutableRawPointer? {
    let number = registry.withLock { registry in
      registry.last += 1
      registry.contexts[registry.last] = context
      return registry.last
    }
    return UnsafeMutableRawPointer(bitPattern: number)
  }

  private static func from(_ number: UnsafeMutableRawPointer?) -> ConnectionContext? {
    registry.withLock { $0.contexts[UInt(bitPattern: number)] }
  }

  @discardableResult
  fileprivate static func leave(_ number: UnsafeMutableRawPointer?) -> ConnectionContext? {
    registry.withLock { $0.contexts.removeValue(forKey: UInt(bitPattern: number)) }
  }

  fileprivate static let onConnected: natsConnectionHandler = { _, context in
    from(context)?.events.send(.connected)
  }

  fileprivate static let onDisconnected: natsConnectionHandler = { _, context in
    guard let context = from(context) else { return }
    context.events.send(.disconnected)
    context.replies.failAll(.connectionLost)
  }

  fileprivate static let onClosed: natsConnectionHandler = { _, context in
    guard let owner = leave(context) else { return }
    owner.replies.failAll(.connectionLost)
    owner.events.send(.closed)
    owner.events.finish()
    owner.inlets.finishAll()
  }

  fileprivate static let onError: natsErrHandler = { connection, _, status, context in
    from(context)?.failed(status, connection)
  }

  static let onAnswer: natsMsgHandler = { _, _, message, context in
    guard let message, let owner = from(context) else { return natsMsg_Destroy(message) }
    NATSBus.accept(message, for: owner.replies, owner.spent)
  }

  /// What the library keeps for the following ones is the same number.
  fileprivate static let onAttach: natsEvLoop_Attach = { data, context, connection, descriptor in
    guard let owner = from(context), let connection else { return NATS_ERR }
    data?.pointee = context
    return owner.socket.attach(Handle(pointer: connection), descriptor) ? NATS_OK : NATS_ERR
  }

  fileprivate static let onReading: natsEvLoop_ReadAddRemove = { context, isAdded in
    if !isAdded { from(context)?.socket.stop() }
    return NATS_OK
  }

  fileprivate static let onWriting: natsEvLoop_WriteAddRemove = { context, isAdded in
    let socket = from(context)?.socket
    if isAdded { socket?.startWriting() } else { socket?.stopWriting() }
    return NATS_OK
  }

  fileprivate static let onDetach: natsEvLoop_Detach = { context in
    from(context)?.socket.stop()
    return NATS_OK
  }

  fileprivate static let onDelay: natsCustomReconnectDelayHandler = { _, attempts, context in
    from(context)?.delay(beforeAttempt: attempts) ?? 1_000
  }

  /// The library frees the copy.
  fileprivate static let onToken: natsUserJWTHandler = { token, _, context in
    guard let owner = from(context), let credentials = owner.options.current else { return NATS_ERR }
    owner.shown.withLock { $0 = credentials }
    token?.pointee = strdup(credentials.jwt.text)
    return NATS_OK
  }

  /// The library frees the copy. Before 3.8 it takes a signature that begins with a zero byte, one in 256, for none and
  /// asks to be let in without it (nats.c #705): refused. Such an attempt ends here; the next one gets another nonce.
  fileprivate static let onNonce: natsSignatureHandler = { _, signature, count, nonce, context in
    guard let credentials = from(context)?.shown.withLock(\.self), let nonce,
      let signed = try? credentials.key.sign([UInt8](UnsafeRawBufferPointer(start: nonce, count: strlen(nonce)))),
      signed.first != 0, let copy = malloc(signed.count)
    else { return NATS_ERR }
    memcpy(copy, signed, signed.count)
    signature?.pointee = copy.assumingMemoryBound(to: UInt8.self)
    count?.pointee = Int32(signed.count)
    return NATS_OK
  }
}

// MARK: Connecting

extension ConnectionContext {
  /// Tries once, for at most `NATSLimits.connectTimeout` for each address. When no broker is there, goes on trying on
  /// the library's threads.
  /// - Throws: `notAuthenticated`, `unavailable` where TLS fails, or `invalidData` for options that cannot work.
  func connectBlocking() throws(CaravanError) -> Handle {
    try check(Library.open, "start libnats")
    var attempt = try attemptBlocking(insisting: false)
    if attempt.status == NATS_PROTOCOL_ERROR, options.demandsTLS, options.tls?.certificateFile == nil {
      // Since TLS 1.3 a client without a certificate is told so after all has seemed well (RFC 8446, 4.4.2.4).
      throw CaravanError(
        .unavailable,
        "connect to \(options.urls.joined(separator: ",")): the broker hangs up when TLS is agreed on: does it ask for "
          + "a client certificate (tls-cert, tls-key)?")
    }
    // The library says why it was refused only when it is not to try again; and then it closes the connection.
    if attempt.connection == nil, !attempt.status.isRefusal { attempt = try attemptBlocking(insisting: true) }
    guard let connection = attempt.connection else {
      throw CaravanError(attempt.status, "connect to \(options.urls.joined(separator: ","))")
    }
    return connection
  }

  private func attemptBlocking(
    insisting: Bool
  ) throws(CaravanError) -> (status: natsStatus, connection: Handle?) {
    var settings: OpaquePointer?
    try check(natsOptions_Create(&settings), "make options")
    defer { natsOptions_Destroy(settings) }
    guard let settings else { throw CaravanError(.internalError, "libnats made no options") }
    let number = Self.enter(self)
    registered.withLock { $0 = UInt(bitPattern: number) }
    do throws(CaravanError) {
      try set(settings, number)
      if insisting {
        let status = natsOptions_SetRetryOnFailedConnect(settings, true, Self.onConnected, number)
        try check(status, "retry")
      }
    } catch {
      Self.leave(number)
      throw error
    }
    var connection: OpaquePointer?
    let status = natsConnection_Connect(&connection, settings)
    if status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection {
      return (status, Handle(pointer: connection))
    }
    Self.leave(number)
    return (status, nil)
  }

  private func set(_ settings: OpaquePointer, _ context: UnsafeMutableRawPointer?) throws(CaravanError) {
    try setServers(settings)
    try check(natsOptions_SetName(settings, options.name), "name")
    try check(natsOptions_SetTimeout(settings, NATSLimits.connectTimeout.milliseconds), "timeout")
    try check(natsOptions_SetPingInterval(settings, options.pingInterval.milliseconds), "ping interval")
    try check(natsOptions_SetMaxPingsOut(settings, NATSLimits.pingsUnanswered), "pings")
    try check(natsOptions_SetMaxReconnect(settings, -1), "reconnect")
    try check(natsOptions_SetReconnectBufSize(settings, NATSLimits.reconnectBufferBytes), "reconnect buffer")
    try check(natsOptions_SetCustomReconnectDelay(settings, Self.onDelay, context), "reconnect delay")
    try check(natsOptions_UseGlobalMessageDelivery(settings, true), "delivery threads")
    // Without it a published message waits up to a millisecond for the library's flusher.
    try check(natsOptions_SetSendAsap(settings, true), "send at once")
    let attaching = natsOptions_SetEventLoop(
      settings, context, Self.onAttach, Self.onReading, Self.onWriting, Self.onDetach)
    try check(attaching, "event loop")
    try check(natsOptions_SetIOBufSize(settings, NATSLimits.bufferBytes), "buffer")
    try check(natsOptions_SetReconnectedCB(settings, Self.onConnected, context), "callback")
    try check(natsOptions_SetDisconnectedCB(settings, Self.onDisconnected, context), "callback")
    try check(natsOptions_SetClosedCB(settings, Self.onClosed, context), "callback")
    try check(natsOptions_SetErrorHandler(settings, Self.onError, context), "callback")
    guard options.credentials != nil else { return }
    try check(
      natsOptions_SetUserCredentialsCallbacks(settings, Self.onToken, context, Self.onNonce, context), "credentials")
  }

  private func setServers(_ settings: OpaquePointer) throws(CaravanError) {
    let urls = options.urls.map { strdup($0) }
    defer { for url in urls { free(url) } }
    var pointers = urls.map { UnsafePointer($0) }
    try check(natsOptions_SetServers(settings, &pointers, Int32(pointers.count)), "address \(options.urls)")
    guard options.demandsTLS else { return }
    try check(natsOptions_SetSecure(settings, true), "TLS")
    // The library says of a file that is not there: (null).
    for file in [options.tls?.authorityFile, options.tls?.certificateFile, options.tls?.keyFile] {
      if let file { _ = try TextFile.read(file) }
    }
    if let authority = options.tls?.authorityFile {
      try check(natsOptions_LoadCATrustedCertificates(settings, authority), "read '\(authority)'")
    }
    if let certificate = options.tls?.certificateFile, let key = options.tls?.keyFile {
      try check(natsOptions_LoadCertificatesChain(settings, certificate, key), "read '\(certificate)' and '\(key)'")
    }
  }
}
