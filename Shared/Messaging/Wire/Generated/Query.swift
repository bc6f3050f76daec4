// Made by Protos/generate from caravan/v1/query.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum Comparison: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case equal = 1
  case notEqual = 2
  case less = 3
  case lessOrEqual = 4
  case greater = 5
  case greaterOrEqual = 6
  case prefix = 7
  case like = 8
  case matchAll = 9
  case matchAny = 10
  case containsAll = 11
  case containsAny = 12
  case containsLike = 13
  case near = 14
  case within = 15

  var c: Caravan__V1__Comparison {
    switch self {
    case .unspecified: CARAVAN__V1__COMPARISON__COMPARISON_UNSPECIFIED
    case .equal: CARAVAN__V1__COMPARISON__COMPARISON_EQUAL
    case .notEqual: CARAVAN__V1__COMPARISON__COMPARISON_NOT_EQUAL
    case .less: CARAVAN__V1__COMPARISON__COMPARISON_LESS
    case .lessOrEqual: CARAVAN__V1__COMPARISON__COMPARISON_LESS_OR_EQUAL
    case .greater: CARAVAN__V1__COMPARISON__COMPARISON_GREATER
    case .greaterOrEqual: CARAVAN__V1__COMPARISON__COMPARISON_GREATER_OR_EQUAL
    case .prefix: CARAVAN__V1__COMPARISON__COMPARISON_PREFIX
    case .like: CARAVAN__V1__COMPARISON__COMPARISON_LIKE
    case .matchAll: CARAVAN__V1__COMPARISON__COMPARISON_MATCH_ALL
    case .matchAny: CARAVAN__V1__COMPARISON__COMPARISON_MATCH_ANY
    case .containsAll: CARAVAN__V1__COMPARISON__COMPARISON_CONTAINS_ALL
    case .containsAny: CARAVAN__V1__COMPARISON__COMPARISON_CONTAINS_ANY
    case .containsLike: CARAVAN__V1__COMPARISON__COMPARISON_CONTAINS_LIKE
    case .near: CARAVAN__V1__COMPARISON__COMPARISON_NEAR
    case .within: CARAVAN__V1__COMPARISON__COMPARISON_WITHIN
    }
  }

  init(c: Caravan__V1__Comparison) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public struct PredicateTerm: WireMessage, Equatable {
  public var field: String
  public var comparison: Comparison
  public var value: Field?
  public var all: UInt32
  public var any: UInt32
  public var negation: Bool

  public init(
    field: String = "",
    comparison: Comparison = .unspecified,
    value: Field? = nil,
    all: UInt32 = 0,
    any: UInt32 = 0,
    negation: Bool = false
  ) {
    self.field = field
    self.comparison = comparison
    self.value = value
    self.all = all
    self.any = any
    self.negation = negation
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PredicateTerm> {
    let m = arena.make(Caravan__V1__PredicateTerm.self, caravan__v1__predicate_term__init)
    if !field.isEmpty { m.pointee.field = arena.string(field) }
    if comparison != .unspecified { m.pointee.has_comparison = 1; m.pointee.comparison = comparison.c }
    if let value { m.pointee.value = value.pack(into: &arena) }
    if all != 0 { m.pointee.has_all = 1; m.pointee.all = all }
    if any != 0 { m.pointee.has_any = 1; m.pointee.any = any }
    if negation { m.pointee.has_negation = 1; m.pointee.negation = negation ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PredicateTerm>) throws(WireError) {
    field = try copyText(m.pointee.field)
    comparison = m.pointee.has_comparison != 0 ? Comparison(c: m.pointee.comparison) : .unspecified
    value = if let p = m.pointee.value { try Field(c: p) } else { nil }
    all = m.pointee.has_all != 0 ? m.pointee.all : 0
    any = m.pointee.has_any != 0 ? m.pointee.any : 0
    negation = m.pointee.has_negation != 0 ? m.pointee.negation != 0 : false
  }

  static let shape = 19

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__predicate_term__get_packed_size(m)) { caravan__v1__predicate_term__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__predicate_term__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FilterTerm: WireMessage, Equatable {
  public var field: UInt32
  public var kind: FieldKind
  public var comparison: Comparison
  public var value: Field?
  public var all: UInt32
  public var any: UInt32

  public init(
    field: UInt32 = 0,
    kind: FieldKind = .unspecified,
    comparison: Comparison = .unspecified,
    value: Field? = nil,
    all: UInt32 = 0,
    any: UInt32 = 0
  ) {
    self.field = field
    self.kind = kind
    self.comparison = comparison
    self.value = value
    self.all = all
    self.any = any
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FilterTerm> {
    let m = arena.make(Caravan__V1__FilterTerm.self, caravan__v1__filter_term__init)
    if field != 0 { m.pointee.has_field = 1; m.pointee.field = field }
    if kind != .unspecified { m.pointee.has_kind = 1; m.pointee.kind = kind.c }
    if comparison != .unspecified { m.pointee.has_comparison = 1; m.pointee.comparison = comparison.c }
    if let value { m.pointee.value = value.pack(into: &arena) }
    if all != 0 { m.pointee.has_all = 1; m.pointee.all = all }
    if any != 0 { m.pointee.has_any = 1; m.pointee.any = any }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FilterTerm>) throws(WireError) {
    field = m.pointee.has_field != 0 ? m.pointee.field : 0
    kind = m.pointee.has_kind != 0 ? FieldKind(c: m.pointee.kind) : .unspecified
    comparison = m.pointee.has_comparison != 0 ? Comparison(c: m.pointee.comparison) : .unspecified
    value = if let p = m.pointee.value { try Field(c: p) } else { nil }
    all = m.pointee.has_all != 0 ? m.pointee.all : 0
    any = m.pointee.has_any != 0 ? m.pointee.any : 0
  }

  static let shape = 20

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__filter_term__get_packed_size(m)) { caravan__v1__filter_term__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__filter_term__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SortKey: WireMessage, Equatable {
  public var field: String
  public var descending: Bool
  public var near: Location?

  public init(
    field: String = "",
    descending: Bool = false,
    near: Location? = nil
  ) {
    self.field = field
    self.descending = descending
    self.near = near
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SortKey> {
    let m = arena.make(Caravan__V1__SortKey.self, caravan__v1__sort_key__init)
    if !field.isEmpty { m.pointee.field = arena.string(field) }
    if descending { m.pointee.has_descending = 1; m.pointee.descending = descending ? 1 : 0 }
    if let near { m.pointee.near = near.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SortKey>) throws(WireError) {
    field = try copyText(m.pointee.field)
    descending = m.pointee.has_descending != 0 ? m.pointee.descending != 0 : false
    near = if let p = m.pointee.near { try Location(c: p) } else { nil }
  }

  static let shape = 21

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__sort_key__get_packed_size(m)) { caravan__v1__sort_key__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__sort_key__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SeenZone: WireMessage, Equatable {
  public var zone: String
  public var incarnation: UInt64
  public var seq: UInt64

  public init(
    zone: String = "",
    incarnation: UInt64 = 0,
    seq: UInt64 = 0
  ) {
    self.zone = zone
    self.incarnation = incarnation
    self.seq = seq
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SeenZone> {
    let m = arena.make(Caravan__V1__SeenZone.self, caravan__v1__seen_zone__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SeenZone>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
  }

  static let shape = 22

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__seen_zone__get_packed_size(m)) { caravan__v1__seen_zone__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__seen_zone__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryViewer: WireMessage, Equatable {
  public var author: String
  public var server: Bool
  public var roles: [String]

  public init(
    author: String = "",
    server: Bool = false,
    roles: [String] = []
  ) {
    self.author = author
    self.server = server
    self.roles = roles
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryViewer> {
    let m = arena.make(Caravan__V1__QueryViewer.self, caravan__v1__query_viewer__init)
    if !author.isEmpty { m.pointee.author = arena.string(author) }
    if server { m.pointee.has_server = 1; m.pointee.server = server ? 1 : 0 }
    (m.pointee.n_roles, m.pointee.roles) = arena.strings(roles)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryViewer>) throws(WireError) {
    author = try copyText(m.pointee.author)
    server = m.pointee.has_server != 0 ? m.pointee.server != 0 : false
    roles = try copyStrings(m.pointee.n_roles, m.pointee.roles)
  }

  static let shape = 23

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_viewer__get_packed_size(m)) { caravan__v1__query_viewer__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_viewer__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryRequest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var type: String
  public var predicate: [PredicateTerm]
  public var sort: [SortKey]
  public var limit: UInt32
  public var cursor: [UInt8]
  public var zone: String
  public var fields: [String]
  public var counts: Bool
  public var seen: [SeenZone]
  public var viewer: QueryViewer?
  public var text: String
  public var arguments: [Field]
  public var pageBytes: UInt32

  public init(
    database: DatabaseRef? = nil,
    type: String = "",
    predicate: [PredicateTerm] = [],
    sort: [SortKey] = [],
    limit: UInt32 = 0,
    cursor: [UInt8] = [],
    zone: String = "",
    fields: [String] = [],
    counts: Bool = false,
    seen: [SeenZone] = [],
    viewer: QueryViewer? = nil,
    text: String = "",
    arguments: [Field] = [],
    pageBytes: UInt32 = 0
  ) {
    self.database = database
    self.type = type
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.cursor = cursor
    self.zone = zone
    self.fields = fields
    self.counts = counts
    self.seen = seen
    self.viewer = viewer
    self.text = text
    self.arguments = arguments
    self.pageBytes = pageBytes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryRequest> {
    let m = arena.make(Caravan__V1__QueryRequest.self, caravan__v1__query_request__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    (m.pointee.n_predicate, m.pointee.predicate) = arena.messages(predicate) { $0.pack(into: &$1) }
    (m.pointee.n_sort, m.pointee.sort) = arena.messages(sort) { $0.pack(into: &$1) }
    if limit != 0 { m.pointee.has_limit = 1; m.pointee.limit = limit }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    (m.pointee.n_fields, m.pointee.fields) = arena.strings(fields)
    if counts { m.pointee.has_counts = 1; m.pointee.counts = counts ? 1 : 0 }
    (m.pointee.n_seen, m.pointee.seen) = arena.messages(seen) { $0.pack(into: &$1) }
    if let viewer { m.pointee.viewer = viewer.pack(into: &arena) }
    if !text.isEmpty { m.pointee.text = arena.string(text) }
    (m.pointee.n_arguments, m.pointee.arguments) = arena.messages(arguments) { $0.pack(into: &$1) }
    if pageBytes != 0 { m.pointee.has_page_bytes = 1; m.pointee.page_bytes = pageBytes }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryRequest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    type = try copyText(m.pointee.type)
    predicate = try copyMessages(m.pointee.n_predicate, m.pointee.predicate) { (p) throws(WireError) in
      try PredicateTerm(c: p)
    }
    sort = try copyMessages(m.pointee.n_sort, m.pointee.sort) { (p) throws(WireError) in try SortKey(c: p) }
    limit = m.pointee.has_limit != 0 ? m.pointee.limit : 0
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    zone = try copyText(m.pointee.zone)
    fields = try copyStrings(m.pointee.n_fields, m.pointee.fields)
    counts = m.pointee.has_counts != 0 ? m.pointee.counts != 0 : false
    seen = try copyMessages(m.pointee.n_seen, m.pointee.seen) { (p) throws(WireError) in try SeenZone(c: p) }
    viewer = if let p = m.pointee.viewer { try QueryViewer(c: p) } else { nil }
    text = try copyText(m.pointee.text)
    arguments = try copyMessages(m.pointee.n_arguments, m.pointee.arguments) { (p) throws(WireError) in
      try Field(c: p)
    }
    pageBytes = m.pointee.has_page_bytes != 0 ? m.pointee.page_bytes : 0
  }

  static let shape = 24

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_request__get_packed_size(m)) { caravan__v1__query_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryHit: WireMessage, Equatable {
  public var zone: String
  public var entry: Entry?
  public var position: [UInt8]

  public init(
    zone: String = "",
    entry: Entry? = nil,
    position: [UInt8] = []
  ) {
    self.zone = zone
    self.entry = entry
    self.position = position
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryHit> {
    let m = arena.make(Caravan__V1__QueryHit.self, caravan__v1__query_hit__init)
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if let entry { m.pointee.entry = entry.pack(into: &arena) }
    if !position.isEmpty { m.pointee.has_position = 1; m.pointee.position = arena.bytes(position) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryHit>) throws(WireError) {
    zone = try copyText(m.pointee.zone)
    entry = if let p = m.pointee.entry { try Entry(c: p) } else { nil }
    position = m.pointee.has_position != 0 ? copyBytes(m.pointee.position) : []
  }

  static let shape = 25

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_hit__get_packed_size(m)) { caravan__v1__query_hit__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_hit__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StandingQuery: WireMessage, Equatable {
  public var id: String
  public var records: StandingRecords?
  public var zones: Bool
  public var shows: NotificationContent?
  public var source: StandingTemplate?

  public init(
    id: String = "",
    records: StandingRecords? = nil,
    zones: Bool = false,
    shows: NotificationContent? = nil,
    source: StandingTemplate? = nil
  ) {
    self.id = id
    self.records = records
    self.zones = zones
    self.shows = shows
    self.source = source
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StandingQuery> {
    let m = arena.make(Caravan__V1__StandingQuery.self, caravan__v1__standing_query__init)
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if let records { m.pointee.records = records.pack(into: &arena) }
    if zones { m.pointee.has_zones = 1; m.pointee.zones = zones ? 1 : 0 }
    if let shows { m.pointee.shows = shows.pack(into: &arena) }
    if let source { m.pointee.source = source.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StandingQuery>) throws(WireError) {
    id = try copyText(m.pointee.id)
    records = if let p = m.pointee.records { try StandingRecords(c: p) } else { nil }
    zones = m.pointee.has_zones != 0 ? m.pointee.zones != 0 : false
    shows = if let p = m.pointee.shows { try NotificationContent(c: p) } else { nil }
    source = if let p = m.pointee.source { try StandingTemplate(c: p) } else { nil }
  }

  static let shape = 26

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__standing_query__get_packed_size(m)) { caravan__v1__standing_query__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__standing_query__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct NotificationContent: WireMessage, Equatable {
  public var title: String
  public var body: String
  public var titleKey: String
  public var titleArguments: [String]
  public var bodyKey: String
  public var bodyArguments: [String]
  public var badges: Bool
  public var sound: String
  public var fields: [String]

  public init(
    title: String = "",
    body: String = "",
    titleKey: String = "",
    titleArguments: [String] = [],
    bodyKey: String = "",
    bodyArguments: [String] = [],
    badges: Bool = false,
    sound: String = "",
    fields: [String] = []
  ) {
    self.title = title
    self.body = body
    self.titleKey = titleKey
    self.titleArguments = titleArguments
    self.bodyKey = bodyKey
    self.bodyArguments = bodyArguments
    self.badges = badges
    self.sound = sound
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__NotificationContent> {
    let m = arena.make(Caravan__V1__NotificationContent.self, caravan__v1__notification_content__init)
    if !title.isEmpty { m.pointee.title = arena.string(title) }
    if !body.isEmpty { m.pointee.body = arena.string(body) }
    if !titleKey.isEmpty { m.pointee.title_key = arena.string(titleKey) }
    (m.pointee.n_title_arguments, m.pointee.title_arguments) = arena.strings(titleArguments)
    if !bodyKey.isEmpty { m.pointee.body_key = arena.string(bodyKey) }
    (m.pointee.n_body_arguments, m.pointee.body_arguments) = arena.strings(bodyArguments)
    if badges { m.pointee.has_badges = 1; m.pointee.badges = badges ? 1 : 0 }
    if !sound.isEmpty { m.pointee.sound = arena.string(sound) }
    (m.pointee.n_fields, m.pointee.fields) = arena.strings(fields)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__NotificationContent>) throws(WireError) {
    title = try copyText(m.pointee.title)
    body = try copyText(m.pointee.body)
    titleKey = try copyText(m.pointee.title_key)
    titleArguments = try copyStrings(m.pointee.n_title_arguments, m.pointee.title_arguments)
    bodyKey = try copyText(m.pointee.body_key)
    bodyArguments = try copyStrings(m.pointee.n_body_arguments, m.pointee.body_arguments)
    badges = m.pointee.has_badges != 0 ? m.pointee.badges != 0 : false
    sound = try copyText(m.pointee.sound)
    fields = try copyStrings(m.pointee.n_fields, m.pointee.fields)
  }

  static let shape = 27

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__notification_content__get_packed_size(m)) {
      caravan__v1__notification_content__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__notification_content__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StandingTemplate: WireMessage, Equatable {
  public var name: String
  public var arguments: [Field]
  public var zone: String
  public var version: UInt32

  public init(
    name: String = "",
    arguments: [Field] = [],
    zone: String = "",
    version: UInt32 = 0
  ) {
    self.name = name
    self.arguments = arguments
    self.zone = zone
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StandingTemplate> {
    let m = arena.make(Caravan__V1__StandingTemplate.self, caravan__v1__standing_template__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    (m.pointee.n_arguments, m.pointee.arguments) = arena.messages(arguments) { $0.pack(into: &$1) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StandingTemplate>) throws(WireError) {
    name = try copyText(m.pointee.name)
    arguments = try copyMessages(m.pointee.n_arguments, m.pointee.arguments) { (p) throws(WireError) in
      try Field(c: p)
    }
    zone = try copyText(m.pointee.zone)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 28

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__standing_template__get_packed_size(m)) { caravan__v1__standing_template__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__standing_template__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SubscriptionTemplate: WireMessage, Equatable {
  public var name: String
  public var type: String
  public var text: String
  public var enters: Bool
  public var leaves: Bool
  public var changes: Bool
  public var shows: NotificationContent?
  public var version: UInt32

  public init(
    name: String = "",
    type: String = "",
    text: String = "",
    enters: Bool = false,
    leaves: Bool = false,
    changes: Bool = false,
    shows: NotificationContent? = nil,
    version: UInt32 = 0
  ) {
    self.name = name
    self.type = type
    self.text = text
    self.enters = enters
    self.leaves = leaves
    self.changes = changes
    self.shows = shows
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SubscriptionTemplate> {
    let m = arena.make(Caravan__V1__SubscriptionTemplate.self, caravan__v1__subscription_template__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    if !text.isEmpty { m.pointee.text = arena.string(text) }
    if enters { m.pointee.has_enters = 1; m.pointee.enters = enters ? 1 : 0 }
    if leaves { m.pointee.has_leaves = 1; m.pointee.leaves = leaves ? 1 : 0 }
    if changes { m.pointee.has_changes = 1; m.pointee.changes = changes ? 1 : 0 }
    if let shows { m.pointee.shows = shows.pack(into: &arena) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SubscriptionTemplate>) throws(WireError) {
    name = try copyText(m.pointee.name)
    type = try copyText(m.pointee.type)
    text = try copyText(m.pointee.text)
    enters = m.pointee.has_enters != 0 ? m.pointee.enters != 0 : false
    leaves = m.pointee.has_leaves != 0 ? m.pointee.leaves != 0 : false
    changes = m.pointee.has_changes != 0 ? m.pointee.changes != 0 : false
    shows = if let p = m.pointee.shows { try NotificationContent(c: p) } else { nil }
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 29

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscription_template__get_packed_size(m)) {
      caravan__v1__subscription_template__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscription_template__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StandingRecords: WireMessage, Equatable {
  public var type: String
  public var text: String
  public var arguments: [Field]
  public var zone: String
  public var enters: Bool
  public var leaves: Bool
  public var changes: Bool

  public init(
    type: String = "",
    text: String = "",
    arguments: [Field] = [],
    zone: String = "",
    enters: Bool = false,
    leaves: Bool = false,
    changes: Bool = false
  ) {
    self.type = type
    self.text = text
    self.arguments = arguments
    self.zone = zone
    self.enters = enters
    self.leaves = leaves
    self.changes = changes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StandingRecords> {
    let m = arena.make(Caravan__V1__StandingRecords.self, caravan__v1__standing_records__init)
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    if !text.isEmpty { m.pointee.text = arena.string(text) }
    (m.pointee.n_arguments, m.pointee.arguments) = arena.messages(arguments) { $0.pack(into: &$1) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if enters { m.pointee.has_enters = 1; m.pointee.enters = enters ? 1 : 0 }
    if leaves { m.pointee.has_leaves = 1; m.pointee.leaves = leaves ? 1 : 0 }
    if changes { m.pointee.has_changes = 1; m.pointee.changes = changes ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StandingRecords>) throws(WireError) {
    type = try copyText(m.pointee.type)
    text = try copyText(m.pointee.text)
    arguments = try copyMessages(m.pointee.n_arguments, m.pointee.arguments) { (p) throws(WireError) in
      try Field(c: p)
    }
    zone = try copyText(m.pointee.zone)
    enters = m.pointee.has_enters != 0 ? m.pointee.enters != 0 : false
    leaves = m.pointee.has_leaves != 0 ? m.pointee.leaves != 0 : false
    changes = m.pointee.has_changes != 0 ? m.pointee.changes != 0 : false
  }

  static let shape = 30

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__standing_records__get_packed_size(m)) { caravan__v1__standing_records__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__standing_records__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct StoredSubscription: WireMessage, Equatable {
  public var user: String
  public var query: StandingQuery?
  public var viewer: QueryViewer?

  public init(
    user: String = "",
    query: StandingQuery? = nil,
    viewer: QueryViewer? = nil
  ) {
    self.user = user
    self.query = query
    self.viewer = viewer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__StoredSubscription> {
    let m = arena.make(Caravan__V1__StoredSubscription.self, caravan__v1__stored_subscription__init)
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if let query { m.pointee.query = query.pack(into: &arena) }
    if let viewer { m.pointee.viewer = viewer.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__StoredSubscription>) throws(WireError) {
    user = try copyText(m.pointee.user)
    query = if let p = m.pointee.query { try StandingQuery(c: p) } else { nil }
    viewer = if let p = m.pointee.viewer { try QueryViewer(c: p) } else { nil }
  }

  static let shape = 31

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__stored_subscription__get_packed_size(m)) {
      caravan__v1__stored_subscription__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__stored_subscription__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SubscriptionsRequest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var user: String
  public var viewer: QueryViewer?
  public var save: StandingQuery?
  public var remove: String

  public init(
    database: DatabaseRef? = nil,
    user: String = "",
    viewer: QueryViewer? = nil,
    save: StandingQuery? = nil,
    remove: String = ""
  ) {
    self.database = database
    self.user = user
    self.viewer = viewer
    self.save = save
    self.remove = remove
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SubscriptionsRequest> {
    let m = arena.make(Caravan__V1__SubscriptionsRequest.self, caravan__v1__subscriptions_request__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if let viewer { m.pointee.viewer = viewer.pack(into: &arena) }
    if let save { m.pointee.save = save.pack(into: &arena) }
    if !remove.isEmpty { m.pointee.remove = arena.string(remove) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SubscriptionsRequest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    user = try copyText(m.pointee.user)
    viewer = if let p = m.pointee.viewer { try QueryViewer(c: p) } else { nil }
    save = if let p = m.pointee.save { try StandingQuery(c: p) } else { nil }
    remove = try copyText(m.pointee.remove)
  }

  static let shape = 32

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscriptions_request__get_packed_size(m)) {
      caravan__v1__subscriptions_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscriptions_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SubscriptionsReply: WireMessage, Equatable {
  public var subscriptions: [StandingQuery]

  public init(
    subscriptions: [StandingQuery] = []
  ) {
    self.subscriptions = subscriptions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SubscriptionsReply> {
    let m = arena.make(Caravan__V1__SubscriptionsReply.self, caravan__v1__subscriptions_reply__init)
    (m.pointee.n_subscriptions, m.pointee.subscriptions) = arena.messages(subscriptions) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SubscriptionsReply>) throws(WireError) {
    subscriptions = try copyMessages(m.pointee.n_subscriptions, m.pointee.subscriptions) { (p) throws(WireError) in
      try StandingQuery(c: p)
    }
  }

  static let shape = 33

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__subscriptions_reply__get_packed_size(m)) {
      caravan__v1__subscriptions_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__subscriptions_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct QueryReply: WireMessage, Equatable {
  public var hits: [QueryHit]
  public var cursor: [UInt8]
  public var type: RecordType?
  public var position: UInt64?
  public var count: UInt64

  public init(
    hits: [QueryHit] = [],
    cursor: [UInt8] = [],
    type: RecordType? = nil,
    position: UInt64? = nil,
    count: UInt64 = 0
  ) {
    self.hits = hits
    self.cursor = cursor
    self.type = type
    self.position = position
    self.count = count
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__QueryReply> {
    let m = arena.make(Caravan__V1__QueryReply.self, caravan__v1__query_reply__init)
    (m.pointee.n_hits, m.pointee.hits) = arena.messages(hits) { $0.pack(into: &$1) }
    if !cursor.isEmpty { m.pointee.has_cursor = 1; m.pointee.cursor = arena.bytes(cursor) }
    if let type { m.pointee.type = type.pack(into: &arena) }
    if let position { m.pointee.has_position = 1; m.pointee.position = position }
    if count != 0 { m.pointee.has_count = 1; m.pointee.count = count }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__QueryReply>) throws(WireError) {
    hits = try copyMessages(m.pointee.n_hits, m.pointee.hits) { (p) throws(WireError) in try QueryHit(c: p) }
    cursor = m.pointee.has_cursor != 0 ? copyBytes(m.pointee.cursor) : []
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
    position = m.pointee.has_position != 0 ? m.pointee.position : nil
    count = m.pointee.has_count != 0 ? m.pointee.count : 0
  }

  static let shape = 34

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__query_reply__get_packed_size(m)) { caravan__v1__query_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__query_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
