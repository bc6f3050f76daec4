// Made by Protos/generate from caravan/v1/edge.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum DatabaseScope: UInt32, Sendable, CaseIterable {
  case `private` = 0
  case `public` = 1

  var c: Caravan__V1__DatabaseScope {
    switch self {
    case .`private`: CARAVAN__V1__DATABASE_SCOPE__DATABASE_SCOPE_PRIVATE
    case .`public`: CARAVAN__V1__DATABASE_SCOPE__DATABASE_SCOPE_PUBLIC
    }
  }

  init(c: Caravan__V1__DatabaseScope) { self = Self(rawValue: c.rawValue) ?? .`private` }
}

public enum OperationStatus: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case notStarted = 1
  case inProgress = 2
  case failedBeforeTransfer = 3
  case failedDuringTransfer = 4
  case failedAfterTransfer = 5
  case successfulCompletion = 6

  var c: Caravan__V1__OperationStatus {
    switch self {
    case .unspecified: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_UNSPECIFIED
    case .notStarted: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_NOT_STARTED
    case .inProgress: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_IN_PROGRESS
    case .failedBeforeTransfer: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_FAILED_BEFORE_TRANSFER
    case .failedDuringTransfer: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_FAILED_DURING_TRANSFER
    case .failedAfterTransfer: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_FAILED_AFTER_TRANSFER
    case .successfulCompletion: CARAVAN__V1__OPERATION_STATUS__OPERATION_STATUS_SUCCESSFUL_COMPLETION
    }
  }

  init(c: Caravan__V1__OperationStatus) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum SyncBeginStatus: UInt32, Sendable, CaseIterable {
  case ok = 0
  case serverBusy = 1
  case invalidHeight = 2

  var c: Caravan__V1__SyncBeginStatus {
    switch self {
    case .ok: CARAVAN__V1__SYNC_BEGIN_STATUS__SYNC_BEGIN_STATUS_OK
    case .serverBusy: CARAVAN__V1__SYNC_BEGIN_STATUS__SYNC_BEGIN_STATUS_SERVER_BUSY
    case .invalidHeight: CARAVAN__V1__SYNC_BEGIN_STATUS__SYNC_BEGIN_STATUS_INVALID_HEIGHT
    }
  }

  init(c: Caravan__V1__SyncBeginStatus) { self = Self(rawValue: c.rawValue) ?? .ok }
}

public enum SyncContinueStatus: UInt32, Sendable, CaseIterable {
  case ok = 0
  case invalidData = 1
  case noSuchObject = 2
  case objectExists = 3
  case malformedUpdate = 4
  case malformedUpdateUuid = 5
  case invalidSyncToken = 6

  var c: Caravan__V1__SyncContinueStatus {
    switch self {
    case .ok: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_OK
    case .invalidData: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_INVALID_DATA
    case .noSuchObject: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_NO_SUCH_OBJECT
    case .objectExists: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_OBJECT_EXISTS
    case .malformedUpdate: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_MALFORMED_UPDATE
    case .malformedUpdateUuid: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_MALFORMED_UPDATE_UUID
    case .invalidSyncToken: CARAVAN__V1__SYNC_CONTINUE_STATUS__SYNC_CONTINUE_STATUS_INVALID_SYNC_TOKEN
    }
  }

  init(c: Caravan__V1__SyncContinueStatus) { self = Self(rawValue: c.rawValue) ?? .ok }
}

public enum FrameCompression: UInt32, Sendable, CaseIterable {
  case none = 0
  case zstd = 1

  var c: Caravan__V1__Frame__Compression {
    switch self {
    case .none: CARAVAN__V1__FRAME__COMPRESSION__NONE
    case .zstd: CARAVAN__V1__FRAME__COMPRESSION__ZSTD
    }
  }

  init(c: Caravan__V1__Frame__Compression) { self = Self(rawValue: c.rawValue) ?? .none }
}

public struct Frame: WireMessage, Equatable {
  public var compression: FrameCompression
  public var plainBytes: UInt32
  public var body: [UInt8]
  public var parcel: Parcel?
  public var most: UInt32
  public var clockMilliseconds: UInt64
  public var plainAnswer: Bool

  public init(
    compression: FrameCompression = .none,
    plainBytes: UInt32 = 0,
    body: [UInt8] = [],
    parcel: Parcel? = nil,
    most: UInt32 = 0,
    clockMilliseconds: UInt64 = 0,
    plainAnswer: Bool = false
  ) {
    self.compression = compression
    self.plainBytes = plainBytes
    self.body = body
    self.parcel = parcel
    self.most = most
    self.clockMilliseconds = clockMilliseconds
    self.plainAnswer = plainAnswer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Frame> {
    let m = arena.make(Caravan__V1__Frame.self, caravan__v1__frame__init)
    if compression != .none { m.pointee.has_compression = 1; m.pointee.compression = compression.c }
    if plainBytes != 0 { m.pointee.has_plain_bytes = 1; m.pointee.plain_bytes = plainBytes }
    if !body.isEmpty { m.pointee.has_body = 1; m.pointee.body = arena.bytes(body) }
    if let parcel { m.pointee.parcel = parcel.pack(into: &arena) }
    if most != 0 { m.pointee.has_most = 1; m.pointee.most = most }
    if clockMilliseconds != 0 { m.pointee.has_clock_milliseconds = 1; m.pointee.clock_milliseconds = clockMilliseconds }
    if plainAnswer { m.pointee.has_plain_answer = 1; m.pointee.plain_answer = plainAnswer ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Frame>) throws(WireError) {
    compression = m.pointee.has_compression != 0 ? FrameCompression(c: m.pointee.compression) : .none
    plainBytes = m.pointee.has_plain_bytes != 0 ? m.pointee.plain_bytes : 0
    body = m.pointee.has_body != 0 ? copyBytes(m.pointee.body) : []
    parcel = if let p = m.pointee.parcel { try Parcel(c: p) } else { nil }
    most = m.pointee.has_most != 0 ? m.pointee.most : 0
    clockMilliseconds = m.pointee.has_clock_milliseconds != 0 ? m.pointee.clock_milliseconds : 0
    plainAnswer = m.pointee.has_plain_answer != 0 ? m.pointee.plain_answer != 0 : false
  }

  static let shape = 208

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__frame__get_packed_size(m)) { caravan__v1__frame__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__frame__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Parcel: WireMessage, Equatable {
  public var container: String
  public var chunks: [UInt8]

  public init(
    container: String = "",
    chunks: [UInt8] = []
  ) {
    self.container = container
    self.chunks = chunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Parcel> {
    let m = arena.make(Caravan__V1__Parcel.self, caravan__v1__parcel__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !chunks.isEmpty { m.pointee.has_chunks = 1; m.pointee.chunks = arena.bytes(chunks) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Parcel>) throws(WireError) {
    container = try copyText(m.pointee.container)
    chunks = m.pointee.has_chunks != 0 ? copyBytes(m.pointee.chunks) : []
  }

  static let shape = 209

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__parcel__get_packed_size(m)) { caravan__v1__parcel__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__parcel__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Exchange: WireMessage, Equatable {
  public var epoch: UInt64
  public var operations: [Operation]

  public init(
    epoch: UInt64 = 0,
    operations: [Operation] = []
  ) {
    self.epoch = epoch
    self.operations = operations
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Exchange> {
    let m = arena.make(Caravan__V1__Exchange.self, caravan__v1__exchange__init)
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    (m.pointee.n_operations, m.pointee.operations) = arena.messages(operations) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Exchange>) throws(WireError) {
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    operations = try copyMessages(m.pointee.n_operations, m.pointee.operations) { (p) throws(WireError) in
      try Operation(c: p)
    }
  }

  static let shape = 210

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__exchange__get_packed_size(m)) { caravan__v1__exchange__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__exchange__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Operation: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case hello(Hello)
    case propose(ProposeTable)
    case push(Push)
    case settle(Settle)
    case pull(Pull)
    case subscribe(Subscribe)
    case ack(AckNotification)
    case ticket(RequestTicket)
    case drop(DropTable)
    case changedZones(ListChangedZones)
    case read(ReadRecords)
    case zones(ListZones)
    case createZone(CreateZone)
    case whoAmI(WhoAmI)
    case schema(AskSchema)
    case query(AskQuery)
    case subscriptions(AskSubscriptions)
    case pushTargets(AskPushTargets)
    case lock(LockDatabase)
    case unlock(UnlockDatabase)
    case beginGroup(BeginGroup)
    case upload(UploadPart)
    case commitGroup(CommitGroup)
    case operation(AskOperation)
    case removeOperation(RemoveOperation)
    case syncBegin(SyncBegin)
    case syncContinue(SyncContinue)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Operation> {
    let m = arena.make(Caravan__V1__Operation.self, caravan__v1__operation__init)
    switch kind {
    case .hello(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_HELLO
      m.pointee.hello = value.pack(into: &arena)
    case .propose(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_PROPOSE
      m.pointee.propose = value.pack(into: &arena)
    case .push(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_PUSH
      m.pointee.push = value.pack(into: &arena)
    case .settle(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SETTLE
      m.pointee.settle = value.pack(into: &arena)
    case .pull(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_PULL
      m.pointee.pull = value.pack(into: &arena)
    case .subscribe(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SUBSCRIBE
      m.pointee.subscribe = value.pack(into: &arena)
    case .ack(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_ACK
      m.pointee.ack = value.pack(into: &arena)
    case .ticket(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_TICKET
      m.pointee.ticket = value.pack(into: &arena)
    case .drop(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_DROP
      m.pointee.drop = value.pack(into: &arena)
    case .changedZones(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_CHANGED_ZONES
      m.pointee.changed_zones = value.pack(into: &arena)
    case .read(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_READ
      m.pointee.read = value.pack(into: &arena)
    case .zones(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_ZONES
      m.pointee.zones = value.pack(into: &arena)
    case .createZone(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_CREATE_ZONE
      m.pointee.create_zone = value.pack(into: &arena)
    case .whoAmI(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_WHO_AM_I
      m.pointee.who_am_i = value.pack(into: &arena)
    case .schema(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SCHEMA
      m.pointee.schema = value.pack(into: &arena)
    case .query(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_QUERY
      m.pointee.query = value.pack(into: &arena)
    case .subscriptions(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SUBSCRIPTIONS
      m.pointee.subscriptions = value.pack(into: &arena)
    case .pushTargets(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_PUSH_TARGETS
      m.pointee.push_targets = value.pack(into: &arena)
    case .lock(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_LOCK
      m.pointee.lock = value.pack(into: &arena)
    case .unlock(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_UNLOCK
      m.pointee.unlock = value.pack(into: &arena)
    case .beginGroup(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_BEGIN_GROUP
      m.pointee.begin_group = value.pack(into: &arena)
    case .upload(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_UPLOAD
      m.pointee.upload = value.pack(into: &arena)
    case .commitGroup(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_COMMIT_GROUP
      m.pointee.commit_group = value.pack(into: &arena)
    case .operation(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_OPERATION
      m.pointee.operation = value.pack(into: &arena)
    case .removeOperation(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_REMOVE_OPERATION
      m.pointee.remove_operation = value.pack(into: &arena)
    case .syncBegin(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SYNC_BEGIN
      m.pointee.sync_begin = value.pack(into: &arena)
    case .syncContinue(let value):
      m.pointee.kind_case = CARAVAN__V1__OPERATION__KIND_SYNC_CONTINUE
      m.pointee.sync_continue = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Operation>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__OPERATION__KIND_HELLO: kind = .hello(try Hello(c: m.pointee.hello))
    case CARAVAN__V1__OPERATION__KIND_PROPOSE: kind = .propose(try ProposeTable(c: m.pointee.propose))
    case CARAVAN__V1__OPERATION__KIND_PUSH: kind = .push(try Push(c: m.pointee.push))
    case CARAVAN__V1__OPERATION__KIND_SETTLE: kind = .settle(try Settle(c: m.pointee.settle))
    case CARAVAN__V1__OPERATION__KIND_PULL: kind = .pull(try Pull(c: m.pointee.pull))
    case CARAVAN__V1__OPERATION__KIND_SUBSCRIBE: kind = .subscribe(try Subscribe(c: m.pointee.subscribe))
    case CARAVAN__V1__OPERATION__KIND_ACK: kind = .ack(try AckNotification(c: m.pointee.ack))
    case CARAVAN__V1__OPERATION__KIND_TICKET: kind = .ticket(try RequestTicket(c: m.pointee.ticket))
    case CARAVAN__V1__OPERATION__KIND_DROP: kind = .drop(try DropTable(c: m.pointee.drop))
    case CARAVAN__V1__OPERATION__KIND_CHANGED_ZONES:
      kind = .changedZones(try ListChangedZones(c: m.pointee.changed_zones))
    case CARAVAN__V1__OPERATION__KIND_READ: kind = .read(try ReadRecords(c: m.pointee.read))
    case CARAVAN__V1__OPERATION__KIND_ZONES: kind = .zones(try ListZones(c: m.pointee.zones))
    case CARAVAN__V1__OPERATION__KIND_CREATE_ZONE: kind = .createZone(try CreateZone(c: m.pointee.create_zone))
    case CARAVAN__V1__OPERATION__KIND_WHO_AM_I: kind = .whoAmI(try WhoAmI(c: m.pointee.who_am_i))
    case CARAVAN__V1__OPERATION__KIND_SCHEMA: kind = .schema(try AskSchema(c: m.pointee.schema))
    case CARAVAN__V1__OPERATION__KIND_QUERY: kind = .query(try AskQuery(c: m.pointee.query))
    case CARAVAN__V1__OPERATION__KIND_SUBSCRIPTIONS:
      kind = .subscriptions(try AskSubscriptions(c: m.pointee.subscriptions))
    case CARAVAN__V1__OPERATION__KIND_PUSH_TARGETS: kind = .pushTargets(try AskPushTargets(c: m.pointee.push_targets))
    case CARAVAN__V1__OPERATION__KIND_LOCK: kind = .lock(try LockDatabase(c: m.pointee.lock))
    case CARAVAN__V1__OPERATION__KIND_UNLOCK: kind = .unlock(try UnlockDatabase(c: m.pointee.unlock))
    case CARAVAN__V1__OPERATION__KIND_BEGIN_GROUP: kind = .beginGroup(try BeginGroup(c: m.pointee.begin_group))
    case CARAVAN__V1__OPERATION__KIND_UPLOAD: kind = .upload(try UploadPart(c: m.pointee.upload))
    case CARAVAN__V1__OPERATION__KIND_COMMIT_GROUP: kind = .commitGroup(try CommitGroup(c: m.pointee.commit_group))
    case CARAVAN__V1__OPERATION__KIND_OPERATION: kind = .operation(try AskOperation(c: m.pointee.operation))
    case CARAVAN__V1__OPERATION__KIND_REMOVE_OPERATION:
      kind = .removeOperation(try RemoveOperation(c: m.pointee.remove_operation))
    case CARAVAN__V1__OPERATION__KIND_SYNC_BEGIN: kind = .syncBegin(try SyncBegin(c: m.pointee.sync_begin))
    case CARAVAN__V1__OPERATION__KIND_SYNC_CONTINUE: kind = .syncContinue(try SyncContinue(c: m.pointee.sync_continue))
    default: kind = nil
    }
  }

  static let shape = 211

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__operation__get_packed_size(m)) { caravan__v1__operation__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__operation__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Hello: WireMessage, Equatable {
  public var software: String
  public var generation: UInt64
  public var tokens: [[UInt8]]

  public init(
    software: String = "",
    generation: UInt64 = 0,
    tokens: [[UInt8]] = []
  ) {
    self.software = software
    self.generation = generation
    self.tokens = tokens
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Hello> {
    let m = arena.make(Caravan__V1__Hello.self, caravan__v1__hello__init)
    if !software.isEmpty { m.pointee.software = arena.string(software) }
    if generation != 0 { m.pointee.has_generation = 1; m.pointee.generation = generation }
    (m.pointee.n_tokens, m.pointee.tokens) = arena.byteStrings(tokens)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Hello>) throws(WireError) {
    software = try copyText(m.pointee.software)
    generation = m.pointee.has_generation != 0 ? m.pointee.generation : 0
    tokens = copyByteStrings(m.pointee.n_tokens, m.pointee.tokens)
  }

  static let shape = 212

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__hello__get_packed_size(m)) { caravan__v1__hello__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__hello__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ProposeTable: WireMessage, Equatable {
  public var container: String
  public var type: RecordType?
  public var remembered: Bool
  public var declared: Bool
  public var partial: Bool

  public init(
    container: String = "",
    type: RecordType? = nil,
    remembered: Bool = false,
    declared: Bool = false,
    partial: Bool = false
  ) {
    self.container = container
    self.type = type
    self.remembered = remembered
    self.declared = declared
    self.partial = partial
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ProposeTable> {
    let m = arena.make(Caravan__V1__ProposeTable.self, caravan__v1__propose_table__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if let type { m.pointee.type = type.pack(into: &arena) }
    if remembered { m.pointee.has_remembered = 1; m.pointee.remembered = remembered ? 1 : 0 }
    if declared { m.pointee.has_declared = 1; m.pointee.declared = declared ? 1 : 0 }
    if partial { m.pointee.has_partial = 1; m.pointee.partial = partial ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ProposeTable>) throws(WireError) {
    container = try copyText(m.pointee.container)
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
    remembered = m.pointee.has_remembered != 0 ? m.pointee.remembered != 0 : false
    declared = m.pointee.has_declared != 0 ? m.pointee.declared != 0 : false
    partial = m.pointee.has_partial != 0 ? m.pointee.partial != 0 : false
  }

  static let shape = 213

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__propose_table__get_packed_size(m)) { caravan__v1__propose_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__propose_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AskSchema: WireMessage, Equatable {
  public var container: String
  public var call: [UInt8]

  public init(
    container: String = "",
    call: [UInt8] = []
  ) {
    self.container = container
    self.call = call
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AskSchema> {
    let m = arena.make(Caravan__V1__AskSchema.self, caravan__v1__ask_schema__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !call.isEmpty { m.pointee.has_call = 1; m.pointee.call = arena.bytes(call) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AskSchema>) throws(WireError) {
    container = try copyText(m.pointee.container)
    call = m.pointee.has_call != 0 ? copyBytes(m.pointee.call) : []
  }

  static let shape = 214

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ask_schema__get_packed_size(m)) { caravan__v1__ask_schema__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ask_schema__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaResult: WireMessage, Equatable {
  public var answer: [UInt8]

  public init(
    answer: [UInt8] = []
  ) {
    self.answer = answer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaResult> {
    let m = arena.make(Caravan__V1__SchemaResult.self, caravan__v1__schema_result__init)
    if !answer.isEmpty { m.pointee.has_answer = 1; m.pointee.answer = arena.bytes(answer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaResult>) throws(WireError) {
    answer = m.pointee.has_answer != 0 ? copyBytes(m.pointee.answer) : []
  }

  static let shape = 215

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_result__get_packed_size(m)) { caravan__v1__schema_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AskQuery: WireMessage, Equatable {
  public var container: String
  public var database: DatabaseScope
  public var request: [UInt8]
  public var token: [UInt8]

  public init(
    container: String = "",
    database: DatabaseScope = .`private`,
    request: [UInt8] = [],
    token: [UInt8] = []
  ) {
    self.container = container
    self.database = database
    self.request = request
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AskQuery> {
    let m = arena.make(Caravan__V1__AskQuery.self, caravan__v1__ask_query__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if !request.isEmpty { m.pointee.has_request = 1; m.pointee.request = arena.bytes(request) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AskQuery>) throws(WireError) {
    container = try copyText(m.pointee.container)
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    request = m.pointee.has_request != 0 ? copyBytes(m.pointee.request) : []
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
  }

  static let shape = 216

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ask_query__get_packed_size(m)) { caravan__v1__ask_query__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ask_query__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AskSubscriptions: WireMessage, Equatable {
  public var container: String
  public var database: DatabaseScope
  public var request: [UInt8]

  public init(
    container: String = "",
    database: DatabaseScope = .`private`,
    request: [UInt8] = []
  ) {
    self.container = container
    self.database = database
    self.request = request
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AskSubscriptions> {
    let m = arena.make(Caravan__V1__AskSubscriptions.self, caravan__v1__ask_subscriptions__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if !request.isEmpty { m.pointee.has_request = 1; m.pointee.request = arena.bytes(request) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AskSubscriptions>) throws(WireError) {
    container = try copyText(m.pointee.container)
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    request = m.pointee.has_request != 0 ? copyBytes(m.pointee.request) : []
  }

  static let shape = 217

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ask_subscriptions__get_packed_size(m)) { caravan__v1__ask_subscriptions__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ask_subscriptions__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SubscriptionsResult: WireMessage, Equatable {
  public var answer: [UInt8]

  public init(
    answer: [UInt8] = []
  ) {
    self.answer = answer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SubscriptionsResult> {
    let m = arena.make(Caravan__V1__SubscriptionsResult.self, caravan__v1__subscriptions_result__init)
    if !answer.isEmpty { m.pointee.has_answer = 1; m.pointee.answer = arena.bytes(answer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SubscriptionsResult>) throws(WireError) {
    answer = m.pointee.has_answer != 0 ? copyBytes(m.pointee.answer) : []
  }

  static let shape = 218

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscriptions_result__get_packed_size(m)) {
      caravan__v1__subscriptions_result__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscriptions_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AskPushTargets: WireMessage, Equatable {
  public var container: String
  public var request: [UInt8]

  public init(
    container: String = "",
    request: [UInt8] = []
  ) {
    self.container = container
    self.request = request
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AskPushTargets> {
    let m = arena.make(Caravan__V1__AskPushTargets.self, caravan__v1__ask_push_targets__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !request.isEmpty { m.pointee.has_request = 1; m.pointee.request = arena.bytes(request) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AskPushTargets>) throws(WireError) {
    container = try copyText(m.pointee.container)
    request = m.pointee.has_request != 0 ? copyBytes(m.pointee.request) : []
  }

  static let shape = 219

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ask_push_targets__get_packed_size(m)) { caravan__v1__ask_push_targets__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ask_push_targets__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushTargetsResult: WireMessage, Equatable {
  public var answer: [UInt8]

  public init(
    answer: [UInt8] = []
  ) {
    self.answer = answer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushTargetsResult> {
    let m = arena.make(Caravan__V1__PushTargetsResult.self, caravan__v1__push_targets_result__init)
    if !answer.isEmpty { m.pointee.has_answer = 1; m.pointee.answer = arena.bytes(answer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushTargetsResult>) throws(WireError) {
    answer = m.pointee.has_answer != 0 ? copyBytes(m.pointee.answer) : []
  }

  static let shape = 220

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_targets_result__get_packed_size(m)) {
      caravan__v1__push_targets_result__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_targets_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryResult: WireMessage, Equatable {
  public var answer: [UInt8]

  public init(
    answer: [UInt8] = []
  ) {
    self.answer = answer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryResult> {
    let m = arena.make(Caravan__V1__QueryResult.self, caravan__v1__query_result__init)
    if !answer.isEmpty { m.pointee.has_answer = 1; m.pointee.answer = arena.bytes(answer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryResult>) throws(WireError) {
    answer = m.pointee.has_answer != 0 ? copyBytes(m.pointee.answer) : []
  }

  static let shape = 221

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_result__get_packed_size(m)) { caravan__v1__query_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Push: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var opFloor: UInt64
  public var mutations: [Mutation]
  public var chunks: [Chunk]
  public var atomic: Bool
  public var database: DatabaseScope
  public var slackMilliseconds: UInt32
  public var toleratedRows: UInt32

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    opFloor: UInt64 = 0,
    mutations: [Mutation] = [],
    chunks: [Chunk] = [],
    atomic: Bool = false,
    database: DatabaseScope = .`private`,
    slackMilliseconds: UInt32 = 0,
    toleratedRows: UInt32 = 0
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.opFloor = opFloor
    self.mutations = mutations
    self.chunks = chunks
    self.atomic = atomic
    self.database = database
    self.slackMilliseconds = slackMilliseconds
    self.toleratedRows = toleratedRows
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Push> {
    let m = arena.make(Caravan__V1__Push.self, caravan__v1__push__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if opFloor != 0 { m.pointee.has_op_floor = 1; m.pointee.op_floor = opFloor }
    (m.pointee.n_mutations, m.pointee.mutations) = arena.messages(mutations) { $0.pack(into: &$1) }
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    if atomic { m.pointee.has_atomic = 1; m.pointee.atomic = atomic ? 1 : 0 }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if slackMilliseconds != 0 { m.pointee.has_slack_milliseconds = 1; m.pointee.slack_milliseconds = slackMilliseconds }
    if toleratedRows != 0 { m.pointee.has_tolerated_rows = 1; m.pointee.tolerated_rows = toleratedRows }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Push>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    opFloor = m.pointee.has_op_floor != 0 ? m.pointee.op_floor : 0
    mutations = try copyMessages(m.pointee.n_mutations, m.pointee.mutations) { (p) throws(WireError) in
      try Mutation(c: p)
    }
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
    atomic = m.pointee.has_atomic != 0 ? m.pointee.atomic != 0 : false
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    slackMilliseconds = m.pointee.has_slack_milliseconds != 0 ? m.pointee.slack_milliseconds : 0
    toleratedRows = m.pointee.has_tolerated_rows != 0 ? m.pointee.tolerated_rows : 0
  }

  static let shape = 222

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push__get_packed_size(m)) { caravan__v1__push__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Settle: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var database: DatabaseScope
  public var record: String

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    database: DatabaseScope = .`private`,
    record: String = ""
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.database = database
    self.record = record
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Settle> {
    let m = arena.make(Caravan__V1__Settle.self, caravan__v1__settle__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if !record.isEmpty { m.pointee.record = arena.string(record) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Settle>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    record = try copyText(m.pointee.record)
  }

  static let shape = 223

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__settle__get_packed_size(m)) { caravan__v1__settle__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__settle__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Pull: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var token: [UInt8]
  public var maxBytes: UInt32
  public var ownBodies: Bool
  public var slackMilliseconds: UInt32
  public var fresh: Bool
  public var mode: ChangeMode
  public var snapshot: Bool
  public var ownThrough: UInt64
  public var filter: [FilterTerm]
  public var type: UInt32

  public init(
    container: String = "",
    zone: String = "",
    token: [UInt8] = [],
    maxBytes: UInt32 = 0,
    ownBodies: Bool = false,
    slackMilliseconds: UInt32 = 0,
    fresh: Bool = false,
    mode: ChangeMode = .forward,
    snapshot: Bool = false,
    ownThrough: UInt64 = 0,
    filter: [FilterTerm] = [],
    type: UInt32 = 0
  ) {
    self.container = container
    self.zone = zone
    self.token = token
    self.maxBytes = maxBytes
    self.ownBodies = ownBodies
    self.slackMilliseconds = slackMilliseconds
    self.fresh = fresh
    self.mode = mode
    self.snapshot = snapshot
    self.ownThrough = ownThrough
    self.filter = filter
    self.type = type
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Pull> {
    let m = arena.make(Caravan__V1__Pull.self, caravan__v1__pull__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    if maxBytes != 0 { m.pointee.has_max_bytes = 1; m.pointee.max_bytes = maxBytes }
    if ownBodies { m.pointee.has_own_bodies = 1; m.pointee.own_bodies = ownBodies ? 1 : 0 }
    if slackMilliseconds != 0 { m.pointee.has_slack_milliseconds = 1; m.pointee.slack_milliseconds = slackMilliseconds }
    if fresh { m.pointee.has_fresh = 1; m.pointee.fresh = fresh ? 1 : 0 }
    if mode != .forward { m.pointee.has_mode = 1; m.pointee.mode = mode.c }
    if snapshot { m.pointee.has_snapshot = 1; m.pointee.snapshot = snapshot ? 1 : 0 }
    if ownThrough != 0 { m.pointee.has_own_through = 1; m.pointee.own_through = ownThrough }
    (m.pointee.n_filter, m.pointee.filter) = arena.messages(filter) { $0.pack(into: &$1) }
    if type != 0 { m.pointee.has_type = 1; m.pointee.type = type }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Pull>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    maxBytes = m.pointee.has_max_bytes != 0 ? m.pointee.max_bytes : 0
    ownBodies = m.pointee.has_own_bodies != 0 ? m.pointee.own_bodies != 0 : false
    slackMilliseconds = m.pointee.has_slack_milliseconds != 0 ? m.pointee.slack_milliseconds : 0
    fresh = m.pointee.has_fresh != 0 ? m.pointee.fresh != 0 : false
    mode = m.pointee.has_mode != 0 ? ChangeMode(c: m.pointee.mode) : .forward
    snapshot = m.pointee.has_snapshot != 0 ? m.pointee.snapshot != 0 : false
    ownThrough = m.pointee.has_own_through != 0 ? m.pointee.own_through : 0
    filter = try copyMessages(m.pointee.n_filter, m.pointee.filter) { (p) throws(WireError) in try FilterTerm(c: p) }
    type = m.pointee.has_type != 0 ? m.pointee.type : 0
  }

  static let shape = 224

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__pull__get_packed_size(m)) { caravan__v1__pull__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__pull__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneSubscription: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var periodMilliseconds: UInt32
  public var toldOnly: Bool
  public var delayToleranceMilliseconds: UInt32

  public init(
    container: String = "",
    zone: String = "",
    periodMilliseconds: UInt32 = 0,
    toldOnly: Bool = false,
    delayToleranceMilliseconds: UInt32 = 0
  ) {
    self.container = container
    self.zone = zone
    self.periodMilliseconds = periodMilliseconds
    self.toldOnly = toldOnly
    self.delayToleranceMilliseconds = delayToleranceMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneSubscription> {
    let m = arena.make(Caravan__V1__ZoneSubscription.self, caravan__v1__zone_subscription__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if periodMilliseconds != 0 {
      m.pointee.has_period_milliseconds = 1
      m.pointee.period_milliseconds = periodMilliseconds
    }
    if toldOnly { m.pointee.has_told_only = 1; m.pointee.told_only = toldOnly ? 1 : 0 }
    if delayToleranceMilliseconds != 0 {
      m.pointee.has_delay_tolerance_milliseconds = 1
      m.pointee.delay_tolerance_milliseconds = delayToleranceMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneSubscription>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    periodMilliseconds = m.pointee.has_period_milliseconds != 0 ? m.pointee.period_milliseconds : 0
    toldOnly = m.pointee.has_told_only != 0 ? m.pointee.told_only != 0 : false
    delayToleranceMilliseconds =
      m.pointee.has_delay_tolerance_milliseconds != 0 ? m.pointee.delay_tolerance_milliseconds : 0
  }

  static let shape = 225

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_subscription__get_packed_size(m)) { caravan__v1__zone_subscription__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_subscription__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Subscribe: WireMessage, Equatable {
  public var generation: UInt64
  public var subscriptions: [ZoneSubscription]

  public init(
    generation: UInt64 = 0,
    subscriptions: [ZoneSubscription] = []
  ) {
    self.generation = generation
    self.subscriptions = subscriptions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Subscribe> {
    let m = arena.make(Caravan__V1__Subscribe.self, caravan__v1__subscribe__init)
    if generation != 0 { m.pointee.has_generation = 1; m.pointee.generation = generation }
    (m.pointee.n_subscriptions, m.pointee.subscriptions) = arena.messages(subscriptions) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Subscribe>) throws(WireError) {
    generation = m.pointee.has_generation != 0 ? m.pointee.generation : 0
    subscriptions = try copyMessages(m.pointee.n_subscriptions, m.pointee.subscriptions) { (p) throws(WireError) in
      try ZoneSubscription(c: p)
    }
  }

  static let shape = 226

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscribe__get_packed_size(m)) { caravan__v1__subscribe__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscribe__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AckNotification: WireMessage, Equatable {
  public var number: UInt64

  public init(
    number: UInt64 = 0
  ) {
    self.number = number
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AckNotification> {
    let m = arena.make(Caravan__V1__AckNotification.self, caravan__v1__ack_notification__init)
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AckNotification>) throws(WireError) {
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
  }

  static let shape = 227

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ack_notification__get_packed_size(m)) { caravan__v1__ack_notification__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ack_notification__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RequestTicket: WireMessage, Equatable {
  public var container: String
  public var upload: Bool
  public var bytes: UInt64
  public var database: DatabaseScope
  public var record: String
  public var version: UInt64

  public init(
    container: String = "",
    upload: Bool = false,
    bytes: UInt64 = 0,
    database: DatabaseScope = .`private`,
    record: String = "",
    version: UInt64 = 0
  ) {
    self.container = container
    self.upload = upload
    self.bytes = bytes
    self.database = database
    self.record = record
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RequestTicket> {
    let m = arena.make(Caravan__V1__RequestTicket.self, caravan__v1__request_ticket__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if upload { m.pointee.has_upload = 1; m.pointee.upload = upload ? 1 : 0 }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if !record.isEmpty { m.pointee.record = arena.string(record) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RequestTicket>) throws(WireError) {
    container = try copyText(m.pointee.container)
    upload = m.pointee.has_upload != 0 ? m.pointee.upload != 0 : false
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    record = try copyText(m.pointee.record)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 228

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__request_ticket__get_packed_size(m)) { caravan__v1__request_ticket__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__request_ticket__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DropTable: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var graceMilliseconds: UInt64
  public var cancel: Bool

  public init(
    container: String = "",
    zone: String = "",
    graceMilliseconds: UInt64 = 0,
    cancel: Bool = false
  ) {
    self.container = container
    self.zone = zone
    self.graceMilliseconds = graceMilliseconds
    self.cancel = cancel
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DropTable> {
    let m = arena.make(Caravan__V1__DropTable.self, caravan__v1__drop_table__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if graceMilliseconds != 0 { m.pointee.has_grace_milliseconds = 1; m.pointee.grace_milliseconds = graceMilliseconds }
    if cancel { m.pointee.has_cancel = 1; m.pointee.cancel = cancel ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DropTable>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    graceMilliseconds = m.pointee.has_grace_milliseconds != 0 ? m.pointee.grace_milliseconds : 0
    cancel = m.pointee.has_cancel != 0 ? m.pointee.cancel != 0 : false
  }

  static let shape = 229

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__drop_table__get_packed_size(m)) { caravan__v1__drop_table__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__drop_table__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ReadRecords: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var names: [String]
  public var fields: [UInt32]
  public var database: DatabaseScope
  public var type: UInt32

  public init(
    container: String = "",
    zone: String = "",
    names: [String] = [],
    fields: [UInt32] = [],
    database: DatabaseScope = .`private`,
    type: UInt32 = 0
  ) {
    self.container = container
    self.zone = zone
    self.names = names
    self.fields = fields
    self.database = database
    self.type = type
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ReadRecords> {
    let m = arena.make(Caravan__V1__ReadRecords.self, caravan__v1__read_records__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    (m.pointee.n_names, m.pointee.names) = arena.strings(names)
    (m.pointee.n_fields, m.pointee.fields) = arena.scalars(fields)
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    if type != 0 { m.pointee.has_type = 1; m.pointee.type = type }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ReadRecords>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    names = try copyStrings(m.pointee.n_names, m.pointee.names)
    fields = copyScalars(m.pointee.n_fields, m.pointee.fields)
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
    type = m.pointee.has_type != 0 ? m.pointee.type : 0
  }

  static let shape = 230

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__read_records__get_packed_size(m)) { caravan__v1__read_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__read_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListZones: WireMessage, Equatable {
  public var container: String
  public var database: DatabaseScope

  public init(
    container: String = "",
    database: DatabaseScope = .`private`
  ) {
    self.container = container
    self.database = database
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListZones> {
    let m = arena.make(Caravan__V1__ListZones.self, caravan__v1__list_zones__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if database != .`private` { m.pointee.has_database = 1; m.pointee.database = database.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListZones>) throws(WireError) {
    container = try copyText(m.pointee.container)
    database = m.pointee.has_database != 0 ? DatabaseScope(c: m.pointee.database) : .`private`
  }

  static let shape = 231

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_zones__get_packed_size(m)) { caravan__v1__list_zones__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_zones__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CreateZone: WireMessage, Equatable {
  public var container: String
  public var zone: String

  public init(
    container: String = "",
    zone: String = ""
  ) {
    self.container = container
    self.zone = zone
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CreateZone> {
    let m = arena.make(Caravan__V1__CreateZone.self, caravan__v1__create_zone__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CreateZone>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
  }

  static let shape = 232

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__create_zone__get_packed_size(m)) { caravan__v1__create_zone__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__create_zone__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WhoAmI: WireMessage, Equatable {
  public var container: String

  public init(
    container: String = ""
  ) {
    self.container = container
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WhoAmI> {
    let m = arena.make(Caravan__V1__WhoAmI.self, caravan__v1__who_am_i__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WhoAmI>) throws(WireError) {
    container = try copyText(m.pointee.container)
  }

  static let shape = 233

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__who_am_i__get_packed_size(m)) { caravan__v1__who_am_i__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__who_am_i__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LockDatabase: WireMessage, Equatable {
  public var container: String
  public var ttlMilliseconds: UInt32
  public var token: UInt64

  public init(
    container: String = "",
    ttlMilliseconds: UInt32 = 0,
    token: UInt64 = 0
  ) {
    self.container = container
    self.ttlMilliseconds = ttlMilliseconds
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LockDatabase> {
    let m = arena.make(Caravan__V1__LockDatabase.self, caravan__v1__lock_database__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LockDatabase>) throws(WireError) {
    container = try copyText(m.pointee.container)
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
  }

  static let shape = 234

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lock_database__get_packed_size(m)) { caravan__v1__lock_database__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lock_database__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct UnlockDatabase: WireMessage, Equatable {
  public var container: String
  public var token: UInt64

  public init(
    container: String = "",
    token: UInt64 = 0
  ) {
    self.container = container
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__UnlockDatabase> {
    let m = arena.make(Caravan__V1__UnlockDatabase.self, caravan__v1__unlock_database__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__UnlockDatabase>) throws(WireError) {
    container = try copyText(m.pointee.container)
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
  }

  static let shape = 235

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__unlock_database__get_packed_size(m)) { caravan__v1__unlock_database__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__unlock_database__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct BeginGroup: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var opFloor: UInt64

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    opFloor: UInt64 = 0
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.opFloor = opFloor
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__BeginGroup> {
    let m = arena.make(Caravan__V1__BeginGroup.self, caravan__v1__begin_group__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if opFloor != 0 { m.pointee.has_op_floor = 1; m.pointee.op_floor = opFloor }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__BeginGroup>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    opFloor = m.pointee.has_op_floor != 0 ? m.pointee.op_floor : 0
  }

  static let shape = 236

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__begin_group__get_packed_size(m)) { caravan__v1__begin_group__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__begin_group__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct UploadPart: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var part: UInt32
  public var mutations: [Mutation]
  public var chunks: [Chunk]

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    part: UInt32 = 0,
    mutations: [Mutation] = [],
    chunks: [Chunk] = []
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.part = part
    self.mutations = mutations
    self.chunks = chunks
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__UploadPart> {
    let m = arena.make(Caravan__V1__UploadPart.self, caravan__v1__upload_part__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if part != 0 { m.pointee.has_part = 1; m.pointee.part = part }
    (m.pointee.n_mutations, m.pointee.mutations) = arena.messages(mutations) { $0.pack(into: &$1) }
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__UploadPart>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    part = m.pointee.has_part != 0 ? m.pointee.part : 0
    mutations = try copyMessages(m.pointee.n_mutations, m.pointee.mutations) { (p) throws(WireError) in
      try Mutation(c: p)
    }
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
  }

  static let shape = 237

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__upload_part__get_packed_size(m)) { caravan__v1__upload_part__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__upload_part__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct CommitGroup: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var opFloor: UInt64
  public var parts: UInt32
  public var atomic: Bool
  public var token: UInt64

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    opFloor: UInt64 = 0,
    parts: UInt32 = 0,
    atomic: Bool = false,
    token: UInt64 = 0
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.opFloor = opFloor
    self.parts = parts
    self.atomic = atomic
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__CommitGroup> {
    let m = arena.make(Caravan__V1__CommitGroup.self, caravan__v1__commit_group__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if opFloor != 0 { m.pointee.has_op_floor = 1; m.pointee.op_floor = opFloor }
    if parts != 0 { m.pointee.has_parts = 1; m.pointee.parts = parts }
    if atomic { m.pointee.has_atomic = 1; m.pointee.atomic = atomic ? 1 : 0 }
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__CommitGroup>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    opFloor = m.pointee.has_op_floor != 0 ? m.pointee.op_floor : 0
    parts = m.pointee.has_parts != 0 ? m.pointee.parts : 0
    atomic = m.pointee.has_atomic != 0 ? m.pointee.atomic != 0 : false
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
  }

  static let shape = 238

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__commit_group__get_packed_size(m)) { caravan__v1__commit_group__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__commit_group__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AskOperation: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0
  ) {
    self.container = container
    self.zone = zone
    self.op = op
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AskOperation> {
    let m = arena.make(Caravan__V1__AskOperation.self, caravan__v1__ask_operation__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AskOperation>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
  }

  static let shape = 239

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ask_operation__get_packed_size(m)) { caravan__v1__ask_operation__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ask_operation__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RemoveOperation: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0
  ) {
    self.container = container
    self.zone = zone
    self.op = op
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RemoveOperation> {
    let m = arena.make(Caravan__V1__RemoveOperation.self, caravan__v1__remove_operation__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RemoveOperation>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
  }

  static let shape = 240

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__remove_operation__get_packed_size(m)) { caravan__v1__remove_operation__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__remove_operation__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ExchangeReply: WireMessage, Equatable {
  public var results: [Result]

  public init(
    results: [Result] = []
  ) {
    self.results = results
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ExchangeReply> {
    let m = arena.make(Caravan__V1__ExchangeReply.self, caravan__v1__exchange_reply__init)
    (m.pointee.n_results, m.pointee.results) = arena.messages(results) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ExchangeReply>) throws(WireError) {
    results = try copyMessages(m.pointee.n_results, m.pointee.results) { (p) throws(WireError) in try Result(c: p) }
  }

  static let shape = 241

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__exchange_reply__get_packed_size(m)) { caravan__v1__exchange_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__exchange_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Result: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case failure(Failure)
    case hello(HelloResult)
    case type(RecordType)
    case commit(CommitReply)
    case pull(PullResult)
    case ticket(Ticket)
    case done(Empty)
    case changedZones(ChangedZones)
    case records(RecordsResult)
    case zones(ZonesResult)
    case zone(ZoneState)
    case person(Person)
    case schema(SchemaResult)
    case query(QueryResult)
    case subscriptions(SubscriptionsResult)
    case pushTargets(PushTargetsResult)
    case lock(LockState)
    case operation(OperationState)
    case part(PartState)
    case syncBegin(SyncBeginResult)
    case syncContinue(SyncContinueResult)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Result> {
    let m = arena.make(Caravan__V1__Result.self, caravan__v1__result__init)
    switch kind {
    case .failure(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_FAILURE
      m.pointee.failure = value.pack(into: &arena)
    case .hello(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_HELLO
      m.pointee.hello = value.pack(into: &arena)
    case .type(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_TYPE
      m.pointee.type = value.pack(into: &arena)
    case .commit(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_COMMIT
      m.pointee.commit = value.pack(into: &arena)
    case .pull(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_PULL
      m.pointee.pull = value.pack(into: &arena)
    case .ticket(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_TICKET
      m.pointee.ticket = value.pack(into: &arena)
    case .done(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_DONE
      m.pointee.done = value.pack(into: &arena)
    case .changedZones(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_CHANGED_ZONES
      m.pointee.changed_zones = value.pack(into: &arena)
    case .records(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_RECORDS
      m.pointee.records = value.pack(into: &arena)
    case .zones(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_ZONES
      m.pointee.zones = value.pack(into: &arena)
    case .zone(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_ZONE
      m.pointee.zone = value.pack(into: &arena)
    case .person(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_PERSON
      m.pointee.person = value.pack(into: &arena)
    case .schema(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_SCHEMA
      m.pointee.schema = value.pack(into: &arena)
    case .query(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_QUERY
      m.pointee.query = value.pack(into: &arena)
    case .subscriptions(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_SUBSCRIPTIONS
      m.pointee.subscriptions = value.pack(into: &arena)
    case .pushTargets(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_PUSH_TARGETS
      m.pointee.push_targets = value.pack(into: &arena)
    case .lock(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_LOCK
      m.pointee.lock = value.pack(into: &arena)
    case .operation(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_OPERATION
      m.pointee.operation = value.pack(into: &arena)
    case .part(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_PART
      m.pointee.part = value.pack(into: &arena)
    case .syncBegin(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_SYNC_BEGIN
      m.pointee.sync_begin = value.pack(into: &arena)
    case .syncContinue(let value):
      m.pointee.kind_case = CARAVAN__V1__RESULT__KIND_SYNC_CONTINUE
      m.pointee.sync_continue = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Result>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__RESULT__KIND_FAILURE: kind = .failure(try Failure(c: m.pointee.failure))
    case CARAVAN__V1__RESULT__KIND_HELLO: kind = .hello(try HelloResult(c: m.pointee.hello))
    case CARAVAN__V1__RESULT__KIND_TYPE: kind = .type(try RecordType(c: m.pointee.type))
    case CARAVAN__V1__RESULT__KIND_COMMIT: kind = .commit(try CommitReply(c: m.pointee.commit))
    case CARAVAN__V1__RESULT__KIND_PULL: kind = .pull(try PullResult(c: m.pointee.pull))
    case CARAVAN__V1__RESULT__KIND_TICKET: kind = .ticket(try Ticket(c: m.pointee.ticket))
    case CARAVAN__V1__RESULT__KIND_DONE: kind = .done(try Empty(c: m.pointee.done))
    case CARAVAN__V1__RESULT__KIND_CHANGED_ZONES: kind = .changedZones(try ChangedZones(c: m.pointee.changed_zones))
    case CARAVAN__V1__RESULT__KIND_RECORDS: kind = .records(try RecordsResult(c: m.pointee.records))
    case CARAVAN__V1__RESULT__KIND_ZONES: kind = .zones(try ZonesResult(c: m.pointee.zones))
    case CARAVAN__V1__RESULT__KIND_ZONE: kind = .zone(try ZoneState(c: m.pointee.zone))
    case CARAVAN__V1__RESULT__KIND_PERSON: kind = .person(try Person(c: m.pointee.person))
    case CARAVAN__V1__RESULT__KIND_SCHEMA: kind = .schema(try SchemaResult(c: m.pointee.schema))
    case CARAVAN__V1__RESULT__KIND_QUERY: kind = .query(try QueryResult(c: m.pointee.query))
    case CARAVAN__V1__RESULT__KIND_SUBSCRIPTIONS:
      kind = .subscriptions(try SubscriptionsResult(c: m.pointee.subscriptions))
    case CARAVAN__V1__RESULT__KIND_PUSH_TARGETS: kind = .pushTargets(try PushTargetsResult(c: m.pointee.push_targets))
    case CARAVAN__V1__RESULT__KIND_LOCK: kind = .lock(try LockState(c: m.pointee.lock))
    case CARAVAN__V1__RESULT__KIND_OPERATION: kind = .operation(try OperationState(c: m.pointee.operation))
    case CARAVAN__V1__RESULT__KIND_PART: kind = .part(try PartState(c: m.pointee.part))
    case CARAVAN__V1__RESULT__KIND_SYNC_BEGIN: kind = .syncBegin(try SyncBeginResult(c: m.pointee.sync_begin))
    case CARAVAN__V1__RESULT__KIND_SYNC_CONTINUE:
      kind = .syncContinue(try SyncContinueResult(c: m.pointee.sync_continue))
    default: kind = nil
    }
  }

  static let shape = 242

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__result__get_packed_size(m)) { caravan__v1__result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct LockState: WireMessage, Equatable {
  public var token: UInt64
  public var remainingMilliseconds: UInt32

  public init(
    token: UInt64 = 0,
    remainingMilliseconds: UInt32 = 0
  ) {
    self.token = token
    self.remainingMilliseconds = remainingMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__LockState> {
    let m = arena.make(Caravan__V1__LockState.self, caravan__v1__lock_state__init)
    if token != 0 { m.pointee.has_token = 1; m.pointee.token = token }
    if remainingMilliseconds != 0 {
      m.pointee.has_remaining_milliseconds = 1
      m.pointee.remaining_milliseconds = remainingMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__LockState>) throws(WireError) {
    token = m.pointee.has_token != 0 ? m.pointee.token : 0
    remainingMilliseconds = m.pointee.has_remaining_milliseconds != 0 ? m.pointee.remaining_milliseconds : 0
  }

  static let shape = 243

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__lock_state__get_packed_size(m)) { caravan__v1__lock_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__lock_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct OperationState: WireMessage, Equatable {
  public var status: OperationStatus
  public var parts: UInt32
  public var records: UInt32
  public var bytes: UInt64
  public var expiresMilliseconds: UInt64
  public var failure: Failure?
  public var objects: UInt32

  public init(
    status: OperationStatus = .unspecified,
    parts: UInt32 = 0,
    records: UInt32 = 0,
    bytes: UInt64 = 0,
    expiresMilliseconds: UInt64 = 0,
    failure: Failure? = nil,
    objects: UInt32 = 0
  ) {
    self.status = status
    self.parts = parts
    self.records = records
    self.bytes = bytes
    self.expiresMilliseconds = expiresMilliseconds
    self.failure = failure
    self.objects = objects
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__OperationState> {
    let m = arena.make(Caravan__V1__OperationState.self, caravan__v1__operation_state__init)
    if status != .unspecified { m.pointee.has_status = 1; m.pointee.status = status.c }
    if parts != 0 { m.pointee.has_parts = 1; m.pointee.parts = parts }
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if expiresMilliseconds != 0 {
      m.pointee.has_expires_milliseconds = 1
      m.pointee.expires_milliseconds = expiresMilliseconds
    }
    if let failure { m.pointee.failure = failure.pack(into: &arena) }
    if objects != 0 { m.pointee.has_objects = 1; m.pointee.objects = objects }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__OperationState>) throws(WireError) {
    status = m.pointee.has_status != 0 ? OperationStatus(c: m.pointee.status) : .unspecified
    parts = m.pointee.has_parts != 0 ? m.pointee.parts : 0
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    expiresMilliseconds = m.pointee.has_expires_milliseconds != 0 ? m.pointee.expires_milliseconds : 0
    failure = if let p = m.pointee.failure { try Failure(c: p) } else { nil }
    objects = m.pointee.has_objects != 0 ? m.pointee.objects : 0
  }

  static let shape = 244

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__operation_state__get_packed_size(m)) { caravan__v1__operation_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__operation_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PartState: WireMessage, Equatable {
  public var missingChunks: [UInt8]
  public var operation: OperationState?

  public init(
    missingChunks: [UInt8] = [],
    operation: OperationState? = nil
  ) {
    self.missingChunks = missingChunks
    self.operation = operation
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PartState> {
    let m = arena.make(Caravan__V1__PartState.self, caravan__v1__part_state__init)
    if !missingChunks.isEmpty {
      m.pointee.has_missing_chunks = 1
      m.pointee.missing_chunks = arena.bytes(missingChunks)
    }
    if let operation { m.pointee.operation = operation.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PartState>) throws(WireError) {
    missingChunks = m.pointee.has_missing_chunks != 0 ? copyBytes(m.pointee.missing_chunks) : []
    operation = if let p = m.pointee.operation { try OperationState(c: p) } else { nil }
  }

  static let shape = 245

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__part_state__get_packed_size(m)) { caravan__v1__part_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__part_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RecordsResult: WireMessage, Equatable {
  public var entries: [Entry]
  public var answered: UInt32

  public init(
    entries: [Entry] = [],
    answered: UInt32 = 0
  ) {
    self.entries = entries
    self.answered = answered
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RecordsResult> {
    let m = arena.make(Caravan__V1__RecordsResult.self, caravan__v1__records_result__init)
    (m.pointee.n_entries, m.pointee.entries) = arena.messages(entries) { $0.pack(into: &$1) }
    if answered != 0 { m.pointee.has_answered = 1; m.pointee.answered = answered }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RecordsResult>) throws(WireError) {
    entries = try copyMessages(m.pointee.n_entries, m.pointee.entries) { (p) throws(WireError) in try Entry(c: p) }
    answered = m.pointee.has_answered != 0 ? m.pointee.answered : 0
  }

  static let shape = 246

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__records_result__get_packed_size(m)) { caravan__v1__records_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__records_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneState: WireMessage, Equatable {
  public var zone: String
  public var seq: UInt64
  public var incarnation: UInt64

  public init(
    zone: String = "",
    seq: UInt64 = 0,
    incarnation: UInt64 = 0
  ) {
    self.zone = zone
    self.seq = seq
    self.incarnation = incarnation
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneState> {
    let m = arena.make(Caravan__V1__ZoneState.self, caravan__v1__zone_state__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneState>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
  }

  static let shape = 247

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_state__get_packed_size(m)) { caravan__v1__zone_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZonesResult: WireMessage, Equatable {
  public var zones: [ZoneState]

  public init(
    zones: [ZoneState] = []
  ) {
    self.zones = zones
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZonesResult> {
    let m = arena.make(Caravan__V1__ZonesResult.self, caravan__v1__zones_result__init)
    (m.pointee.n_zones, m.pointee.zones) = arena.messages(zones) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZonesResult>) throws(WireError) {
    zones = try copyMessages(m.pointee.n_zones, m.pointee.zones) { (p) throws(WireError) in try ZoneState(c: p) }
  }

  static let shape = 248

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zones_result__get_packed_size(m)) { caravan__v1__zones_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zones_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Person: WireMessage, Equatable {
  public var user: String

  public init(
    user: String = ""
  ) {
    self.user = user
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Person> {
    let m = arena.make(Caravan__V1__Person.self, caravan__v1__person__init)
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Person>) throws(WireError) {
    user = try copyText(m.pointee.user)
  }

  static let shape = 249

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__person__get_packed_size(m)) { caravan__v1__person__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__person__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct HelloResult: WireMessage, Equatable {
  public var serverTimeMilliseconds: UInt64
  public var resubscribe: Bool
  public var maxFrameBytes: UInt32
  public var wanted: [WantedChunks]
  public var wantedRecords: [WantedRecords]

  public init(
    serverTimeMilliseconds: UInt64 = 0,
    resubscribe: Bool = false,
    maxFrameBytes: UInt32 = 0,
    wanted: [WantedChunks] = [],
    wantedRecords: [WantedRecords] = []
  ) {
    self.serverTimeMilliseconds = serverTimeMilliseconds
    self.resubscribe = resubscribe
    self.maxFrameBytes = maxFrameBytes
    self.wanted = wanted
    self.wantedRecords = wantedRecords
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__HelloResult> {
    let m = arena.make(Caravan__V1__HelloResult.self, caravan__v1__hello_result__init)
    if serverTimeMilliseconds != 0 {
      m.pointee.has_server_time_milliseconds = 1
      m.pointee.server_time_milliseconds = serverTimeMilliseconds
    }
    if resubscribe { m.pointee.has_resubscribe = 1; m.pointee.resubscribe = resubscribe ? 1 : 0 }
    if maxFrameBytes != 0 { m.pointee.has_max_frame_bytes = 1; m.pointee.max_frame_bytes = maxFrameBytes }
    (m.pointee.n_wanted, m.pointee.wanted) = arena.messages(wanted) { $0.pack(into: &$1) }
    (m.pointee.n_wanted_records, m.pointee.wanted_records) = arena.messages(wantedRecords) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__HelloResult>) throws(WireError) {
    serverTimeMilliseconds = m.pointee.has_server_time_milliseconds != 0 ? m.pointee.server_time_milliseconds : 0
    resubscribe = m.pointee.has_resubscribe != 0 ? m.pointee.resubscribe != 0 : false
    maxFrameBytes = m.pointee.has_max_frame_bytes != 0 ? m.pointee.max_frame_bytes : 0
    wanted = try copyMessages(m.pointee.n_wanted, m.pointee.wanted) { (p) throws(WireError) in try WantedChunks(c: p) }
    wantedRecords = try copyMessages(m.pointee.n_wanted_records, m.pointee.wanted_records) { (p) throws(WireError) in
      try WantedRecords(c: p)
    }
  }

  static let shape = 250

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__hello_result__get_packed_size(m)) { caravan__v1__hello_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__hello_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WantedRecords: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var records: [DamagedEntry]

  public init(
    container: String = "",
    zone: String = "",
    records: [DamagedEntry] = []
  ) {
    self.container = container
    self.zone = zone
    self.records = records
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WantedRecords> {
    let m = arena.make(Caravan__V1__WantedRecords.self, caravan__v1__wanted_records__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    (m.pointee.n_records, m.pointee.records) = arena.messages(records) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WantedRecords>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    records = try copyMessages(m.pointee.n_records, m.pointee.records) { (p) throws(WireError) in
      try DamagedEntry(c: p)
    }
  }

  static let shape = 251

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__wanted_records__get_packed_size(m)) { caravan__v1__wanted_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__wanted_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct WantedChunks: WireMessage, Equatable {
  public var container: String
  public var hashes: [UInt8]

  public init(
    container: String = "",
    hashes: [UInt8] = []
  ) {
    self.container = container
    self.hashes = hashes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WantedChunks> {
    let m = arena.make(Caravan__V1__WantedChunks.self, caravan__v1__wanted_chunks__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !hashes.isEmpty { m.pointee.has_hashes = 1; m.pointee.hashes = arena.bytes(hashes) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WantedChunks>) throws(WireError) {
    container = try copyText(m.pointee.container)
    hashes = m.pointee.has_hashes != 0 ? copyBytes(m.pointee.hashes) : []
  }

  static let shape = 252

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__wanted_chunks__get_packed_size(m)) { caravan__v1__wanted_chunks__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__wanted_chunks__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListChangedZones: WireMessage, Equatable {
  public var container: String
  public var token: [UInt8]

  public init(
    container: String = "",
    token: [UInt8] = []
  ) {
    self.container = container
    self.token = token
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListChangedZones> {
    let m = arena.make(Caravan__V1__ListChangedZones.self, caravan__v1__list_changed_zones__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListChangedZones>) throws(WireError) {
    container = try copyText(m.pointee.container)
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
  }

  static let shape = 253

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_changed_zones__get_packed_size(m)) { caravan__v1__list_changed_zones__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_changed_zones__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangedZone: WireMessage, Equatable {
  public var zone: String
  public var deleted: Bool

  public init(
    zone: String = "",
    deleted: Bool = false
  ) {
    self.zone = zone
    self.deleted = deleted
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangedZone> {
    let m = arena.make(Caravan__V1__ChangedZone.self, caravan__v1__changed_zone__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if deleted { m.pointee.has_deleted = 1; m.pointee.deleted = deleted ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangedZone>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    deleted = m.pointee.has_deleted != 0 ? m.pointee.deleted != 0 : false
  }

  static let shape = 254

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__changed_zone__get_packed_size(m)) { caravan__v1__changed_zone__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__changed_zone__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangedZones: WireMessage, Equatable {
  public var zones: [ChangedZone]
  public var token: [UInt8]
  public var more: Bool
  public var resetRequired: Bool

  public init(
    zones: [ChangedZone] = [],
    token: [UInt8] = [],
    more: Bool = false,
    resetRequired: Bool = false
  ) {
    self.zones = zones
    self.token = token
    self.more = more
    self.resetRequired = resetRequired
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangedZones> {
    let m = arena.make(Caravan__V1__ChangedZones.self, caravan__v1__changed_zones__init)
    (m.pointee.n_zones, m.pointee.zones) = arena.messages(zones) { $0.pack(into: &$1) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if resetRequired { m.pointee.has_reset_required = 1; m.pointee.reset_required = resetRequired ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangedZones>) throws(WireError) {
    zones = try copyMessages(m.pointee.n_zones, m.pointee.zones) { (p) throws(WireError) in try ChangedZone(c: p) }
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    resetRequired = m.pointee.has_reset_required != 0 ? m.pointee.reset_required != 0 : false
  }

  static let shape = 255

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__changed_zones__get_packed_size(m)) { caravan__v1__changed_zones__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__changed_zones__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PullResult: WireMessage, Equatable {
  public var page: [UInt8]
  public var token: [UInt8]
  public var more: Bool
  public var resetRequired: Bool
  public var consistent: Bool
  public var lost: [UInt64]
  public var point: UInt64
  public var damaged: [DamagedEntry]

  public init(
    page: [UInt8] = [],
    token: [UInt8] = [],
    more: Bool = false,
    resetRequired: Bool = false,
    consistent: Bool = false,
    lost: [UInt64] = [],
    point: UInt64 = 0,
    damaged: [DamagedEntry] = []
  ) {
    self.page = page
    self.token = token
    self.more = more
    self.resetRequired = resetRequired
    self.consistent = consistent
    self.lost = lost
    self.point = point
    self.damaged = damaged
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PullResult> {
    let m = arena.make(Caravan__V1__PullResult.self, caravan__v1__pull_result__init)
    if !page.isEmpty { m.pointee.has_page = 1; m.pointee.page = arena.bytes(page) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if resetRequired { m.pointee.has_reset_required = 1; m.pointee.reset_required = resetRequired ? 1 : 0 }
    if consistent { m.pointee.has_consistent = 1; m.pointee.consistent = consistent ? 1 : 0 }
    (m.pointee.n_lost, m.pointee.lost) = arena.scalars(lost)
    if point != 0 { m.pointee.has_point = 1; m.pointee.point = point }
    (m.pointee.n_damaged, m.pointee.damaged) = arena.messages(damaged) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PullResult>) throws(WireError) {
    page = m.pointee.has_page != 0 ? copyBytes(m.pointee.page) : []
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    resetRequired = m.pointee.has_reset_required != 0 ? m.pointee.reset_required != 0 : false
    consistent = m.pointee.has_consistent != 0 ? m.pointee.consistent != 0 : false
    lost = copyScalars(m.pointee.n_lost, m.pointee.lost)
    point = m.pointee.has_point != 0 ? m.pointee.point : 0
    damaged = try copyMessages(m.pointee.n_damaged, m.pointee.damaged) { (p) throws(WireError) in
      try DamagedEntry(c: p)
    }
  }

  static let shape = 256

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__pull_result__get_packed_size(m)) { caravan__v1__pull_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__pull_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RenewCredentials: WireMessage, Equatable {

  public init() {}

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RenewCredentials> {
    let m = arena.make(Caravan__V1__RenewCredentials.self, caravan__v1__renew_credentials__init)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RenewCredentials>) throws(WireError) {
  }

  static let shape = 257

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__renew_credentials__get_packed_size(m)) { caravan__v1__renew_credentials__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__renew_credentials__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RenewedCredentials: WireMessage, Equatable {
  public var jwt: String

  public init(
    jwt: String = ""
  ) {
    self.jwt = jwt
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RenewedCredentials> {
    let m = arena.make(Caravan__V1__RenewedCredentials.self, caravan__v1__renewed_credentials__init)
    if !jwt.isEmpty { m.pointee.jwt = arena.string(jwt) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RenewedCredentials>) throws(WireError) {
    jwt = try copyText(m.pointee.jwt)
  }

  static let shape = 258

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__renewed_credentials__get_packed_size(m)) {
      caravan__v1__renewed_credentials__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__renewed_credentials__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Ticket: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var device: String
  public var upload: Bool
  public var bytes: UInt64
  public var expiresMilliseconds: UInt64
  public var mac: [UInt8]
  public var partition: UInt32
  public var author: String
  public var zone: String
  public var incarnation: UInt64
  public var record: String
  public var version: UInt64

  public init(
    database: DatabaseRef? = nil,
    device: String = "",
    upload: Bool = false,
    bytes: UInt64 = 0,
    expiresMilliseconds: UInt64 = 0,
    mac: [UInt8] = [],
    partition: UInt32 = 0,
    author: String = "",
    zone: String = "",
    incarnation: UInt64 = 0,
    record: String = "",
    version: UInt64 = 0
  ) {
    self.database = database
    self.device = device
    self.upload = upload
    self.bytes = bytes
    self.expiresMilliseconds = expiresMilliseconds
    self.mac = mac
    self.partition = partition
    self.author = author
    self.zone = zone
    self.incarnation = incarnation
    self.record = record
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Ticket> {
    let m = arena.make(Caravan__V1__Ticket.self, caravan__v1__ticket__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if upload { m.pointee.has_upload = 1; m.pointee.upload = upload ? 1 : 0 }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if expiresMilliseconds != 0 {
      m.pointee.has_expires_milliseconds = 1
      m.pointee.expires_milliseconds = expiresMilliseconds
    }
    if !mac.isEmpty { m.pointee.has_mac = 1; m.pointee.mac = arena.bytes(mac) }
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if !author.isEmpty { m.pointee.author = arena.string(author) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !record.isEmpty { m.pointee.record = arena.string(record) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Ticket>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    device = try copyText(m.pointee.device)
    upload = m.pointee.has_upload != 0 ? m.pointee.upload != 0 : false
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    expiresMilliseconds = m.pointee.has_expires_milliseconds != 0 ? m.pointee.expires_milliseconds : 0
    mac = m.pointee.has_mac != 0 ? copyBytes(m.pointee.mac) : []
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    author = try copyText(m.pointee.author)
    zone = try copyText(m.pointee.zone)
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    record = try copyText(m.pointee.record)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 259

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__ticket__get_packed_size(m)) { caravan__v1__ticket__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__ticket__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChunkRequest: WireMessage, Equatable {
  public var ticket: Ticket?
  public var put: [Chunk]
  public var get: [UInt8]
  public var bases: [[UInt8]]
  public var offset: UInt32
  public var most: UInt32

  public init(
    ticket: Ticket? = nil,
    put: [Chunk] = [],
    get: [UInt8] = [],
    bases: [[UInt8]] = [],
    offset: UInt32 = 0,
    most: UInt32 = 0
  ) {
    self.ticket = ticket
    self.put = put
    self.get = get
    self.bases = bases
    self.offset = offset
    self.most = most
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChunkRequest> {
    let m = arena.make(Caravan__V1__ChunkRequest.self, caravan__v1__chunk_request__init)
    if let ticket { m.pointee.ticket = ticket.pack(into: &arena) }
    (m.pointee.n_put, m.pointee.put) = arena.messages(put) { $0.pack(into: &$1) }
    if !get.isEmpty { m.pointee.has_get = 1; m.pointee.get = arena.bytes(get) }
    (m.pointee.n_bases, m.pointee.bases) = arena.byteStrings(bases)
    if offset != 0 { m.pointee.has_offset = 1; m.pointee.offset = offset }
    if most != 0 { m.pointee.has_most = 1; m.pointee.most = most }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChunkRequest>) throws(WireError) {
    ticket = if let p = m.pointee.ticket { try Ticket(c: p) } else { nil }
    put = try copyMessages(m.pointee.n_put, m.pointee.put) { (p) throws(WireError) in try Chunk(c: p) }
    get = m.pointee.has_get != 0 ? copyBytes(m.pointee.get) : []
    bases = copyByteStrings(m.pointee.n_bases, m.pointee.bases)
    offset = m.pointee.has_offset != 0 ? m.pointee.offset : 0
    most = m.pointee.has_most != 0 ? m.pointee.most : 0
  }

  static let shape = 260

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__chunk_request__get_packed_size(m)) { caravan__v1__chunk_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__chunk_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChunkReply: WireMessage, Equatable {
  public var chunks: [Chunk]
  public var failure: Failure?
  public var stored: [UInt8]
  public var size: UInt32

  public init(
    chunks: [Chunk] = [],
    failure: Failure? = nil,
    stored: [UInt8] = [],
    size: UInt32 = 0
  ) {
    self.chunks = chunks
    self.failure = failure
    self.stored = stored
    self.size = size
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChunkReply> {
    let m = arena.make(Caravan__V1__ChunkReply.self, caravan__v1__chunk_reply__init)
    (m.pointee.n_chunks, m.pointee.chunks) = arena.messages(chunks) { $0.pack(into: &$1) }
    if let failure { m.pointee.failure = failure.pack(into: &arena) }
    if !stored.isEmpty { m.pointee.has_stored = 1; m.pointee.stored = arena.bytes(stored) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChunkReply>) throws(WireError) {
    chunks = try copyMessages(m.pointee.n_chunks, m.pointee.chunks) { (p) throws(WireError) in try Chunk(c: p) }
    failure = if let p = m.pointee.failure { try Failure(c: p) } else { nil }
    stored = m.pointee.has_stored != 0 ? copyBytes(m.pointee.stored) : []
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
  }

  static let shape = 261

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__chunk_reply__get_packed_size(m)) { caravan__v1__chunk_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__chunk_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncBegin: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var lastSyncHeight: UInt64
  public var incarnation: UInt64
  public var cursor: [UInt8]
  public var pushes: Bool

  public init(
    container: String = "",
    zone: String = "",
    lastSyncHeight: UInt64 = 0,
    incarnation: UInt64 = 0,
    cursor: [UInt8] = [],
    pushes: Bool = false
  ) {
    self.container = container
    self.zone = zone
    self.lastSyncHeight = lastSyncHeight
    self.incarnation = incarnation
    self.cursor = cursor
    self.pushes = pushes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncBegin> {
    let m = arena.make(Caravan__V1__SyncBegin.self, caravan__v1__sync_begin__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if lastSyncHeight != 0 { m.pointee.has_last_sync_height = 1; m.pointee.last_sync_height = lastSyncHeight }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    if pushes { m.pointee.has_pushes = 1; m.pointee.pushes = pushes ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncBegin>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    lastSyncHeight = m.pointee.has_last_sync_height != 0 ? m.pointee.last_sync_height : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    pushes = m.pointee.has_pushes != 0 ? m.pointee.pushes != 0 : false
  }

  static let shape = 262

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_begin__get_packed_size(m)) { caravan__v1__sync_begin__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_begin__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncBeginResult: WireMessage, Equatable {
  public var status: SyncBeginStatus
  public var currentHeight: UInt64
  public var incarnation: UInt64
  public var diffs: [Diff]
  public var more: Bool
  public var token: [UInt8]
  public var retryAfterMilliseconds: UInt32
  public var serverTimeMilliseconds: UInt64
  public var cursor: [UInt8]
  public var lost: [UInt64]

  public init(
    status: SyncBeginStatus = .ok,
    currentHeight: UInt64 = 0,
    incarnation: UInt64 = 0,
    diffs: [Diff] = [],
    more: Bool = false,
    token: [UInt8] = [],
    retryAfterMilliseconds: UInt32 = 0,
    serverTimeMilliseconds: UInt64 = 0,
    cursor: [UInt8] = [],
    lost: [UInt64] = []
  ) {
    self.status = status
    self.currentHeight = currentHeight
    self.incarnation = incarnation
    self.diffs = diffs
    self.more = more
    self.token = token
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.serverTimeMilliseconds = serverTimeMilliseconds
    self.cursor = cursor
    self.lost = lost
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncBeginResult> {
    let m = arena.make(Caravan__V1__SyncBeginResult.self, caravan__v1__sync_begin_result__init)
    if status != .ok { m.pointee.has_status = 1; m.pointee.status = status.c }
    if currentHeight != 0 { m.pointee.has_current_height = 1; m.pointee.current_height = currentHeight }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    (m.pointee.n_diffs, m.pointee.diffs) = arena.messages(diffs) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    if retryAfterMilliseconds != 0 {
      m.pointee.has_retry_after_milliseconds = 1
      m.pointee.retry_after_milliseconds = retryAfterMilliseconds
    }
    if serverTimeMilliseconds != 0 {
      m.pointee.has_server_time_milliseconds = 1
      m.pointee.server_time_milliseconds = serverTimeMilliseconds
    }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    (m.pointee.n_lost, m.pointee.lost) = arena.scalars(lost)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncBeginResult>) throws(WireError) {
    status = m.pointee.has_status != 0 ? SyncBeginStatus(c: m.pointee.status) : .ok
    currentHeight = m.pointee.has_current_height != 0 ? m.pointee.current_height : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    diffs = try copyMessages(m.pointee.n_diffs, m.pointee.diffs) { (p) throws(WireError) in try Diff(c: p) }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    retryAfterMilliseconds = m.pointee.has_retry_after_milliseconds != 0 ? m.pointee.retry_after_milliseconds : 0
    serverTimeMilliseconds = m.pointee.has_server_time_milliseconds != 0 ? m.pointee.server_time_milliseconds : 0
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    lost = copyScalars(m.pointee.n_lost, m.pointee.lost)
  }

  static let shape = 263

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_begin_result__get_packed_size(m)) { caravan__v1__sync_begin_result__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_begin_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncContinue: WireMessage, Equatable {
  public var container: String
  public var zone: String
  public var op: UInt64
  public var token: [UInt8]
  public var diffs: [Diff]

  public init(
    container: String = "",
    zone: String = "",
    op: UInt64 = 0,
    token: [UInt8] = [],
    diffs: [Diff] = []
  ) {
    self.container = container
    self.zone = zone
    self.op = op
    self.token = token
    self.diffs = diffs
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncContinue> {
    let m = arena.make(Caravan__V1__SyncContinue.self, caravan__v1__sync_continue__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if op != 0 { m.pointee.has_op = 1; m.pointee.op = op }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    (m.pointee.n_diffs, m.pointee.diffs) = arena.messages(diffs) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncContinue>) throws(WireError) {
    container = try copyText(m.pointee.container)
    zone = try copyText(m.pointee.zone)
    op = m.pointee.has_op != 0 ? m.pointee.op : 0
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    diffs = try copyMessages(m.pointee.n_diffs, m.pointee.diffs) { (p) throws(WireError) in try Diff(c: p) }
  }

  static let shape = 264

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_continue__get_packed_size(m)) { caravan__v1__sync_continue__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_continue__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SyncContinueResult: WireMessage, Equatable {
  public var status: SyncContinueStatus
  public var height: UInt64
  public var incarnation: UInt64
  public var uuid: String
  public var message: String

  public init(
    status: SyncContinueStatus = .ok,
    height: UInt64 = 0,
    incarnation: UInt64 = 0,
    uuid: String = "",
    message: String = ""
  ) {
    self.status = status
    self.height = height
    self.incarnation = incarnation
    self.uuid = uuid
    self.message = message
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SyncContinueResult> {
    let m = arena.make(Caravan__V1__SyncContinueResult.self, caravan__v1__sync_continue_result__init)
    if status != .ok { m.pointee.has_status = 1; m.pointee.status = status.c }
    if height != 0 { m.pointee.has_height = 1; m.pointee.height = height }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if !uuid.isEmpty { m.pointee.uuid = arena.string(uuid) }
    if !message.isEmpty { m.pointee.message = arena.string(message) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SyncContinueResult>) throws(WireError) {
    status = m.pointee.has_status != 0 ? SyncContinueStatus(c: m.pointee.status) : .ok
    height = m.pointee.has_height != 0 ? m.pointee.height : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    uuid = try copyText(m.pointee.uuid)
    message = try copyText(m.pointee.message)
  }

  static let shape = 265

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sync_continue_result__get_packed_size(m)) {
      caravan__v1__sync_continue_result__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sync_continue_result__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Diff: WireMessage, Equatable {
  public var upstreamHeight: UInt64
  public var timestamp: UInt64
  public var optype: UInt32
  public var objtype: String
  public var uuid: String
  public var fieldName: String
  public var data: [UInt8]
  public var createdHeight: UInt64

  public init(
    upstreamHeight: UInt64 = 0,
    timestamp: UInt64 = 0,
    optype: UInt32 = 0,
    objtype: String = "",
    uuid: String = "",
    fieldName: String = "",
    data: [UInt8] = [],
    createdHeight: UInt64 = 0
  ) {
    self.upstreamHeight = upstreamHeight
    self.timestamp = timestamp
    self.optype = optype
    self.objtype = objtype
    self.uuid = uuid
    self.fieldName = fieldName
    self.data = data
    self.createdHeight = createdHeight
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Diff> {
    let m = arena.make(Caravan__V1__Diff.self, caravan__v1__diff__init)
    if upstreamHeight != 0 { m.pointee.has_upstream_height = 1; m.pointee.upstream_height = upstreamHeight }
    if timestamp != 0 { m.pointee.has_timestamp = 1; m.pointee.timestamp = timestamp }
    if optype != 0 { m.pointee.has_optype = 1; m.pointee.optype = optype }
    if !objtype.isEmpty { m.pointee.objtype = arena.string(objtype) }
    if !uuid.isEmpty { m.pointee.uuid = arena.string(uuid) }
    if !fieldName.isEmpty { m.pointee.field_name = arena.string(fieldName) }
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    if createdHeight != 0 { m.pointee.has_created_height = 1; m.pointee.created_height = createdHeight }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Diff>) throws(WireError) {
    upstreamHeight = m.pointee.has_upstream_height != 0 ? m.pointee.upstream_height : 0
    timestamp = m.pointee.has_timestamp != 0 ? m.pointee.timestamp : 0
    optype = m.pointee.has_optype != 0 ? m.pointee.optype : 0
    objtype = try copyText(m.pointee.objtype)
    uuid = try copyText(m.pointee.uuid)
    fieldName = try copyText(m.pointee.field_name)
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
    createdHeight = m.pointee.has_created_height != 0 ? m.pointee.created_height : 0
  }

  static let shape = 266

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__diff__get_packed_size(m)) { caravan__v1__diff__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__diff__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DiffObject: WireMessage, Equatable {
  public var fields: [DiffField]

  public init(
    fields: [DiffField] = []
  ) {
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DiffObject> {
    let m = arena.make(Caravan__V1__DiffObject.self, caravan__v1__diff_object__init)
    (m.pointee.n_fields, m.pointee.fields) = arena.messages(fields) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DiffObject>) throws(WireError) {
    fields = try copyMessages(m.pointee.n_fields, m.pointee.fields) { (p) throws(WireError) in try DiffField(c: p) }
  }

  static let shape = 267

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__diff_object__get_packed_size(m)) { caravan__v1__diff_object__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__diff_object__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DiffField: WireMessage, Equatable {
  public var name: String
  public var value: DiffValue?
  public var timestamp: UInt64

  public init(
    name: String = "",
    value: DiffValue? = nil,
    timestamp: UInt64 = 0
  ) {
    self.name = name
    self.value = value
    self.timestamp = timestamp
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DiffField> {
    let m = arena.make(Caravan__V1__DiffField.self, caravan__v1__diff_field__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if let value { m.pointee.value = value.pack(into: &arena) }
    if timestamp != 0 { m.pointee.has_timestamp = 1; m.pointee.timestamp = timestamp }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DiffField>) throws(WireError) {
    name = try copyText(m.pointee.name)
    value = if let p = m.pointee.value { try DiffValue(c: p) } else { nil }
    timestamp = m.pointee.has_timestamp != 0 ? m.pointee.timestamp : 0
  }

  static let shape = 268

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__diff_field__get_packed_size(m)) { caravan__v1__diff_field__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__diff_field__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DiffValue: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case list(ListValue)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DiffValue> {
    let m = arena.make(Caravan__V1__DiffValue.self, caravan__v1__diff_value__init)
    switch kind {
    case .text(let value):
      m.pointee.kind_case = CARAVAN__V1__DIFF_VALUE__KIND_TEXT
      m.pointee.text = arena.string(value)
    case .integer(let value):
      m.pointee.kind_case = CARAVAN__V1__DIFF_VALUE__KIND_INTEGER
      m.pointee.integer = value
    case .real(let value):
      m.pointee.kind_case = CARAVAN__V1__DIFF_VALUE__KIND_REAL
      m.pointee.real = value
    case .list(let value):
      m.pointee.kind_case = CARAVAN__V1__DIFF_VALUE__KIND_LIST
      m.pointee.list = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DiffValue>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__DIFF_VALUE__KIND_TEXT: kind = .text(try copyText(m.pointee.text))
    case CARAVAN__V1__DIFF_VALUE__KIND_INTEGER: kind = .integer(m.pointee.integer)
    case CARAVAN__V1__DIFF_VALUE__KIND_REAL: kind = .real(m.pointee.real)
    case CARAVAN__V1__DIFF_VALUE__KIND_LIST: kind = .list(try ListValue(c: m.pointee.list))
    default: kind = nil
    }
  }

  static let shape = 269

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__diff_value__get_packed_size(m)) { caravan__v1__diff_value__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__diff_value__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
