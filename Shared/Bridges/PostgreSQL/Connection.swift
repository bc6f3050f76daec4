internal import CCaravanPostgres
internal import CaravanModel
internal import Glibc

public struct ConnectionOptions: Sendable {
  public var address: ConnectionString
  /// As `pg_stat_activity` shows it.
  public var applicationName = "caravan"
  /// Statements that set the session up; each is passed over where the server does not know what it speaks of.
  public var preamble: [StaticString] = []
  /// How long one connection attempt may take, for each of several hosts; in whole seconds, at least 2. An address may
  /// say another `connect_timeout`.
  public var connectSeconds = 2
  /// After how long a silence, again and again, a server that owes an answer is asked whether it is there: whether it
  /// says anything to another connection, within `connectSeconds`. One that does is slow, one that does not hangs.
  public var silenceMilliseconds: Int32 = 500
  /// How long a server that is there may keep silent while an answer is awaited.
  public var replyMilliseconds: Int32 = 30_000

  public init(_ address: ConnectionString) { self.address = address }
}

/// One connection to a PostgreSQL server, always in pipeline mode. Owned by one isolation domain: not Sendable, and
/// every call may block, so it belongs in an actor with a serial executor of its own (style rule 11).
///
/// It never reconnects: once lost it stays lost, and whoever owns it opens another.
public final class Connection {
  private let handle: OpaquePointer
  private let options: ConnectionOptions
  private var isOpen = true
  /// Names of the statements the server has prepared.
  private var prepared: [PreparedKey: String] = [:]
  private var namesGiven = 0

  /// The oldest server whose dialect is used here; Citus, Yugabyte and Cockroach report what they speak.
  public static let oldestVersion = 110_000

  /// - Throws: `.refused` when the server does not let this client in or is too old, `.lost` when none answers.
  public init(_ options: ConnectionOptions) throws(PostgresError) {
    guard let handle = Self.with(options, { PQconnectdbParams($0, $1, 1) }) else {
      throw PostgresError(state: "", message: "no memory for a connection")
    }
    self.handle = handle
    self.options = options
    do throws(PostgresError) {
      try checkServer()
      CPostgres_ignore_notices(handle)
      try enterPipeline()
      for statement in options.preamble { try runIfKnown(statement) }
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Nothing may be called afterwards.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    PQfinish(handle)
  }

  private typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

  /// Calls libpq with the names and values of all parameters.
  /// - Parameter place: which of the hosts that the address names; empty: any.
  private static func with<Value>(
    _ options: ConnectionOptions, at place: KeyValuePairs<String, String> = [:], _ call: (Texts, Texts) -> Value
  ) -> Value {
    // Later ones win: what the address says goes before our defaults.
    let parameters: KeyValuePairs<String, String> = [
      "application_name": options.applicationName, "connect_timeout": String(options.connectSeconds),
      "target_session_attrs": "read-write", "keepalives_idle": "5", "keepalives_interval": "2",
      "keepalives_count": "3", "tcp_user_timeout": "10000", "dbname": options.address.text,
      "client_encoding": "UTF8",
    ]
    let keys = (parameters.map(\.key) + place.map(\.key)).map { strdup($0) }
    let values = (parameters.map(\.value) + place.map(\.value)).map { strdup($0) }
    defer { for text in keys + values { free(text) } }
    return call(keys.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
  }

  // MARK: The server

  private func checkServer() throws(PostgresError) {
    guard PQstatus(handle) == CONNECTION_OK else {
      let message = String(cString: PQerrorMessage(handle))
      // libpq keeps no SQLSTATE of a refused connection. A server that starts or stops, that only reads or has no room
      // may do otherwise soon.
      let isPassing = [
        "starting up", "shutting down", "recovery", "too many", "remaining connection slots", "read-only",
      ]
      .contains { message.contains($0) }
      // The server's own words, or libpq's about an option it cannot use.
      let isRefusal = message.contains("FATAL:") && !isPassing || message.hasPrefix("invalid ")
      throw PostgresError(state: "", message: message, kind: isRefusal ? .refused : .lost)
    }
    guard serverVersion >= Self.oldestVersion else {
      let name = parameter("server_version") ?? String(serverVersion)
      throw PostgresError(
        state: "", message: "the server is PostgreSQL \(name): \(Self.oldestVersion / 10_000) or newer is needed",
        kind: .refused)
    }
  }

  /// 150004 for 15.4.
  public var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// What the server reports about itself and the session, such as `server_version` or `server_encoding`.
  public func parameter(_ name: String) -> String? {
    PQparameterStatus(handle, name).map { String(cString: $0) }
  }

  private func enterPipeline() throws(PostgresError) {
    // "It is strongly recommended to use libpq in non-blocking mode in pipeline mode": else both sides may wait for
    // the other to read (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html).
    guard PQsetnonblocking(handle, 0) == 0, PQenterPipelineMode(handle) == 1, PQsetnonblocking(handle, 1) == 0 else {
      throw lost("pipeline mode is not to be had")
    }
  }

  // MARK: Statements

  /// Runs one statement that takes no values and is not kept prepared; for changes of the schema.
  public func execute(_ sql: String) throws(PostgresError) {
    guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
    _ = try finish([.answer])
  }

  /// Sends the statements together and waits for their answers.
  /// - Returns: one answer a statement.
  /// - Throws: the first failure; a transaction that it left open is rolled back.
  public func run(_ pipeline: Pipeline) throws(PostgresError) -> [Rows] {
    var expected: [Expected] = []
    for request in pipeline.requests { try send(request, pipeline.bytes, &expected) }
    return try finish(expected)
  }

  private func finish(_ expected: [Expected]) throws(PostgresError) -> [Rows] {
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    let answers = try receive(expected)
    guard let failure = answers.failure else { return answers.rows }
    if failure.kind != .lost { try rollBack() }
    throw failure
  }

  /// One statement in a transaction of its own.
  @discardableResult
  public func run<each Value: Parameter>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(PostgresError) -> Rows {
    var pipeline = Pipeline()
    pipeline.add(sql, repeat each values)
    return try run(pipeline)[0]
  }

  private func runIfKnown(_ statement: StaticString) throws(PostgresError) {
    do throws(PostgresError) { try run(statement) } catch { if error.kind == .lost { throw error } }
  }

  /// Ends an open transaction, if there is one.
  public func rollBack() throws(PostgresError) {
    guard PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
    var pipeline = Pipeline()
    pipeline.add("ROLLBACK")
    _ = try run(pipeline)
  }

  // MARK: Sending

  private enum PreparedKey: Hashable {
    /// Of a literal.
    case address(UInt)
    case text(String)
  }

  private enum Expected {
    case preparation(PreparedKey)
    case answer
  }

  private func send(
    _ request: Pipeline.Request, _ bytes: [UInt8], _ expected: inout [Expected]
  ) throws(PostgresError) {
    let name: String
    switch request.statement {
    case .literal(let sql):
      name = try prepare(.address(UInt(bitPattern: sql.utf8Start)), sql.description, request, &expected)
    case .kept(let sql): name = try prepare(.text(sql), sql, request, &expected)
    case .once(let sql):
      // The unnamed statement is the next one's as well.
      name = ""
      try sendPreparation(of: sql, as: name, request)
      expected.append(.preparation(.text("")))
    }
    let lengths = request.values.map { Int32($0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: lengths.count)
    // An empty value needs an address that is not NULL, which an empty array need not have.
    let bytes = bytes.isEmpty ? [0] : bytes
    let sent = bytes.withUnsafeBytes { buffer in
      let start = buffer.baseAddress!
      let values = request.values.map {
        $0.map { start.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
      }
      return PQsendQueryPrepared(handle, name, Int32(values.count), values, lengths, formats, 1)
    }
    guard sent == 1 else { throw lost() }
    expected.append(.answer)
  }

  private func prepare(
    _ key: PreparedKey, _ sql: String, _ request: Pipeline.Request, _ expected: inout [Expected]
  ) throws(PostgresError) -> String {
    if let name = prepared[key] { return name }
    let name = "c\(namesGiven)"
    namesGiven += 1
    try sendPreparation(of: sql, as: name, request)
    // Known from here on, so that the same pipeline does not prepare it twice; forgotten if the server refuses.
    prepared[key] = name
    expected.append(.preparation(key))
    return name
  }

  private func sendPreparation(
    of sql: String, as name: String, _ request: Pipeline.Request
  ) throws(PostgresError) {
    let types = request.types.map(\.rawValue)
    guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else { throw lost() }
  }

  // MARK: Receiving

  private func receive(_ expected: [Expected]) throws(PostgresError) -> (rows: [Rows], failure: PostgresError?) {
    var rows: [Rows] = []
    var failure: PostgresError?
    for item in expected {
      guard let result = try nextResult() else { throw lost("an answer is missing") }
      let answer = Rows(result)
      let isGood = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
      // Those behind a failure are answered too, with nothing.
      if !isGood, failure == nil { failure = self.failure(result) }
      switch item {
      case .preparation(let key): if !isGood { prepared[key] = nil }
      case .answer: rows.append(answer)
      }
      guard try nextResult() == nil else { throw lost("a statement has two answers") }
    }
    guard let end = try nextResult() else { throw lost("the end of the answers is missing") }
    defer { PQclear(end) }
    guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw lost("the answers have another end") }
    return (rows, failure)
  }

  private func nextResult() throws(PostgresError) -> OpaquePointer? {
    while true {
      // Sends what is left, so that the server gets on; takes what has come, so that it need not wait for us.
      let flushed = PQflush(handle)
      guard flushed >= 0 else { throw lost() }
      if flushed == 0, PQisBusy(handle) == 0 { break }
      try wait(forRoom: flushed == 1)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    let result = PQgetResult(handle)
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQclear(result) }
      throw result == nil ? lost() : PostgresError(state: "", message: failure(result).description, kind: .lost)
    }
    return result
  }

  private func wait(forRoom: Bool) throws(PostgresError) {
    var events = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    if forRoom { events.events |= Int16(POLLOUT) }
    var silence: Int32 = 0
    while silence < options.replyMilliseconds {
      let pause = min(options.silenceMilliseconds, options.replyMilliseconds - silence)
      let count = poll(&events, 1, pause)
      if count < 0, errno != EINTR { throw lost(String(cString: strerror(errno))) }
      guard count == 0 else { return }
      silence += pause
      guard isServerThere || poll(&events, 1, 0) != 0 else {
        throw lost("the server hangs: it kept silent for \(silence) ms, and says nothing to another connection either")
      }
    }
    throw lost("the server kept silent for \(silence) ms")
  }

  /// Whether it answers another connection, however it does. The one of several hosts that this connection leads to.
  private var isServerThere: Bool {
    func text(_ value: UnsafeMutablePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
    let place: KeyValuePairs = [
      "host": text(PQhost(handle)), "hostaddr": text(PQhostaddr(handle)), "port": text(PQport(handle)),
    ]
    return Self.with(options, at: place) { PQpingParams($0, $1, 1) } != PQPING_NO_RESPONSE
  }

  private func failure(_ result: OpaquePointer?) -> PostgresError {
    PQstatus(handle) == CONNECTION_OK ? PostgresError(result) : lost(String(cString: PQresultErrorMessage(result)))
  }

  private func lost(_ reason: String? = nil) -> PostgresError {
    PostgresError(state: "", message: reason ?? String(cString: PQerrorMessage(handle)), kind: .lost)
  }
}
