// Made by Protos/generate from caravan/v1/push.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum DeliveryOutcome: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case taken = 1
  case later = 2
  case refused = 3
  case gone = 4

  var c: Caravan__V1__DeliveryOutcome {
    switch self {
    case .unspecified: CARAVAN__V1__DELIVERY_OUTCOME__DELIVERY_OUTCOME_UNSPECIFIED
    case .taken: CARAVAN__V1__DELIVERY_OUTCOME__DELIVERY_OUTCOME_TAKEN
    case .later: CARAVAN__V1__DELIVERY_OUTCOME__DELIVERY_OUTCOME_LATER
    case .refused: CARAVAN__V1__DELIVERY_OUTCOME__DELIVERY_OUTCOME_REFUSED
    case .gone: CARAVAN__V1__DELIVERY_OUTCOME__DELIVERY_OUTCOME_GONE
    }
  }

  init(c: Caravan__V1__DeliveryOutcome) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public struct WebPushEndpoint: WireMessage, Equatable {
  public var url: String
  public var key: [UInt8]
  public var secret: [UInt8]

  public init(
    url: String = "",
    key: [UInt8] = [],
    secret: [UInt8] = []
  ) {
    self.url = url
    self.key = key
    self.secret = secret
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__WebPushEndpoint> {
    let m = arena.make(Caravan__V1__WebPushEndpoint.self, caravan__v1__web_push_endpoint__init)
    if !url.isEmpty { m.pointee.url = arena.string(url) }
    if !key.isEmpty { m.pointee.has_key = 1; m.pointee.key = arena.bytes(key) }
    if !secret.isEmpty { m.pointee.has_secret = 1; m.pointee.secret = arena.bytes(secret) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__WebPushEndpoint>) throws(WireError) {
    url = try copyText(m.pointee.url)
    key = m.pointee.has_key != 0 ? copyBytes(m.pointee.key) : []
    secret = m.pointee.has_secret != 0 ? copyBytes(m.pointee.secret) : []
  }

  static let shape = 104

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__web_push_endpoint__get_packed_size(m)) { caravan__v1__web_push_endpoint__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__web_push_endpoint__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Webhook: WireMessage, Equatable {
  public var url: String

  public init(
    url: String = ""
  ) {
    self.url = url
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Webhook> {
    let m = arena.make(Caravan__V1__Webhook.self, caravan__v1__webhook__init)
    if !url.isEmpty { m.pointee.url = arena.string(url) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Webhook>) throws(WireError) {
    url = try copyText(m.pointee.url)
  }

  static let shape = 105

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__webhook__get_packed_size(m)) { caravan__v1__webhook__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__webhook__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushTarget: WireMessage, Equatable {
  public var id: String
  public var webPush: WebPushEndpoint?
  public var webhook: Webhook?
  public var subscriptions: [String]

  public init(
    id: String = "",
    webPush: WebPushEndpoint? = nil,
    webhook: Webhook? = nil,
    subscriptions: [String] = []
  ) {
    self.id = id
    self.webPush = webPush
    self.webhook = webhook
    self.subscriptions = subscriptions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushTarget> {
    let m = arena.make(Caravan__V1__PushTarget.self, caravan__v1__push_target__init)
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if let webPush { m.pointee.web_push = webPush.pack(into: &arena) }
    if let webhook { m.pointee.webhook = webhook.pack(into: &arena) }
    (m.pointee.n_subscriptions, m.pointee.subscriptions) = arena.strings(subscriptions)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushTarget>) throws(WireError) {
    id = try copyText(m.pointee.id)
    webPush = if let p = m.pointee.web_push { try WebPushEndpoint(c: p) } else { nil }
    webhook = if let p = m.pointee.webhook { try Webhook(c: p) } else { nil }
    subscriptions = try copyStrings(m.pointee.n_subscriptions, m.pointee.subscriptions)
  }

  static let shape = 106

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_target__get_packed_size(m)) { caravan__v1__push_target__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_target__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StoredTarget: WireMessage, Equatable {
  public var target: PushTarget?
  public var registration: [UInt8]
  public var from: ChangePosition?
  public var perMinute: UInt32

  public init(
    target: PushTarget? = nil,
    registration: [UInt8] = [],
    from: ChangePosition? = nil,
    perMinute: UInt32 = 0
  ) {
    self.target = target
    self.registration = registration
    self.from = from
    self.perMinute = perMinute
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StoredTarget> {
    let m = arena.make(Caravan__V1__StoredTarget.self, caravan__v1__stored_target__init)
    if let target { m.pointee.target = target.pack(into: &arena) }
    if !registration.isEmpty { m.pointee.has_registration = 1; m.pointee.registration = arena.bytes(registration) }
    if let from { m.pointee.from = from.pack(into: &arena) }
    if perMinute != 0 { m.pointee.has_per_minute = 1; m.pointee.per_minute = perMinute }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StoredTarget>) throws(WireError) {
    target = if let p = m.pointee.target { try PushTarget(c: p) } else { nil }
    registration = m.pointee.has_registration != 0 ? copyBytes(m.pointee.registration) : []
    from = if let p = m.pointee.from { try ChangePosition(c: p) } else { nil }
    perMinute = m.pointee.has_per_minute != 0 ? m.pointee.per_minute : 0
  }

  static let shape = 107

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__stored_target__get_packed_size(m)) { caravan__v1__stored_target__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__stored_target__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StoredTargetState: WireMessage, Equatable {
  public var registration: [UInt8]
  public var position: ChangePosition?
  public var state: PushState?
  public var numbers: [SourceNumber]

  public init(
    registration: [UInt8] = [],
    position: ChangePosition? = nil,
    state: PushState? = nil,
    numbers: [SourceNumber] = []
  ) {
    self.registration = registration
    self.position = position
    self.state = state
    self.numbers = numbers
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StoredTargetState> {
    let m = arena.make(Caravan__V1__StoredTargetState.self, caravan__v1__stored_target_state__init)
    if !registration.isEmpty { m.pointee.has_registration = 1; m.pointee.registration = arena.bytes(registration) }
    if let position { m.pointee.position = position.pack(into: &arena) }
    if let state { m.pointee.state = state.pack(into: &arena) }
    (m.pointee.n_numbers, m.pointee.numbers) = arena.messages(numbers) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StoredTargetState>) throws(WireError) {
    registration = m.pointee.has_registration != 0 ? copyBytes(m.pointee.registration) : []
    position = if let p = m.pointee.position { try ChangePosition(c: p) } else { nil }
    state = if let p = m.pointee.state { try PushState(c: p) } else { nil }
    numbers = try copyMessages(m.pointee.n_numbers, m.pointee.numbers) { (p) throws(WireError) in
      try SourceNumber(c: p)
    }
  }

  static let shape = 108

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__stored_target_state__get_packed_size(m)) {
      caravan__v1__stored_target_state__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__stored_target_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SourceNumber: WireMessage, Equatable {
  public var source: UInt32
  public var number: UInt64

  public init(
    source: UInt32 = 0,
    number: UInt64 = 0
  ) {
    self.source = source
    self.number = number
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SourceNumber> {
    let m = arena.make(Caravan__V1__SourceNumber.self, caravan__v1__source_number__init)
    if source != 0 { m.pointee.has_source = 1; m.pointee.source = source }
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SourceNumber>) throws(WireError) {
    source = m.pointee.has_source != 0 ? m.pointee.source : 0
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
  }

  static let shape = 109

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__source_number__get_packed_size(m)) { caravan__v1__source_number__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__source_number__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushState: WireMessage, Equatable {
  public var delivered: UInt64
  public var givenUp: UInt64
  public var status: UInt32
  public var problem: String
  public var failingSinceMilliseconds: UInt64
  public var ended: Bool
  public var last: [GivenUp]

  public init(
    delivered: UInt64 = 0,
    givenUp: UInt64 = 0,
    status: UInt32 = 0,
    problem: String = "",
    failingSinceMilliseconds: UInt64 = 0,
    ended: Bool = false,
    last: [GivenUp] = []
  ) {
    self.delivered = delivered
    self.givenUp = givenUp
    self.status = status
    self.problem = problem
    self.failingSinceMilliseconds = failingSinceMilliseconds
    self.ended = ended
    self.last = last
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushState> {
    let m = arena.make(Caravan__V1__PushState.self, caravan__v1__push_state__init)
    if delivered != 0 { m.pointee.has_delivered = 1; m.pointee.delivered = delivered }
    if givenUp != 0 { m.pointee.has_given_up = 1; m.pointee.given_up = givenUp }
    if status != 0 { m.pointee.has_status = 1; m.pointee.status = status }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    if failingSinceMilliseconds != 0 {
      m.pointee.has_failing_since_milliseconds = 1
      m.pointee.failing_since_milliseconds = failingSinceMilliseconds
    }
    if ended { m.pointee.has_ended = 1; m.pointee.ended = ended ? 1 : 0 }
    (m.pointee.n_last, m.pointee.last) = arena.messages(last) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushState>) throws(WireError) {
    delivered = m.pointee.has_delivered != 0 ? m.pointee.delivered : 0
    givenUp = m.pointee.has_given_up != 0 ? m.pointee.given_up : 0
    status = m.pointee.has_status != 0 ? m.pointee.status : 0
    problem = try copyText(m.pointee.problem)
    failingSinceMilliseconds = m.pointee.has_failing_since_milliseconds != 0 ? m.pointee.failing_since_milliseconds : 0
    ended = m.pointee.has_ended != 0 ? m.pointee.ended != 0 : false
    last = try copyMessages(m.pointee.n_last, m.pointee.last) { (p) throws(WireError) in try GivenUp(c: p) }
  }

  static let shape = 110

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_state__get_packed_size(m)) { caravan__v1__push_state__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_state__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GivenUp: WireMessage, Equatable {
  public var source: UInt32
  public var number: UInt64
  public var status: UInt32
  public var problem: String
  public var atMilliseconds: UInt64

  public init(
    source: UInt32 = 0,
    number: UInt64 = 0,
    status: UInt32 = 0,
    problem: String = "",
    atMilliseconds: UInt64 = 0
  ) {
    self.source = source
    self.number = number
    self.status = status
    self.problem = problem
    self.atMilliseconds = atMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GivenUp> {
    let m = arena.make(Caravan__V1__GivenUp.self, caravan__v1__given_up__init)
    if source != 0 { m.pointee.has_source = 1; m.pointee.source = source }
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    if status != 0 { m.pointee.has_status = 1; m.pointee.status = status }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    if atMilliseconds != 0 { m.pointee.has_at_milliseconds = 1; m.pointee.at_milliseconds = atMilliseconds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GivenUp>) throws(WireError) {
    source = m.pointee.has_source != 0 ? m.pointee.source : 0
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    status = m.pointee.has_status != 0 ? m.pointee.status : 0
    problem = try copyText(m.pointee.problem)
    atMilliseconds = m.pointee.has_at_milliseconds != 0 ? m.pointee.at_milliseconds : 0
  }

  static let shape = 111

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__given_up__get_packed_size(m)) { caravan__v1__given_up__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__given_up__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RegisterTargetRequest: WireMessage, Equatable {
  public var target: StoredTarget?
  public var container: String

  public init(
    target: StoredTarget? = nil,
    container: String = ""
  ) {
    self.target = target
    self.container = container
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RegisterTargetRequest> {
    let m = arena.make(Caravan__V1__RegisterTargetRequest.self, caravan__v1__register_target_request__init)
    if let target { m.pointee.target = target.pack(into: &arena) }
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RegisterTargetRequest>) throws(WireError) {
    target = if let p = m.pointee.target { try StoredTarget(c: p) } else { nil }
    container = try copyText(m.pointee.container)
  }

  static let shape = 112

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__register_target_request__get_packed_size(m)) {
      caravan__v1__register_target_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__register_target_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RegisterTargetReply: WireMessage, Equatable {
  public var serverKey: [UInt8]
  public var secret: String
  public var perMinute: UInt32

  public init(
    serverKey: [UInt8] = [],
    secret: String = "",
    perMinute: UInt32 = 0
  ) {
    self.serverKey = serverKey
    self.secret = secret
    self.perMinute = perMinute
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RegisterTargetReply> {
    let m = arena.make(Caravan__V1__RegisterTargetReply.self, caravan__v1__register_target_reply__init)
    if !serverKey.isEmpty { m.pointee.has_server_key = 1; m.pointee.server_key = arena.bytes(serverKey) }
    if !secret.isEmpty { m.pointee.secret = arena.string(secret) }
    if perMinute != 0 { m.pointee.has_per_minute = 1; m.pointee.per_minute = perMinute }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RegisterTargetReply>) throws(WireError) {
    serverKey = m.pointee.has_server_key != 0 ? copyBytes(m.pointee.server_key) : []
    secret = try copyText(m.pointee.secret)
    perMinute = m.pointee.has_per_minute != 0 ? m.pointee.per_minute : 0
  }

  static let shape = 113

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__register_target_reply__get_packed_size(m)) {
      caravan__v1__register_target_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__register_target_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DeliverRequest: WireMessage, Equatable {
  public var target: StoredTarget?
  public var id: String
  public var container: String
  public var environment: String
  public var notification: [UInt8]
  public var seconds: UInt32
  public var isRetry: Bool

  public init(
    target: StoredTarget? = nil,
    id: String = "",
    container: String = "",
    environment: String = "",
    notification: [UInt8] = [],
    seconds: UInt32 = 0,
    isRetry: Bool = false
  ) {
    self.target = target
    self.id = id
    self.container = container
    self.environment = environment
    self.notification = notification
    self.seconds = seconds
    self.isRetry = isRetry
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DeliverRequest> {
    let m = arena.make(Caravan__V1__DeliverRequest.self, caravan__v1__deliver_request__init)
    if let target { m.pointee.target = target.pack(into: &arena) }
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !notification.isEmpty { m.pointee.has_notification = 1; m.pointee.notification = arena.bytes(notification) }
    if seconds != 0 { m.pointee.has_seconds = 1; m.pointee.seconds = seconds }
    if isRetry { m.pointee.has_is_retry = 1; m.pointee.is_retry = isRetry ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DeliverRequest>) throws(WireError) {
    target = if let p = m.pointee.target { try StoredTarget(c: p) } else { nil }
    id = try copyText(m.pointee.id)
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    notification = m.pointee.has_notification != 0 ? copyBytes(m.pointee.notification) : []
    seconds = m.pointee.has_seconds != 0 ? m.pointee.seconds : 0
    isRetry = m.pointee.has_is_retry != 0 ? m.pointee.is_retry != 0 : false
  }

  static let shape = 114

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__deliver_request__get_packed_size(m)) { caravan__v1__deliver_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__deliver_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DeliverReply: WireMessage, Equatable {
  public var outcome: DeliveryOutcome
  public var status: UInt32
  public var problem: String
  public var waitSeconds: UInt32

  public init(
    outcome: DeliveryOutcome = .unspecified,
    status: UInt32 = 0,
    problem: String = "",
    waitSeconds: UInt32 = 0
  ) {
    self.outcome = outcome
    self.status = status
    self.problem = problem
    self.waitSeconds = waitSeconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DeliverReply> {
    let m = arena.make(Caravan__V1__DeliverReply.self, caravan__v1__deliver_reply__init)
    if outcome != .unspecified { m.pointee.has_outcome = 1; m.pointee.outcome = outcome.c }
    if status != 0 { m.pointee.has_status = 1; m.pointee.status = status }
    if !problem.isEmpty { m.pointee.problem = arena.string(problem) }
    if waitSeconds != 0 { m.pointee.has_wait_seconds = 1; m.pointee.wait_seconds = waitSeconds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DeliverReply>) throws(WireError) {
    outcome = m.pointee.has_outcome != 0 ? DeliveryOutcome(c: m.pointee.outcome) : .unspecified
    status = m.pointee.has_status != 0 ? m.pointee.status : 0
    problem = try copyText(m.pointee.problem)
    waitSeconds = m.pointee.has_wait_seconds != 0 ? m.pointee.wait_seconds : 0
  }

  static let shape = 115

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__deliver_reply__get_packed_size(m)) { caravan__v1__deliver_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__deliver_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushTargetsRequest: WireMessage, Equatable {
  public var save: PushTarget?
  public var remove: String

  public init(
    save: PushTarget? = nil,
    remove: String = ""
  ) {
    self.save = save
    self.remove = remove
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushTargetsRequest> {
    let m = arena.make(Caravan__V1__PushTargetsRequest.self, caravan__v1__push_targets_request__init)
    if let save { m.pointee.save = save.pack(into: &arena) }
    if !remove.isEmpty { m.pointee.remove = arena.string(remove) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushTargetsRequest>) throws(WireError) {
    save = if let p = m.pointee.save { try PushTarget(c: p) } else { nil }
    remove = try copyText(m.pointee.remove)
  }

  static let shape = 116

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_targets_request__get_packed_size(m)) {
      caravan__v1__push_targets_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_targets_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushTargetsReply: WireMessage, Equatable {
  public var targets: [PushTargetStatus]
  public var serverKey: [UInt8]
  public var secret: String

  public init(
    targets: [PushTargetStatus] = [],
    serverKey: [UInt8] = [],
    secret: String = ""
  ) {
    self.targets = targets
    self.serverKey = serverKey
    self.secret = secret
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushTargetsReply> {
    let m = arena.make(Caravan__V1__PushTargetsReply.self, caravan__v1__push_targets_reply__init)
    (m.pointee.n_targets, m.pointee.targets) = arena.messages(targets) { $0.pack(into: &$1) }
    if !serverKey.isEmpty { m.pointee.has_server_key = 1; m.pointee.server_key = arena.bytes(serverKey) }
    if !secret.isEmpty { m.pointee.secret = arena.string(secret) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushTargetsReply>) throws(WireError) {
    targets = try copyMessages(m.pointee.n_targets, m.pointee.targets) { (p) throws(WireError) in
      try PushTargetStatus(c: p)
    }
    serverKey = m.pointee.has_server_key != 0 ? copyBytes(m.pointee.server_key) : []
    secret = try copyText(m.pointee.secret)
  }

  static let shape = 117

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_targets_reply__get_packed_size(m)) { caravan__v1__push_targets_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_targets_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PushTargetStatus: WireMessage, Equatable {
  public var target: PushTarget?
  public var state: PushState?

  public init(
    target: PushTarget? = nil,
    state: PushState? = nil
  ) {
    self.target = target
    self.state = state
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PushTargetStatus> {
    let m = arena.make(Caravan__V1__PushTargetStatus.self, caravan__v1__push_target_status__init)
    if let target { m.pointee.target = target.pack(into: &arena) }
    if let state { m.pointee.state = state.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PushTargetStatus>) throws(WireError) {
    target = if let p = m.pointee.target { try PushTarget(c: p) } else { nil }
    state = if let p = m.pointee.state { try PushState(c: p) } else { nil }
  }

  static let shape = 118

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__push_target_status__get_packed_size(m)) { caravan__v1__push_target_status__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__push_target_status__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
