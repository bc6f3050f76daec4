// Made by Protos/generate from caravan/v1/notify.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public struct Subscription: WireMessage, Equatable {
  public var zone: ZoneRef?
  public var periodMilliseconds: UInt32
  public var toldOnly: Bool
  public var delayToleranceMilliseconds: UInt32

  public init(
    zone: ZoneRef? = nil,
    periodMilliseconds: UInt32 = 0,
    toldOnly: Bool = false,
    delayToleranceMilliseconds: UInt32 = 0
  ) {
    self.zone = zone
    self.periodMilliseconds = periodMilliseconds
    self.toldOnly = toldOnly
    self.delayToleranceMilliseconds = delayToleranceMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Subscription> {
    let m = arena.make(Caravan__V1__Subscription.self, caravan__v1__subscription__init)
    if let zone { m.pointee.zone = zone.pack(into: &arena) }
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

  init(c m: UnsafePointer<Caravan__V1__Subscription>) throws(WireError) {
    zone = if let p = m.pointee.zone { try ZoneRef(c: p) } else { nil }
    periodMilliseconds = m.pointee.has_period_milliseconds != 0 ? m.pointee.period_milliseconds : 0
    toldOnly = m.pointee.has_told_only != 0 ? m.pointee.told_only != 0 : false
    delayToleranceMilliseconds =
      m.pointee.has_delay_tolerance_milliseconds != 0 ? m.pointee.delay_tolerance_milliseconds : 0
  }

  static let shape = 272

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscription__get_packed_size(m)) { caravan__v1__subscription__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscription__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SubscriptionList: WireMessage, Equatable {
  public var generation: UInt64
  public var subscriptions: [Subscription]

  public init(
    generation: UInt64 = 0,
    subscriptions: [Subscription] = []
  ) {
    self.generation = generation
    self.subscriptions = subscriptions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SubscriptionList> {
    let m = arena.make(Caravan__V1__SubscriptionList.self, caravan__v1__subscription_list__init)
    if generation != 0 { m.pointee.has_generation = 1; m.pointee.generation = generation }
    (m.pointee.n_subscriptions, m.pointee.subscriptions) = arena.messages(subscriptions) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SubscriptionList>) throws(WireError) {
    generation = m.pointee.has_generation != 0 ? m.pointee.generation : 0
    subscriptions = try copyMessages(m.pointee.n_subscriptions, m.pointee.subscriptions) { (p) throws(WireError) in
      try Subscription(c: p)
    }
  }

  static let shape = 273

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscription_list__get_packed_size(m)) { caravan__v1__subscription_list__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscription_list__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AttachRequest: WireMessage, Equatable {
  public var device: String
  public var generation: UInt64
  public var seen: [UInt64]
  public var list: SubscriptionList?
  public var lives: [UInt64]

  public init(
    device: String = "",
    generation: UInt64 = 0,
    seen: [UInt64] = [],
    list: SubscriptionList? = nil,
    lives: [UInt64] = []
  ) {
    self.device = device
    self.generation = generation
    self.seen = seen
    self.list = list
    self.lives = lives
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AttachRequest> {
    let m = arena.make(Caravan__V1__AttachRequest.self, caravan__v1__attach_request__init)
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if generation != 0 { m.pointee.has_generation = 1; m.pointee.generation = generation }
    (m.pointee.n_seen, m.pointee.seen) = arena.scalars(seen)
    if let list { m.pointee.list = list.pack(into: &arena) }
    (m.pointee.n_lives, m.pointee.lives) = arena.scalars(lives)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AttachRequest>) throws(WireError) {
    device = try copyText(m.pointee.device)
    generation = m.pointee.has_generation != 0 ? m.pointee.generation : 0
    seen = copyScalars(m.pointee.n_seen, m.pointee.seen)
    list = if let p = m.pointee.list { try SubscriptionList(c: p) } else { nil }
    lives = copyScalars(m.pointee.n_lives, m.pointee.lives)
  }

  static let shape = 274

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__attach_request__get_packed_size(m)) { caravan__v1__attach_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__attach_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct AttachReply: WireMessage, Equatable {
  public var resubscribe: Bool

  public init(
    resubscribe: Bool = false
  ) {
    self.resubscribe = resubscribe
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__AttachReply> {
    let m = arena.make(Caravan__V1__AttachReply.self, caravan__v1__attach_reply__init)
    if resubscribe { m.pointee.has_resubscribe = 1; m.pointee.resubscribe = resubscribe ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__AttachReply>) throws(WireError) {
    resubscribe = m.pointee.has_resubscribe != 0 ? m.pointee.resubscribe != 0 : false
  }

  static let shape = 275

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__attach_reply__get_packed_size(m)) { caravan__v1__attach_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__attach_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct NotifiedPage: WireMessage, Equatable {
  public var subscription: UInt32
  public var from: [UInt8]
  public var token: [UInt8]
  public var page: [UInt8]
  public var point: UInt64

  public init(
    subscription: UInt32 = 0,
    from: [UInt8] = [],
    token: [UInt8] = [],
    page: [UInt8] = [],
    point: UInt64 = 0
  ) {
    self.subscription = subscription
    self.from = from
    self.token = token
    self.page = page
    self.point = point
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__NotifiedPage> {
    let m = arena.make(Caravan__V1__NotifiedPage.self, caravan__v1__notified_page__init)
    if subscription != 0 { m.pointee.has_subscription = 1; m.pointee.subscription = subscription }
    if !from.isEmpty { m.pointee.has_from = 1; m.pointee.from = arena.bytes(from) }
    if !token.isEmpty { m.pointee.has_token = 1; m.pointee.token = arena.bytes(token) }
    if !page.isEmpty { m.pointee.has_page = 1; m.pointee.page = arena.bytes(page) }
    if point != 0 { m.pointee.has_point = 1; m.pointee.point = point }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__NotifiedPage>) throws(WireError) {
    subscription = m.pointee.has_subscription != 0 ? m.pointee.subscription : 0
    from = m.pointee.has_from != 0 ? copyBytes(m.pointee.from) : []
    token = m.pointee.has_token != 0 ? copyBytes(m.pointee.token) : []
    page = m.pointee.has_page != 0 ? copyBytes(m.pointee.page) : []
    point = m.pointee.has_point != 0 ? m.pointee.point : 0
  }

  static let shape = 276

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__notified_page__get_packed_size(m)) { caravan__v1__notified_page__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__notified_page__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Notification: WireMessage, Equatable {
  public var number: UInt64
  public var generation: UInt64
  public var bitmap: [UInt8]
  public var pages: [NotifiedPage]
  public var waitedMilliseconds: UInt32

  public init(
    number: UInt64 = 0,
    generation: UInt64 = 0,
    bitmap: [UInt8] = [],
    pages: [NotifiedPage] = [],
    waitedMilliseconds: UInt32 = 0
  ) {
    self.number = number
    self.generation = generation
    self.bitmap = bitmap
    self.pages = pages
    self.waitedMilliseconds = waitedMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Notification> {
    let m = arena.make(Caravan__V1__Notification.self, caravan__v1__notification__init)
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    if generation != 0 { m.pointee.has_generation = 1; m.pointee.generation = generation }
    if !bitmap.isEmpty { m.pointee.has_bitmap = 1; m.pointee.bitmap = arena.bytes(bitmap) }
    (m.pointee.n_pages, m.pointee.pages) = arena.messages(pages) { $0.pack(into: &$1) }
    if waitedMilliseconds != 0 {
      m.pointee.has_waited_milliseconds = 1
      m.pointee.waited_milliseconds = waitedMilliseconds
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Notification>) throws(WireError) {
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    generation = m.pointee.has_generation != 0 ? m.pointee.generation : 0
    bitmap = m.pointee.has_bitmap != 0 ? copyBytes(m.pointee.bitmap) : []
    pages = try copyMessages(m.pointee.n_pages, m.pointee.pages) { (p) throws(WireError) in try NotifiedPage(c: p) }
    waitedMilliseconds = m.pointee.has_waited_milliseconds != 0 ? m.pointee.waited_milliseconds : 0
  }

  static let shape = 277

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__notification__get_packed_size(m)) { caravan__v1__notification__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__notification__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
