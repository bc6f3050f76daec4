// Made by Protos/generate from caravan/v1/archive.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public struct ArchiveItem: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case header(ArchiveHeader)
    case database(DatabaseRef)
    case chunk(ArchivedChunk)
    case zone(ArchivedZone)
    case record(ArchivedRecord)
    case op(ArchivedOp)
    case quota(ArchivedQuota)
    case head(ArchivedHead)
    case manifest(ArchiveManifest)
    case damaged(ArchivedDamage)
    case reach(UInt64)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchiveItem> {
    let m = arena.make(Caravan__V1__ArchiveItem.self, caravan__v1__archive_item__init)
    switch kind {
    case .header(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_HEADER
      m.pointee.header = value.pack(into: &arena)
    case .database(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_DATABASE
      m.pointee.database = value.pack(into: &arena)
    case .chunk(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_CHUNK
      m.pointee.chunk = value.pack(into: &arena)
    case .zone(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_ZONE
      m.pointee.zone = value.pack(into: &arena)
    case .record(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_RECORD
      m.pointee.record = value.pack(into: &arena)
    case .op(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_OP
      m.pointee.op = value.pack(into: &arena)
    case .quota(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_QUOTA
      m.pointee.quota = value.pack(into: &arena)
    case .head(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_HEAD
      m.pointee.head = value.pack(into: &arena)
    case .manifest(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_MANIFEST
      m.pointee.manifest = value.pack(into: &arena)
    case .damaged(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_DAMAGED
      m.pointee.damaged = value.pack(into: &arena)
    case .reach(let value):
      m.pointee.kind_case = CARAVAN__V1__ARCHIVE_ITEM__KIND_REACH
      m.pointee.reach = value
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchiveItem>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_HEADER: kind = .header(try ArchiveHeader(c: m.pointee.header))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_DATABASE: kind = .database(try DatabaseRef(c: m.pointee.database))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_CHUNK: kind = .chunk(try ArchivedChunk(c: m.pointee.chunk))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_ZONE: kind = .zone(try ArchivedZone(c: m.pointee.zone))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_RECORD: kind = .record(try ArchivedRecord(c: m.pointee.record))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_OP: kind = .op(try ArchivedOp(c: m.pointee.op))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_QUOTA: kind = .quota(try ArchivedQuota(c: m.pointee.quota))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_HEAD: kind = .head(try ArchivedHead(c: m.pointee.head))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_MANIFEST: kind = .manifest(try ArchiveManifest(c: m.pointee.manifest))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_DAMAGED: kind = .damaged(try ArchivedDamage(c: m.pointee.damaged))
    case CARAVAN__V1__ARCHIVE_ITEM__KIND_REACH: kind = .reach(m.pointee.reach)
    default: kind = nil
    }
  }

  static let shape = 195

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archive_item__get_packed_size(m)) { caravan__v1__archive_item__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archive_item__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchiveHeader: WireMessage, Equatable {
  public var format: UInt32
  public var madeMilliseconds: UInt64

  public init(
    format: UInt32 = 0,
    madeMilliseconds: UInt64 = 0
  ) {
    self.format = format
    self.madeMilliseconds = madeMilliseconds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchiveHeader> {
    let m = arena.make(Caravan__V1__ArchiveHeader.self, caravan__v1__archive_header__init)
    if format != 0 { m.pointee.has_format = 1; m.pointee.format = format }
    if madeMilliseconds != 0 { m.pointee.has_made_milliseconds = 1; m.pointee.made_milliseconds = madeMilliseconds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchiveHeader>) throws(WireError) {
    format = m.pointee.has_format != 0 ? m.pointee.format : 0
    madeMilliseconds = m.pointee.has_made_milliseconds != 0 ? m.pointee.made_milliseconds : 0
  }

  static let shape = 196

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archive_header__get_packed_size(m)) { caravan__v1__archive_header__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archive_header__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedChunk: WireMessage, Equatable {
  public var hash: [UInt8]
  public var data: [UInt8]

  public init(
    hash: [UInt8] = [],
    data: [UInt8] = []
  ) {
    self.hash = hash
    self.data = data
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedChunk> {
    let m = arena.make(Caravan__V1__ArchivedChunk.self, caravan__v1__archived_chunk__init)
    if !hash.isEmpty { m.pointee.has_hash = 1; m.pointee.hash = arena.bytes(hash) }
    if !data.isEmpty { m.pointee.has_data = 1; m.pointee.data = arena.bytes(data) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedChunk>) throws(WireError) {
    hash = m.pointee.has_hash != 0 ? copyBytes(m.pointee.hash) : []
    data = m.pointee.has_data != 0 ? copyBytes(m.pointee.data) : []
  }

  static let shape = 197

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_chunk__get_packed_size(m)) { caravan__v1__archived_chunk__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_chunk__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedDamage: WireMessage, Equatable {
  public var hash: [UInt8]
  public var size: UInt64

  public init(
    hash: [UInt8] = [],
    size: UInt64 = 0
  ) {
    self.hash = hash
    self.size = size
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedDamage> {
    let m = arena.make(Caravan__V1__ArchivedDamage.self, caravan__v1__archived_damage__init)
    if !hash.isEmpty { m.pointee.has_hash = 1; m.pointee.hash = arena.bytes(hash) }
    if size != 0 { m.pointee.has_size = 1; m.pointee.size = size }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedDamage>) throws(WireError) {
    hash = m.pointee.has_hash != 0 ? copyBytes(m.pointee.hash) : []
    size = m.pointee.has_size != 0 ? m.pointee.size : 0
  }

  static let shape = 198

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_damage__get_packed_size(m)) { caravan__v1__archived_damage__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_damage__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedZone: WireMessage, Equatable {
  public var name: String
  public var seq: UInt64
  public var incarnation: UInt64
  public var deleted: Bool
  public var lostThrough: UInt64

  public init(
    name: String = "",
    seq: UInt64 = 0,
    incarnation: UInt64 = 0,
    deleted: Bool = false,
    lostThrough: UInt64 = 0
  ) {
    self.name = name
    self.seq = seq
    self.incarnation = incarnation
    self.deleted = deleted
    self.lostThrough = lostThrough
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedZone> {
    let m = arena.make(Caravan__V1__ArchivedZone.self, caravan__v1__archived_zone__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if incarnation != 0 { m.pointee.has_incarnation = 1; m.pointee.incarnation = incarnation }
    if deleted { m.pointee.has_deleted = 1; m.pointee.deleted = deleted ? 1 : 0 }
    if lostThrough != 0 { m.pointee.has_lost_through = 1; m.pointee.lost_through = lostThrough }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedZone>) throws(WireError) {
    name = try copyText(m.pointee.name)
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    incarnation = m.pointee.has_incarnation != 0 ? m.pointee.incarnation : 0
    deleted = m.pointee.has_deleted != 0 ? m.pointee.deleted != 0 : false
    lostThrough = m.pointee.has_lost_through != 0 ? m.pointee.lost_through : 0
  }

  static let shape = 199

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_zone__get_packed_size(m)) { caravan__v1__archived_zone__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_zone__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedLink: WireMessage, Equatable {
  public var target: String
  public var kinds: UInt64

  public init(
    target: String = "",
    kinds: UInt64 = 0
  ) {
    self.target = target
    self.kinds = kinds
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedLink> {
    let m = arena.make(Caravan__V1__ArchivedLink.self, caravan__v1__archived_link__init)
    if !target.isEmpty { m.pointee.target = arena.string(target) }
    if kinds != 0 { m.pointee.has_kinds = 1; m.pointee.kinds = kinds }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedLink>) throws(WireError) {
    target = try copyText(m.pointee.target)
    kinds = m.pointee.has_kinds != 0 ? m.pointee.kinds : 0
  }

  static let shape = 200

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_link__get_packed_size(m)) { caravan__v1__archived_link__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_link__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedRecord: WireMessage, Equatable {
  public var entry: Entry?
  public var epoch: UInt64
  public var flags: UInt64
  public var chunks: [UInt8]
  public var links: [ArchivedLink]
  public var damagedSum: UInt64

  public init(
    entry: Entry? = nil,
    epoch: UInt64 = 0,
    flags: UInt64 = 0,
    chunks: [UInt8] = [],
    links: [ArchivedLink] = [],
    damagedSum: UInt64 = 0
  ) {
    self.entry = entry
    self.epoch = epoch
    self.flags = flags
    self.chunks = chunks
    self.links = links
    self.damagedSum = damagedSum
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedRecord> {
    let m = arena.make(Caravan__V1__ArchivedRecord.self, caravan__v1__archived_record__init)
    if let entry { m.pointee.entry = entry.pack(into: &arena) }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if flags != 0 { m.pointee.has_flags = 1; m.pointee.flags = flags }
    if !chunks.isEmpty { m.pointee.has_chunks = 1; m.pointee.chunks = arena.bytes(chunks) }
    (m.pointee.n_links, m.pointee.links) = arena.messages(links) { $0.pack(into: &$1) }
    if damagedSum != 0 { m.pointee.has_damaged_sum = 1; m.pointee.damaged_sum = damagedSum }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedRecord>) throws(WireError) {
    entry = if let p = m.pointee.entry { try Entry(c: p) } else { nil }
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    flags = m.pointee.has_flags != 0 ? m.pointee.flags : 0
    chunks = m.pointee.has_chunks != 0 ? copyBytes(m.pointee.chunks) : []
    links = try copyMessages(m.pointee.n_links, m.pointee.links) { (p) throws(WireError) in try ArchivedLink(c: p) }
    damagedSum = m.pointee.has_damaged_sum != 0 ? m.pointee.damaged_sum : 0
  }

  static let shape = 201

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_record__get_packed_size(m)) { caravan__v1__archived_record__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_record__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedOp: WireMessage, Equatable {
  public var writer: String
  public var epoch: UInt64
  public var number: UInt64
  public var floor: UInt64
  public var outcome: [UInt8]

  public init(
    writer: String = "",
    epoch: UInt64 = 0,
    number: UInt64 = 0,
    floor: UInt64 = 0,
    outcome: [UInt8] = []
  ) {
    self.writer = writer
    self.epoch = epoch
    self.number = number
    self.floor = floor
    self.outcome = outcome
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedOp> {
    let m = arena.make(Caravan__V1__ArchivedOp.self, caravan__v1__archived_op__init)
    if !writer.isEmpty { m.pointee.writer = arena.string(writer) }
    if epoch != 0 { m.pointee.has_epoch = 1; m.pointee.epoch = epoch }
    if number != 0 { m.pointee.has_number = 1; m.pointee.number = number }
    if floor != 0 { m.pointee.has_floor = 1; m.pointee.floor = floor }
    if !outcome.isEmpty { m.pointee.has_outcome = 1; m.pointee.outcome = arena.bytes(outcome) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedOp>) throws(WireError) {
    writer = try copyText(m.pointee.writer)
    epoch = m.pointee.has_epoch != 0 ? m.pointee.epoch : 0
    number = m.pointee.has_number != 0 ? m.pointee.number : 0
    floor = m.pointee.has_floor != 0 ? m.pointee.floor : 0
    outcome = m.pointee.has_outcome != 0 ? copyBytes(m.pointee.outcome) : []
  }

  static let shape = 202

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_op__get_packed_size(m)) { caravan__v1__archived_op__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_op__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedQuota: WireMessage, Equatable {
  public var account: String
  public var maxRecords: UInt64?
  public var maxBytes: UInt64?

  public init(
    account: String = "",
    maxRecords: UInt64? = nil,
    maxBytes: UInt64? = nil
  ) {
    self.account = account
    self.maxRecords = maxRecords
    self.maxBytes = maxBytes
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedQuota> {
    let m = arena.make(Caravan__V1__ArchivedQuota.self, caravan__v1__archived_quota__init)
    if !account.isEmpty { m.pointee.account = arena.string(account) }
    if let maxRecords { m.pointee.has_max_records = 1; m.pointee.max_records = maxRecords }
    if let maxBytes { m.pointee.has_max_bytes = 1; m.pointee.max_bytes = maxBytes }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedQuota>) throws(WireError) {
    account = try copyText(m.pointee.account)
    maxRecords = m.pointee.has_max_records != 0 ? m.pointee.max_records : nil
    maxBytes = m.pointee.has_max_bytes != 0 ? m.pointee.max_bytes : nil
  }

  static let shape = 203

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_quota__get_packed_size(m)) { caravan__v1__archived_quota__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_quota__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchivedHead: WireMessage, Equatable {
  public var partition: UInt32
  public var head: UInt64

  public init(
    partition: UInt32 = 0,
    head: UInt64 = 0
  ) {
    self.partition = partition
    self.head = head
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchivedHead> {
    let m = arena.make(Caravan__V1__ArchivedHead.self, caravan__v1__archived_head__init)
    if partition != 0 { m.pointee.has_partition = 1; m.pointee.partition = partition }
    if head != 0 { m.pointee.has_head = 1; m.pointee.head = head }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchivedHead>) throws(WireError) {
    partition = m.pointee.has_partition != 0 ? m.pointee.partition : 0
    head = m.pointee.has_head != 0 ? m.pointee.head : 0
  }

  static let shape = 204

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archived_head__get_packed_size(m)) { caravan__v1__archived_head__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archived_head__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ArchiveManifest: WireMessage, Equatable {
  public var zones: [ZoneDigest]
  public var databases: [DatabaseDigest]
  public var items: UInt64
  public var digest: [UInt8]

  public init(
    zones: [ZoneDigest] = [],
    databases: [DatabaseDigest] = [],
    items: UInt64 = 0,
    digest: [UInt8] = []
  ) {
    self.zones = zones
    self.databases = databases
    self.items = items
    self.digest = digest
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ArchiveManifest> {
    let m = arena.make(Caravan__V1__ArchiveManifest.self, caravan__v1__archive_manifest__init)
    (m.pointee.n_zones, m.pointee.zones) = arena.messages(zones) { $0.pack(into: &$1) }
    (m.pointee.n_databases, m.pointee.databases) = arena.messages(databases) { $0.pack(into: &$1) }
    if items != 0 { m.pointee.has_items = 1; m.pointee.items = items }
    if !digest.isEmpty { m.pointee.has_digest = 1; m.pointee.digest = arena.bytes(digest) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ArchiveManifest>) throws(WireError) {
    zones = try copyMessages(m.pointee.n_zones, m.pointee.zones) { (p) throws(WireError) in try ZoneDigest(c: p) }
    databases = try copyMessages(m.pointee.n_databases, m.pointee.databases) { (p) throws(WireError) in
      try DatabaseDigest(c: p)
    }
    items = m.pointee.has_items != 0 ? m.pointee.items : 0
    digest = m.pointee.has_digest != 0 ? copyBytes(m.pointee.digest) : []
  }

  static let shape = 205

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__archive_manifest__get_packed_size(m)) { caravan__v1__archive_manifest__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__archive_manifest__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ZoneDigest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var zone: String
  public var seq: UInt64
  public var records: UInt64
  public var digest: [UInt8]

  public init(
    database: DatabaseRef? = nil,
    zone: String = "",
    seq: UInt64 = 0,
    records: UInt64 = 0,
    digest: [UInt8] = []
  ) {
    self.database = database
    self.zone = zone
    self.seq = seq
    self.records = records
    self.digest = digest
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ZoneDigest> {
    let m = arena.make(Caravan__V1__ZoneDigest.self, caravan__v1__zone_digest__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if seq != 0 { m.pointee.has_seq = 1; m.pointee.seq = seq }
    if records != 0 { m.pointee.has_records = 1; m.pointee.records = records }
    if !digest.isEmpty { m.pointee.has_digest = 1; m.pointee.digest = arena.bytes(digest) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ZoneDigest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    zone = try copyText(m.pointee.zone)
    seq = m.pointee.has_seq != 0 ? m.pointee.seq : 0
    records = m.pointee.has_records != 0 ? m.pointee.records : 0
    digest = m.pointee.has_digest != 0 ? copyBytes(m.pointee.digest) : []
  }

  static let shape = 206

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__zone_digest__get_packed_size(m)) { caravan__v1__zone_digest__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__zone_digest__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct DatabaseDigest: WireMessage, Equatable {
  public var database: DatabaseRef?
  public var chunks: UInt64
  public var bytes: UInt64
  public var digest: [UInt8]

  public init(
    database: DatabaseRef? = nil,
    chunks: UInt64 = 0,
    bytes: UInt64 = 0,
    digest: [UInt8] = []
  ) {
    self.database = database
    self.chunks = chunks
    self.bytes = bytes
    self.digest = digest
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__DatabaseDigest> {
    let m = arena.make(Caravan__V1__DatabaseDigest.self, caravan__v1__database_digest__init)
    if let database { m.pointee.database = database.pack(into: &arena) }
    if chunks != 0 { m.pointee.has_chunks = 1; m.pointee.chunks = chunks }
    if bytes != 0 { m.pointee.has_bytes = 1; m.pointee.bytes = bytes }
    if !digest.isEmpty { m.pointee.has_digest = 1; m.pointee.digest = arena.bytes(digest) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__DatabaseDigest>) throws(WireError) {
    database = if let p = m.pointee.database { try DatabaseRef(c: p) } else { nil }
    chunks = m.pointee.has_chunks != 0 ? m.pointee.chunks : 0
    bytes = m.pointee.has_bytes != 0 ? m.pointee.bytes : 0
    digest = m.pointee.has_digest != 0 ? copyBytes(m.pointee.digest) : []
  }

  static let shape = 207

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__database_digest__get_packed_size(m)) { caravan__v1__database_digest__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__database_digest__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
