// Made by Protos/generate from caravan/v1/model.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum ReferenceKind: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case owning = 1
  case validating = 2

  var c: Caravan__V1__ReferenceKind {
    switch self {
    case .unspecified: CARAVAN__V1__REFERENCE_KIND__REFERENCE_KIND_UNSPECIFIED
    case .owning: CARAVAN__V1__REFERENCE_KIND__REFERENCE_KIND_OWNING
    case .validating: CARAVAN__V1__REFERENCE_KIND__REFERENCE_KIND_VALIDATING
    }
  }

  init(c: Caravan__V1__ReferenceKind) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum FieldKind: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case text = 1
  case integer = 2
  case real = 3
  case data = 4
  case asset = 5
  case date = 6
  case location = 7
  case reference = 8

  var c: Caravan__V1__FieldKind {
    switch self {
    case .unspecified: CARAVAN__V1__FIELD_KIND__FIELD_KIND_UNSPECIFIED
    case .text: CARAVAN__V1__FIELD_KIND__FIELD_KIND_TEXT
    case .integer: CARAVAN__V1__FIELD_KIND__FIELD_KIND_INTEGER
    case .real: CARAVAN__V1__FIELD_KIND__FIELD_KIND_REAL
    case .data: CARAVAN__V1__FIELD_KIND__FIELD_KIND_DATA
    case .asset: CARAVAN__V1__FIELD_KIND__FIELD_KIND_ASSET
    case .date: CARAVAN__V1__FIELD_KIND__FIELD_KIND_DATE
    case .location: CARAVAN__V1__FIELD_KIND__FIELD_KIND_LOCATION
    case .reference: CARAVAN__V1__FIELD_KIND__FIELD_KIND_REFERENCE
    }
  }

  init(c: Caravan__V1__FieldKind) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public enum ConflictPolicy: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case manual = 1
  case fieldMerge = 2
  case lastWriterWins = 3
  case deterministic = 4
  case serverExtension = 5

  var c: Caravan__V1__ConflictPolicy {
    switch self {
    case .unspecified: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_UNSPECIFIED
    case .manual: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_MANUAL
    case .fieldMerge: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_FIELD_MERGE
    case .lastWriterWins: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_LAST_WRITER_WINS
    case .deterministic: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_DETERMINISTIC
    case .serverExtension: CARAVAN__V1__CONFLICT_POLICY__CONFLICT_POLICY_SERVER_EXTENSION
    }
  }

  init(c: Caravan__V1__ConflictPolicy) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public struct DatabaseRef: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var owner: String
  public var shard: UInt32

  public init(
    container: String = "",
    environment: String = "",
    owner: String = "",
    shard: UInt32 = 0
  ) {
    self.container = container
    self.environment = environment
    self.owner = owner
    self.shard = shard
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DatabaseRef> {
    let m = arena.make(Caravan__V1__DatabaseRef.self, caravan__v1__database_ref__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !owner.isEmpty { m.pointee.owner = arena.string(owner) }
    if shard != 0 { m.pointee.has_shard = 1; m.pointee.shard = shard }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DatabaseRef>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    owner = try copyText(m.pointee.owner)
    shard = m.pointee.has_shard != 0 ? m.pointee.shard : 0
  }

  static let shape = 0

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__database_ref__get_packed_size(m)) { caravan__v1__database_ref__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__database_ref__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneRef: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var zone: String

  public init(
    database: DatabaseRef? = nil,
    zone: String = ""
  ) {
    self.database = database
    self.zone = zone
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneRef> {
    let m = arena.make(Caravan__V1__ZoneRef.self, caravan__v1__zone_ref__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneRef>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    zone = try copyText(m.pointee.zone)
  }

  static let shape = 1

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_ref__get_packed_size(m)) { caravan__v1__zone_ref__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_ref__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Asset: WireMessage, Equatable {
  public var size: UInt64
  public var hashes: [UInt8]
  public var lengths: [UInt32]
  public var list: [UInt8]

  public init(
    size: UInt64 = 0,
    hashes: [UInt8] = [],
    lengths: [UInt32] = [],
    list: [UInt8] = []
  ) {
    self.size = size
    self.hashes = hashes
    self.lengths = lengths
    self.list = list
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Asset> {
    let m = arena.make(Caravan__V1__Asset.self, caravan__v1__asset__init)
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    if !hashes.isEmpty { m.pointee.has_hashes = 1; m.pointee.hashes = arena.bytes(hashes) }
    (m.pointee.n_lengths, m.pointee.lengths) = arena.scalars(lengths)
    if !list.isEmpty { m.pointee.has_list = 1; m.pointee.list = arena.bytes(list) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Asset>) throws(WireError) {
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
    hashes = m.pointee.has_hashes != 0 ? copyBytes(m.pointee.hashes) : []
    lengths = copyScalars(m.pointee.n_lengths, m.pointee.lengths)
    list = m.pointee.has_list != 0 ? copyBytes(m.pointee.list) : []
  }

  static let shape = 2

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__asset__get_packed_size(m)) { caravan__v1__asset__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__asset__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Location: WireMessage, Equatable {
  public var latitude: Double
  public var longitude: Double

  public init(
    latitude: Double = 0,
    longitude: Double = 0
  ) {
    self.latitude = latitude
    self.longitude = longitude
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Location> {
    let m = arena.make(Caravan__V1__Location.self, caravan__v1__location__init)
    if latitude != 0 { m.pointee.has_latitude = 1; m.pointee.latitude = latitude }
    if longitude != 0 { m.pointee.has_longitude = 1; m.pointee.longitude = longitude }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Location>) throws(WireError) {
    latitude = m.pointee.has_latitude != 0 ? m.pointee.latitude : 0
    longitude = m.pointee.has_longitude != 0 ? m.pointee.longitude : 0
  }

  static let shape = 3

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__location__get_packed_size(m)) { caravan__v1__location__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__location__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Reference: WireMessage, Equatable {
  public var target: String
  public var kind: ReferenceKind

  public init(
    target: String = "",
    kind: ReferenceKind = .unspecified
  ) {
    self.target = target
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Reference> {
    let m = arena.make(Caravan__V1__Reference.self, caravan__v1__reference__init)
    if !target.isEmpty { m.pointee.target = arena.string(target) }
    if kind != .unspecified { m.pointee.has_kind = 1; m.pointee.kind = kind.c }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Reference>) throws(WireError) {
    target = try copyText(m.pointee.target)
    kind = m.pointee.has_kind != 0 ? ReferenceKind(c: m.pointee.kind) : .unspecified
  }

  static let shape = 4

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__reference__get_packed_size(m)) { caravan__v1__reference__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__reference__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListValue: WireMessage, Equatable {
  public var texts: [String]
  public var integers: [Int64]
  public var reals: [Double]
  public var data: [[UInt8]]
  public var assets: [Asset]
  public var locations: [Location]
  public var references: [Reference]

  public init(
    texts: [String] = [],
    integers: [Int64] = [],
    reals: [Double] = [],
    data: [[UInt8]] = [],
    assets: [Asset] = [],
    locations: [Location] = [],
    references: [Reference] = []
  ) {
    self.texts = texts
    self.integers = integers
    self.reals = reals
    self.data = data
    self.assets = assets
    self.locations = locations
    self.references = references
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListValue> {
    let m = arena.make(Caravan__V1__ListValue.self, caravan__v1__list_value__init)
    (m.pointee.n_texts, m.pointee.texts) = arena.strings(texts)
    (m.pointee.n_integers, m.pointee.integers) = arena.scalars(integers)
    (m.pointee.n_reals, m.pointee.reals) = arena.scalars(reals)
    (m.pointee.n_data, m.pointee.data) = arena.byteStrings(data)
    (m.pointee.n_assets, m.pointee.assets) = arena.messages(assets) { $0.pack(into: &$1) }
    (m.pointee.n_locations, m.pointee.locations) = arena.messages(locations) { $0.pack(into: &$1) }
    (m.pointee.n_references, m.pointee.references) = arena.messages(references) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListValue>) throws(WireError) {
    texts = try copyStrings(m.pointee.n_texts, m.pointee.texts)
    integers = copyScalars(m.pointee.n_integers, m.pointee.integers)
    reals = copyScalars(m.pointee.n_reals, m.pointee.reals)
    data = copyByteStrings(m.pointee.n_data, m.pointee.data)
    assets = try copyMessages(m.pointee.n_assets, m.pointee.assets) { (p) throws(WireError) in try Asset(c: p) }
    locations = try copyMessages(m.pointee.n_locations, m.pointee.locations) { (p) throws(WireError) in
      try Location(c: p)
    }
    references = try copyMessages(m.pointee.n_references, m.pointee.references) { (p) throws(WireError) in
      try Reference(c: p)
    }
  }

  static let shape = 5

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_value__get_packed_size(m)) { caravan__v1__list_value__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_value__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Field: WireMessage, Equatable {
  public enum Value: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case data([UInt8])
    case asset(Asset)
    case location(Location)
    case reference(Reference)
    case list(ListValue)
  }

  public var id: UInt32
  public var value: Value?

  public init(
    id: UInt32 = 0,
    value: Value? = nil
  ) {
    self.id = id
    self.value = value
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Field> {
    let m = arena.make(Caravan__V1__Field.self, caravan__v1__field__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    switch value {
    case .text(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_TEXT
      m.pointee.text = arena.string(value)
    case .integer(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_INTEGER
      m.pointee.integer = value
    case .real(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_REAL
      m.pointee.real = value
    case .data(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_DATA
      m.pointee.data = arena.bytes(value)
    case .asset(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_ASSET
      m.pointee.asset = value.pack(into: &arena)
    case .location(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_LOCATION
      m.pointee.location = value.pack(into: &arena)
    case .reference(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_REFERENCE
      m.pointee.reference = value.pack(into: &arena)
    case .list(let value):
      m.pointee.value_case = CARAVAN__V1__FIELD__VALUE_LIST
      m.pointee.list = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Field>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    switch m.pointee.value_case {
    case CARAVAN__V1__FIELD__VALUE_TEXT: value = .text(try copyText(m.pointee.text))
    case CARAVAN__V1__FIELD__VALUE_INTEGER: value = .integer(m.pointee.integer)
    case CARAVAN__V1__FIELD__VALUE_REAL: value = .real(m.pointee.real)
    case CARAVAN__V1__FIELD__VALUE_DATA: value = .data(copyBytes(m.pointee.data))
    case CARAVAN__V1__FIELD__VALUE_ASSET: value = .asset(try Asset(c: m.pointee.asset))
    case CARAVAN__V1__FIELD__VALUE_LOCATION: value = .location(try Location(c: m.pointee.location))
    case CARAVAN__V1__FIELD__VALUE_REFERENCE: value = .reference(try Reference(c: m.pointee.reference))
    case CARAVAN__V1__FIELD__VALUE_LIST: value = .list(try ListValue(c: m.pointee.list))
    default: value = nil
    }
  }

  static let shape = 6

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__field__get_packed_size(m)) { caravan__v1__field__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__field__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Fields: WireMessage, Equatable {
  public var fields: [Field]

  public init(
    fields: [Field] = []
  ) {
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Fields> {
    let m = arena.make(Caravan__V1__Fields.self, caravan__v1__fields__init)
    (m.pointee.n_fields, m.pointee.fields) = arena.messages(fields) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Fields>) throws(WireError) {
    fields = try copyMessages(m.pointee.n_fields, m.pointee.fields) { (p) throws(WireError) in try Field(c: p) }
  }

  static let shape = 7

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__fields__get_packed_size(m)) { caravan__v1__fields__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__fields__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Entry: WireMessage, Equatable {
  public var name: String
  public var version: UInt64
  public var created: UInt64
  public var deleted: Bool
  public var type: UInt32
  public var body: [UInt8]
  public var own: Bool
  public var writer: String
  public var expires: UInt64?
  public var fields: [UInt8]
  public var stranger: Bool
  public var modified: UInt64
  public var age: UInt64
  public var creator: String

  public init(
    name: String = "",
    version: UInt64 = 0,
    created: UInt64 = 0,
    deleted: Bool = false,
    type: UInt32 = 0,
    body: [UInt8] = [],
    own: Bool = false,
    writer: String = "",
    expires: UInt64? = nil,
    fields: [UInt8] = [],
    stranger: Bool = false,
    modified: UInt64 = 0,
    age: UInt64 = 0,
    creator: String = ""
  ) {
    self.name = name
    self.version = version
    self.created = created
    self.deleted = deleted
    self.type = type
    self.body = body
    self.own = own
    self.writer = writer
    self.expires = expires
    self.fields = fields
    self.stranger = stranger
    self.modified = modified
    self.age = age
    self.creator = creator
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Entry> {
    let m = arena.make(Caravan__V1__Entry.self, caravan__v1__entry__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if created != 0 { m.pointee.has_created = 1; m.pointee.created = created }
    if deleted { m.pointee.has_deleted = 1; m.pointee.deleted = deleted ? 1 : 0 }
    if type != 0 { m.pointee.has_type = 1; m.pointee.type = type }
    if !body.isEmpty { m.pointee.has_body = 1; m.pointee.body = arena.bytes(body) }
    if own { m.pointee.has_own = 1; m.pointee.own = own ? 1 : 0 }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if let expires { m.pointee.has_expires = 1; m.pointee.expires = expires }
    if !fields.isEmpty { m.pointee.has_fields = 1; m.pointee.fields = arena.bytes(fields) }
    if stranger { m.pointee.has_stranger = 1; m.pointee.stranger = stranger ? 1 : 0 }
    if modified != 0 { m.pointee.has_modified = 1; m.pointee.modified = modified }
    if age != 0 { m.pointee.has_age = 1; m.pointee.age = age }
    if !creator.isEmpty { m.pointee.creator = arena.string(creator) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Entry>) throws(WireError) {
    name = try copyText(m.pointee.name)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    created = m.pointee.has_created != 0 ? m.pointee.created : 0
    deleted = m.pointee.has_deleted != 0 ? m.pointee.deleted != 0 : false
    type = m.pointee.has_type != 0 ? m.pointee.type : 0
    body = m.pointee.has_body != 0 ? copyBytes(m.pointee.body) : []
    own = m.pointee.has_own != 0 ? m.pointee.own != 0 : false
    writer = try copyText(m.pointee.writer)
    expires = m.pointee.has_expires != 0 ? m.pointee.expires : nil
    fields = m.pointee.has_fields != 0 ? copyBytes(m.pointee.fields) : []
    stranger = m.pointee.has_stranger != 0 ? m.pointee.stranger != 0 : false
    modified = m.pointee.has_modified != 0 ? m.pointee.modified : 0
    age = m.pointee.has_age != 0 ? m.pointee.age : 0
    creator = try copyText(m.pointee.creator)
  }

  static let shape = 8

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__entry__get_packed_size(m)) { caravan__v1__entry__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__entry__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DamagedEntry: WireMessage, Equatable {
  public var name: String
  public var version: UInt64

  public init(
    name: String = "",
    version: UInt64 = 0
  ) {
    self.name = name
    self.version = version
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DamagedEntry> {
    let m = arena.make(Caravan__V1__DamagedEntry.self, caravan__v1__damaged_entry__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DamagedEntry>) throws(WireError) {
    name = try copyText(m.pointee.name)
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
  }

  static let shape = 9

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__damaged_entry__get_packed_size(m)) { caravan__v1__damaged_entry__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__damaged_entry__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FieldVersions: WireMessage, Equatable {
  public var fields: [FieldVersion]

  public init(
    fields: [FieldVersion] = []
  ) {
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FieldVersions> {
    let m = arena.make(Caravan__V1__FieldVersions.self, caravan__v1__field_versions__init)
    (m.pointee.n_fields, m.pointee.fields) = arena.messages(fields) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FieldVersions>) throws(WireError) {
    fields = try copyMessages(m.pointee.n_fields, m.pointee.fields) { (p) throws(WireError) in try FieldVersion(c: p) }
  }

  static let shape = 10

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__field_versions__get_packed_size(m)) { caravan__v1__field_versions__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__field_versions__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FieldVersion: WireMessage, Equatable {
  public var id: UInt32
  public var seq: UInt64
  public var stamp: UInt64
  public var writer: String

  public init(
    id: UInt32 = 0,
    seq: UInt64 = 0,
    stamp: UInt64 = 0,
    writer: String = ""
  ) {
    self.id = id
    self.seq = seq
    self.stamp = stamp
    self.writer = writer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FieldVersion> {
    let m = arena.make(Caravan__V1__FieldVersion.self, caravan__v1__field_version__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if stamp != 0 { m.pointee.has_stamp = 1; m.pointee.stamp = stamp }
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FieldVersion>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    stamp = m.pointee.has_stamp != 0 ? m.pointee.stamp : 0
    writer = try copyText(m.pointee.writer)
  }

  static let shape = 11

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__field_version__get_packed_size(m)) { caravan__v1__field_version__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__field_version__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct EntryPage: WireMessage, Equatable {
  public var entries: [Entry]

  public init(
    entries: [Entry] = []
  ) {
    self.entries = entries
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__EntryPage> {
    let m = arena.make(Caravan__V1__EntryPage.self, caravan__v1__entry_page__init)
    (m.pointee.n_entries, m.pointee.entries) = arena.messages(entries) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__EntryPage>) throws(WireError) {
    entries = try copyMessages(m.pointee.n_entries, m.pointee.entries) { (p) throws(WireError) in try Entry(c: p) }
  }

  static let shape = 12

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__entry_page__get_packed_size(m)) { caravan__v1__entry_page__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__entry_page__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Failure: WireMessage, Equatable {
  public var code: String
  public var message: String
  public var retryAfterMilliseconds: UInt32
  public var deferred: Bool

  public init(
    code: String = "",
    message: String = "",
    retryAfterMilliseconds: UInt32 = 0,
    deferred: Bool = false
  ) {
    self.code = code
    self.message = message
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.deferred = deferred
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Failure> {
    let m = arena.make(Caravan__V1__Failure.self, caravan__v1__failure__init)
    if !code.isEmpty { m.pointee.code = arena.string(code) }
    if !message.isEmpty { m.pointee.message = arena.string(message) }
    if retryAfterMilliseconds != 0 {
      m.pointee.has_retry_after_milliseconds = 1
      m.pointee.retry_after_milliseconds = retryAfterMilliseconds
    }
    if deferred { m.pointee.has_deferred = 1; m.pointee.deferred = deferred ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Failure>) throws(WireError) {
    code = try copyText(m.pointee.code)
    message = try copyText(m.pointee.message)
    retryAfterMilliseconds = m.pointee.has_retry_after_milliseconds != 0 ? m.pointee.retry_after_milliseconds : 0
    deferred = m.pointee.has_deferred != 0 ? m.pointee.deferred != 0 : false
  }

  static let shape = 13

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__failure__get_packed_size(m)) { caravan__v1__failure__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__failure__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct FieldDefinition: WireMessage, Equatable {
  public var id: UInt32
  public var name: String
  public var kind: FieldKind
  public var list: Bool
  public var encrypted: Bool
  public var indexes: UInt32?

  public init(
    id: UInt32 = 0,
    name: String = "",
    kind: FieldKind = .unspecified,
    list: Bool = false,
    encrypted: Bool = false,
    indexes: UInt32? = nil
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.list = list
    self.encrypted = encrypted
    self.indexes = indexes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__FieldDefinition> {
    let m = arena.make(Caravan__V1__FieldDefinition.self, caravan__v1__field_definition__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if kind != .unspecified { m.pointee.has_kind = 1; m.pointee.kind = kind.c }
    if list { m.pointee.has_list = 1; m.pointee.list = list ? 1 : 0 }
    if encrypted { m.pointee.has_encrypted = 1; m.pointee.encrypted = encrypted ? 1 : 0 }
    if let indexes { m.pointee.has_indexes = 1; m.pointee.indexes = indexes }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__FieldDefinition>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    name = try copyText(m.pointee.name)
    kind = m.pointee.has_kind != 0 ? FieldKind(c: m.pointee.kind) : .unspecified
    list = m.pointee.has_list != 0 ? m.pointee.list != 0 : false
    encrypted = m.pointee.has_encrypted != 0 ? m.pointee.encrypted != 0 : false
    indexes = m.pointee.has_indexes != 0 ? m.pointee.indexes : nil
  }

  static let shape = 14

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__field_definition__get_packed_size(m)) { caravan__v1__field_definition__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__field_definition__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TypeSettings: WireMessage, Equatable {
  public var conflicts: ConflictPolicy
  public var fallback: ConflictPolicy
  public var extensionMilliseconds: UInt32
  public var ttlMilliseconds: UInt64
  public var hideExpired: Bool
  public var chunkBytes: UInt32

  public init(
    conflicts: ConflictPolicy = .unspecified,
    fallback: ConflictPolicy = .unspecified,
    extensionMilliseconds: UInt32 = 0,
    ttlMilliseconds: UInt64 = 0,
    hideExpired: Bool = false,
    chunkBytes: UInt32 = 0
  ) {
    self.conflicts = conflicts
    self.fallback = fallback
    self.extensionMilliseconds = extensionMilliseconds
    self.ttlMilliseconds = ttlMilliseconds
    self.hideExpired = hideExpired
    self.chunkBytes = chunkBytes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TypeSettings> {
    let m = arena.make(Caravan__V1__TypeSettings.self, caravan__v1__type_settings__init)
    if conflicts != .unspecified { m.pointee.has_conflicts = 1; m.pointee.conflicts = conflicts.c }
    if fallback != .unspecified { m.pointee.has_fallback = 1; m.pointee.fallback = fallback.c }
    if extensionMilliseconds != 0 {
      m.pointee.has_extension_milliseconds = 1
      m.pointee.extension_milliseconds = extensionMilliseconds
    }
    if ttlMilliseconds != 0 { m.pointee.has_ttl_milliseconds = 1; m.pointee.ttl_milliseconds = ttlMilliseconds }
    if hideExpired { m.pointee.has_hide_expired = 1; m.pointee.hide_expired = hideExpired ? 1 : 0 }
    if chunkBytes != 0 { m.pointee.has_chunk_bytes = 1; m.pointee.chunk_bytes = chunkBytes }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TypeSettings>) throws(WireError) {
    conflicts = m.pointee.has_conflicts != 0 ? ConflictPolicy(c: m.pointee.conflicts) : .unspecified
    fallback = m.pointee.has_fallback != 0 ? ConflictPolicy(c: m.pointee.fallback) : .unspecified
    extensionMilliseconds = m.pointee.has_extension_milliseconds != 0 ? m.pointee.extension_milliseconds : 0
    ttlMilliseconds = m.pointee.has_ttl_milliseconds != 0 ? m.pointee.ttl_milliseconds : 0
    hideExpired = m.pointee.has_hide_expired != 0 ? m.pointee.hide_expired != 0 : false
    chunkBytes = m.pointee.has_chunk_bytes != 0 ? m.pointee.chunk_bytes : 0
  }

  static let shape = 15

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_settings__get_packed_size(m)) { caravan__v1__type_settings__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__type_settings__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RecordType: WireMessage, Equatable {
  public var id: UInt32
  public var definition: UInt32
  public var name: String
  public var fields: [FieldDefinition]
  public var settings: TypeSettings?
  public var grants: TypeGrants?

  public init(
    id: UInt32 = 0,
    definition: UInt32 = 0,
    name: String = "",
    fields: [FieldDefinition] = [],
    settings: TypeSettings? = nil,
    grants: TypeGrants? = nil
  ) {
    self.id = id
    self.definition = definition
    self.name = name
    self.fields = fields
    self.settings = settings
    self.grants = grants
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RecordType> {
    let m = arena.make(Caravan__V1__RecordType.self, caravan__v1__record_type__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if definition != 0 { m.pointee.has_definition = 1; m.pointee.definition = definition }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    (m.pointee.n_fields, m.pointee.fields) = arena.messages(fields) { $0.pack(into: &$1) }
    if let settings { m.pointee.settings = settings.pack(into: &arena) }
    if let grants { m.pointee.grants = grants.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RecordType>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    definition = m.pointee.has_definition != 0 ? m.pointee.definition : 0
    name = try copyText(m.pointee.name)
    fields = try copyMessages(m.pointee.n_fields, m.pointee.fields) { (p) throws(WireError) in
      try FieldDefinition(c: p)
    }
    settings = if let p = m.pointee.settings { try TypeSettings(c: p) } else { nil }
    grants = if let p = m.pointee.grants { try TypeGrants(c: p) } else { nil }
  }

  static let shape = 16

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__record_type__get_packed_size(m)) { caravan__v1__record_type__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__record_type__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TypeGrants: WireMessage, Equatable {
  public var world: UInt32
  public var authenticated: UInt32
  public var creator: UInt32
  public var server: UInt32
  public var own: [RoleRights]

  public init(
    world: UInt32 = 0,
    authenticated: UInt32 = 0,
    creator: UInt32 = 0,
    server: UInt32 = 0,
    own: [RoleRights] = []
  ) {
    self.world = world
    self.authenticated = authenticated
    self.creator = creator
    self.server = server
    self.own = own
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TypeGrants> {
    let m = arena.make(Caravan__V1__TypeGrants.self, caravan__v1__type_grants__init)
    if world != 0 { m.pointee.has_world = 1; m.pointee.world = world }
    if authenticated != 0 { m.pointee.has_authenticated = 1; m.pointee.authenticated = authenticated }
    if creator != 0 { m.pointee.has_creator = 1; m.pointee.creator = creator }
    if server != 0 { m.pointee.has_server = 1; m.pointee.server = server }
    (m.pointee.n_own, m.pointee.own) = arena.messages(own) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TypeGrants>) throws(WireError) {
    world = m.pointee.has_world != 0 ? m.pointee.world : 0
    authenticated = m.pointee.has_authenticated != 0 ? m.pointee.authenticated : 0
    creator = m.pointee.has_creator != 0 ? m.pointee.creator : 0
    server = m.pointee.has_server != 0 ? m.pointee.server : 0
    own = try copyMessages(m.pointee.n_own, m.pointee.own) { (p) throws(WireError) in try RoleRights(c: p) }
  }

  static let shape = 17

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_grants__get_packed_size(m)) { caravan__v1__type_grants__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__type_grants__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RoleRights: WireMessage, Equatable {
  public var role: String
  public var rights: UInt32

  public init(
    role: String = "",
    rights: UInt32 = 0
  ) {
    self.role = role
    self.rights = rights
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RoleRights> {
    let m = arena.make(Caravan__V1__RoleRights.self, caravan__v1__role_rights__init)
    if !role.isEmpty { m.pointee.role = arena.string(role) }
    if rights != 0 { m.pointee.has_rights = 1; m.pointee.rights = rights }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RoleRights>) throws(WireError) {
    role = try copyText(m.pointee.role)
    rights = m.pointee.has_rights != 0 ? m.pointee.rights : 0
  }

  static let shape = 18

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__role_rights__get_packed_size(m)) { caravan__v1__role_rights__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__role_rights__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
