// Made by Protos/generate from caravan/v1/schema.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public enum SchemaCause: UInt32, Sendable, CaseIterable {
  case unspecified = 0
  case inferred = 1
  case said = 2
  case removed = 3
  case promoted = 4
  case reset = 5
  case imported = 6

  var c: Caravan__V1__SchemaCause {
    switch self {
    case .unspecified: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_UNSPECIFIED
    case .inferred: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_INFERRED
    case .said: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_SAID
    case .removed: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_REMOVED
    case .promoted: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_PROMOTED
    case .reset: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_RESET
    case .imported: CARAVAN__V1__SCHEMA_CAUSE__SCHEMA_CAUSE_IMPORTED
    }
  }

  init(c: Caravan__V1__SchemaCause) { self = Self(rawValue: c.rawValue) ?? .unspecified }
}

public struct ProposeTypeRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var type: RecordType?
  public var remembered: Bool
  public var user: String
  public var byOperator: Bool
  public var declared: Bool
  public var device: String
  public var partial: Bool

  public init(
    container: String = "",
    environment: String = "",
    type: RecordType? = nil,
    remembered: Bool = false,
    user: String = "",
    byOperator: Bool = false,
    declared: Bool = false,
    device: String = "",
    partial: Bool = false
  ) {
    self.container = container
    self.environment = environment
    self.type = type
    self.remembered = remembered
    self.user = user
    self.byOperator = byOperator
    self.declared = declared
    self.device = device
    self.partial = partial
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ProposeTypeRequest> {
    let m = arena.make(Caravan__V1__ProposeTypeRequest.self, caravan__v1__propose_type_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if let type { m.pointee.type = type.pack(into: &arena) }
    if remembered { m.pointee.has_remembered = 1; m.pointee.remembered = remembered ? 1 : 0 }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if byOperator { m.pointee.has_by_operator = 1; m.pointee.by_operator = byOperator ? 1 : 0 }
    if declared { m.pointee.has_declared = 1; m.pointee.declared = declared ? 1 : 0 }
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if partial { m.pointee.has_partial = 1; m.pointee.partial = partial ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ProposeTypeRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
    remembered = m.pointee.has_remembered != 0 ? m.pointee.remembered != 0 : false
    user = try copyText(m.pointee.user)
    byOperator = m.pointee.has_by_operator != 0 ? m.pointee.by_operator != 0 : false
    declared = m.pointee.has_declared != 0 ? m.pointee.declared != 0 : false
    device = try copyText(m.pointee.device)
    partial = m.pointee.has_partial != 0 ? m.pointee.partial != 0 : false
  }

  static let shape = 278

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__propose_type_request__get_packed_size(m)) {
      caravan__v1__propose_type_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__propose_type_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TypeRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var id: UInt32
  public var name: String

  public init(
    container: String = "",
    environment: String = "",
    id: UInt32 = 0,
    name: String = ""
  ) {
    self.container = container
    self.environment = environment
    self.id = id
    self.name = name
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TypeRequest> {
    let m = arena.make(Caravan__V1__TypeRequest.self, caravan__v1__type_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TypeRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    name = try copyText(m.pointee.name)
  }

  static let shape = 279

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_request__get_packed_size(m)) { caravan__v1__type_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__type_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TypeReply: WireMessage, Equatable {
  public var type: RecordType?

  public init(
    type: RecordType? = nil
  ) {
    self.type = type
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TypeReply> {
    let m = arena.make(Caravan__V1__TypeReply.self, caravan__v1__type_reply__init)
    if let type { m.pointee.type = type.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TypeReply>) throws(WireError) {
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
  }

  static let shape = 280

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_reply__get_packed_size(m)) { caravan__v1__type_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__type_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GrantsRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String

  public init(
    container: String = "",
    environment: String = ""
  ) {
    self.container = container
    self.environment = environment
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GrantsRequest> {
    let m = arena.make(Caravan__V1__GrantsRequest.self, caravan__v1__grants_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GrantsRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
  }

  static let shape = 281

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__grants_request__get_packed_size(m)) { caravan__v1__grants_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__grants_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GrantedType: WireMessage, Equatable {
  public var name: String
  public var versions: [UInt32]
  public var grants: TypeGrants?

  public init(
    name: String = "",
    versions: [UInt32] = [],
    grants: TypeGrants? = nil
  ) {
    self.name = name
    self.versions = versions
    self.grants = grants
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GrantedType> {
    let m = arena.make(Caravan__V1__GrantedType.self, caravan__v1__granted_type__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    (m.pointee.n_versions, m.pointee.versions) = arena.scalars(versions)
    if let grants { m.pointee.grants = grants.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GrantedType>) throws(WireError) {
    name = try copyText(m.pointee.name)
    versions = copyScalars(m.pointee.n_versions, m.pointee.versions)
    grants = if let p = m.pointee.grants { try TypeGrants(c: p) } else { nil }
  }

  static let shape = 282

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__granted_type__get_packed_size(m)) { caravan__v1__granted_type__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__granted_type__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct GrantsReply: WireMessage, Equatable {
  public var types: [GrantedType]
  public var retired: [RetiredType]

  public init(
    types: [GrantedType] = [],
    retired: [RetiredType] = []
  ) {
    self.types = types
    self.retired = retired
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GrantsReply> {
    let m = arena.make(Caravan__V1__GrantsReply.self, caravan__v1__grants_reply__init)
    (m.pointee.n_types, m.pointee.types) = arena.messages(types) { $0.pack(into: &$1) }
    (m.pointee.n_retired, m.pointee.retired) = arena.messages(retired) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GrantsReply>) throws(WireError) {
    types = try copyMessages(m.pointee.n_types, m.pointee.types) { (p) throws(WireError) in try GrantedType(c: p) }
    retired = try copyMessages(m.pointee.n_retired, m.pointee.retired) { (p) throws(WireError) in
      try RetiredType(c: p)
    }
  }

  static let shape = 283

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__grants_reply__get_packed_size(m)) { caravan__v1__grants_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__grants_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RetiredType: WireMessage, Equatable {
  public var name: String
  public var versions: [UInt32]

  public init(
    name: String = "",
    versions: [UInt32] = []
  ) {
    self.name = name
    self.versions = versions
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RetiredType> {
    let m = arena.make(Caravan__V1__RetiredType.self, caravan__v1__retired_type__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    (m.pointee.n_versions, m.pointee.versions) = arena.scalars(versions)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RetiredType>) throws(WireError) {
    name = try copyText(m.pointee.name)
    versions = copyScalars(m.pointee.n_versions, m.pointee.versions)
  }

  static let shape = 284

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__retired_type__get_packed_size(m)) { caravan__v1__retired_type__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__retired_type__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ContainerSettings: WireMessage, Equatable {
  public var publicShards: UInt32
  public var privateShards: UInt32

  public init(
    publicShards: UInt32 = 0,
    privateShards: UInt32 = 0
  ) {
    self.publicShards = publicShards
    self.privateShards = privateShards
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ContainerSettings> {
    let m = arena.make(Caravan__V1__ContainerSettings.self, caravan__v1__container_settings__init)
    if publicShards != 0 { m.pointee.has_public_shards = 1; m.pointee.public_shards = publicShards }
    if privateShards != 0 { m.pointee.has_private_shards = 1; m.pointee.private_shards = privateShards }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ContainerSettings>) throws(WireError) {
    publicShards = m.pointee.has_public_shards != 0 ? m.pointee.public_shards : 0
    privateShards = m.pointee.has_private_shards != 0 ? m.pointee.private_shards : 0
  }

  static let shape = 285

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__container_settings__get_packed_size(m)) { caravan__v1__container_settings__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__container_settings__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ContainerRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var settings: ContainerSettings?
  public var settle: Bool
  public var user: String
  public var byOperator: Bool

  public init(
    container: String = "",
    environment: String = "",
    settings: ContainerSettings? = nil,
    settle: Bool = false,
    user: String = "",
    byOperator: Bool = false
  ) {
    self.container = container
    self.environment = environment
    self.settings = settings
    self.settle = settle
    self.user = user
    self.byOperator = byOperator
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ContainerRequest> {
    let m = arena.make(Caravan__V1__ContainerRequest.self, caravan__v1__container_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if let settings { m.pointee.settings = settings.pack(into: &arena) }
    if settle { m.pointee.has_settle = 1; m.pointee.settle = settle ? 1 : 0 }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if byOperator { m.pointee.has_by_operator = 1; m.pointee.by_operator = byOperator ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ContainerRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    settings = if let p = m.pointee.settings { try ContainerSettings(c: p) } else { nil }
    settle = m.pointee.has_settle != 0 ? m.pointee.settle != 0 : false
    user = try copyText(m.pointee.user)
    byOperator = m.pointee.has_by_operator != 0 ? m.pointee.by_operator != 0 : false
  }

  static let shape = 286

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__container_request__get_packed_size(m)) { caravan__v1__container_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__container_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ContainerReply: WireMessage, Equatable {
  public var settings: ContainerSettings?

  public init(
    settings: ContainerSettings? = nil
  ) {
    self.settings = settings
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ContainerReply> {
    let m = arena.make(Caravan__V1__ContainerReply.self, caravan__v1__container_reply__init)
    if let settings { m.pointee.settings = settings.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ContainerReply>) throws(WireError) {
    settings = if let p = m.pointee.settings { try ContainerSettings(c: p) } else { nil }
  }

  static let shape = 287

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__container_reply__get_packed_size(m)) { caravan__v1__container_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__container_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListTypesRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var user: String

  public init(
    container: String = "",
    environment: String = "",
    user: String = ""
  ) {
    self.container = container
    self.environment = environment
    self.user = user
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListTypesRequest> {
    let m = arena.make(Caravan__V1__ListTypesRequest.self, caravan__v1__list_types_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListTypesRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    user = try copyText(m.pointee.user)
  }

  static let shape = 288

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_types_request__get_packed_size(m)) { caravan__v1__list_types_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_types_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ListTypesReply: WireMessage, Equatable {
  public var types: [RecordType]
  public var schema: UInt32
  public var templates: [SubscriptionTemplate]

  public init(
    types: [RecordType] = [],
    schema: UInt32 = 0,
    templates: [SubscriptionTemplate] = []
  ) {
    self.types = types
    self.schema = schema
    self.templates = templates
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListTypesReply> {
    let m = arena.make(Caravan__V1__ListTypesReply.self, caravan__v1__list_types_reply__init)
    (m.pointee.n_types, m.pointee.types) = arena.messages(types) { $0.pack(into: &$1) }
    if schema != 0 { m.pointee.has_schema = 1; m.pointee.schema = schema }
    (m.pointee.n_templates, m.pointee.templates) = arena.messages(templates) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListTypesReply>) throws(WireError) {
    types = try copyMessages(m.pointee.n_types, m.pointee.types) { (p) throws(WireError) in try RecordType(c: p) }
    schema = m.pointee.has_schema != 0 ? m.pointee.schema : 0
    templates = try copyMessages(m.pointee.n_templates, m.pointee.templates) { (p) throws(WireError) in
      try SubscriptionTemplate(c: p)
    }
  }

  static let shape = 289

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_types_reply__get_packed_size(m)) { caravan__v1__list_types_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__list_types_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TemplateRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var name: String

  public init(
    container: String = "",
    environment: String = "",
    name: String = ""
  ) {
    self.container = container
    self.environment = environment
    self.name = name
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TemplateRequest> {
    let m = arena.make(Caravan__V1__TemplateRequest.self, caravan__v1__template_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TemplateRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    name = try copyText(m.pointee.name)
  }

  static let shape = 290

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__template_request__get_packed_size(m)) { caravan__v1__template_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__template_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct TemplateReply: WireMessage, Equatable {
  public var found: SubscriptionTemplate?

  public init(
    found: SubscriptionTemplate? = nil
  ) {
    self.found = found
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__TemplateReply> {
    let m = arena.make(Caravan__V1__TemplateReply.self, caravan__v1__template_reply__init)
    if let found { m.pointee.found = found.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__TemplateReply>) throws(WireError) {
    found = if let p = m.pointee.found { try SubscriptionTemplate(c: p) } else { nil }
  }

  static let shape = 291

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__template_reply__get_packed_size(m)) { caravan__v1__template_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__template_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangeSchemaRequest: WireMessage, Equatable {
  public enum Change: Sendable, Equatable {
    case promote(PromoteTypes)
    case reset(ResetTypes)
    case importTypes(ImportTypes)
    case remove(RemoveType)
    case index(IndexFields)
    case setTemplate(SubscriptionTemplate)
    case removeTemplate(RemoveTemplate)
  }

  public var container: String
  public var environment: String
  public var user: String
  public var device: String
  public var byOperator: Bool
  public var preview: Bool
  public var change: Change?

  public init(
    container: String = "",
    environment: String = "",
    user: String = "",
    device: String = "",
    byOperator: Bool = false,
    preview: Bool = false,
    change: Change? = nil
  ) {
    self.container = container
    self.environment = environment
    self.user = user
    self.device = device
    self.byOperator = byOperator
    self.preview = preview
    self.change = change
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangeSchemaRequest> {
    let m = arena.make(Caravan__V1__ChangeSchemaRequest.self, caravan__v1__change_schema_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if byOperator { m.pointee.has_by_operator = 1; m.pointee.by_operator = byOperator ? 1 : 0 }
    if preview { m.pointee.has_preview = 1; m.pointee.preview = preview ? 1 : 0 }
    switch change {
    case .promote(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_PROMOTE
      m.pointee.promote = value.pack(into: &arena)
    case .reset(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_RESET
      m.pointee.reset = value.pack(into: &arena)
    case .importTypes(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_IMPORT_TYPES
      m.pointee.import_types = value.pack(into: &arena)
    case .remove(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_REMOVE
      m.pointee.remove = value.pack(into: &arena)
    case .index(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_INDEX
      m.pointee.index = value.pack(into: &arena)
    case .setTemplate(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_SET_TEMPLATE
      m.pointee.set_template = value.pack(into: &arena)
    case .removeTemplate(let value):
      m.pointee.change_case = CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_REMOVE_TEMPLATE
      m.pointee.remove_template = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangeSchemaRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    user = try copyText(m.pointee.user)
    device = try copyText(m.pointee.device)
    byOperator = m.pointee.has_by_operator != 0 ? m.pointee.by_operator != 0 : false
    preview = m.pointee.has_preview != 0 ? m.pointee.preview != 0 : false
    switch m.pointee.change_case {
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_PROMOTE: change = .promote(try PromoteTypes(c: m.pointee.promote))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_RESET: change = .reset(try ResetTypes(c: m.pointee.reset))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_IMPORT_TYPES:
      change = .importTypes(try ImportTypes(c: m.pointee.import_types))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_REMOVE: change = .remove(try RemoveType(c: m.pointee.remove))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_INDEX: change = .index(try IndexFields(c: m.pointee.index))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_SET_TEMPLATE:
      change = .setTemplate(try SubscriptionTemplate(c: m.pointee.set_template))
    case CARAVAN__V1__CHANGE_SCHEMA_REQUEST__CHANGE_REMOVE_TEMPLATE:
      change = .removeTemplate(try RemoveTemplate(c: m.pointee.remove_template))
    default: change = nil
    }
  }

  static let shape = 292

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__change_schema_request__get_packed_size(m)) {
      caravan__v1__change_schema_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__change_schema_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct PromoteTypes: WireMessage, Equatable {
  public var types: [String]
  public var templates: [String]

  public init(
    types: [String] = [],
    templates: [String] = []
  ) {
    self.types = types
    self.templates = templates
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__PromoteTypes> {
    let m = arena.make(Caravan__V1__PromoteTypes.self, caravan__v1__promote_types__init)
    (m.pointee.n_types, m.pointee.types) = arena.strings(types)
    (m.pointee.n_templates, m.pointee.templates) = arena.strings(templates)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__PromoteTypes>) throws(WireError) {
    types = try copyStrings(m.pointee.n_types, m.pointee.types)
    templates = try copyStrings(m.pointee.n_templates, m.pointee.templates)
  }

  static let shape = 293

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__promote_types__get_packed_size(m)) { caravan__v1__promote_types__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__promote_types__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ResetTypes: WireMessage, Equatable {

  public init() {}

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ResetTypes> {
    let m = arena.make(Caravan__V1__ResetTypes.self, caravan__v1__reset_types__init)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ResetTypes>) throws(WireError) {
  }

  static let shape = 294

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__reset_types__get_packed_size(m)) { caravan__v1__reset_types__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__reset_types__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ImportTypes: WireMessage, Equatable {
  public var types: [RecordType]
  public var removes: Bool
  public var templates: [SubscriptionTemplate]

  public init(
    types: [RecordType] = [],
    removes: Bool = false,
    templates: [SubscriptionTemplate] = []
  ) {
    self.types = types
    self.removes = removes
    self.templates = templates
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ImportTypes> {
    let m = arena.make(Caravan__V1__ImportTypes.self, caravan__v1__import_types__init)
    (m.pointee.n_types, m.pointee.types) = arena.messages(types) { $0.pack(into: &$1) }
    if removes { m.pointee.has_removes = 1; m.pointee.removes = removes ? 1 : 0 }
    (m.pointee.n_templates, m.pointee.templates) = arena.messages(templates) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ImportTypes>) throws(WireError) {
    types = try copyMessages(m.pointee.n_types, m.pointee.types) { (p) throws(WireError) in try RecordType(c: p) }
    removes = m.pointee.has_removes != 0 ? m.pointee.removes != 0 : false
    templates = try copyMessages(m.pointee.n_templates, m.pointee.templates) { (p) throws(WireError) in
      try SubscriptionTemplate(c: p)
    }
  }

  static let shape = 295

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__import_types__get_packed_size(m)) { caravan__v1__import_types__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__import_types__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RemoveType: WireMessage, Equatable {
  public var type: String
  public var field: String

  public init(
    type: String = "",
    field: String = ""
  ) {
    self.type = type
    self.field = field
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RemoveType> {
    let m = arena.make(Caravan__V1__RemoveType.self, caravan__v1__remove_type__init)
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    if !field.isEmpty { m.pointee.field = arena.string(field) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RemoveType>) throws(WireError) {
    type = try copyText(m.pointee.type)
    field = try copyText(m.pointee.field)
  }

  static let shape = 296

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__remove_type__get_packed_size(m)) { caravan__v1__remove_type__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__remove_type__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RemoveTemplate: WireMessage, Equatable {
  public var name: String

  public init(
    name: String = ""
  ) {
    self.name = name
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RemoveTemplate> {
    let m = arena.make(Caravan__V1__RemoveTemplate.self, caravan__v1__remove_template__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RemoveTemplate>) throws(WireError) {
    name = try copyText(m.pointee.name)
  }

  static let shape = 297

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__remove_template__get_packed_size(m)) { caravan__v1__remove_template__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__remove_template__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct IndexFields: WireMessage, Equatable {
  public var type: String
  public var fields: [FieldDefinition]

  public init(
    type: String = "",
    fields: [FieldDefinition] = []
  ) {
    self.type = type
    self.fields = fields
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__IndexFields> {
    let m = arena.make(Caravan__V1__IndexFields.self, caravan__v1__index_fields__init)
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    (m.pointee.n_fields, m.pointee.fields) = arena.messages(fields) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__IndexFields>) throws(WireError) {
    type = try copyText(m.pointee.type)
    fields = try copyMessages(m.pointee.n_fields, m.pointee.fields) { (p) throws(WireError) in
      try FieldDefinition(c: p)
    }
  }

  static let shape = 298

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__index_fields__get_packed_size(m)) { caravan__v1__index_fields__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__index_fields__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ChangeSchemaReply: WireMessage, Equatable {
  public var change: SchemaChange?

  public init(
    change: SchemaChange? = nil
  ) {
    self.change = change
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ChangeSchemaReply> {
    let m = arena.make(Caravan__V1__ChangeSchemaReply.self, caravan__v1__change_schema_reply__init)
    if let change { m.pointee.change = change.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ChangeSchemaReply>) throws(WireError) {
    change = if let p = m.pointee.change { try SchemaChange(c: p) } else { nil }
  }

  static let shape = 299

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__change_schema_reply__get_packed_size(m)) {
      caravan__v1__change_schema_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__change_schema_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaDifference: WireMessage, Equatable {
  public var type: String
  public var field: String
  public var property: String
  public var was: String
  public var now: String

  public init(
    type: String = "",
    field: String = "",
    property: String = "",
    was: String = "",
    now: String = ""
  ) {
    self.type = type
    self.field = field
    self.property = property
    self.was = was
    self.now = now
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaDifference> {
    let m = arena.make(Caravan__V1__SchemaDifference.self, caravan__v1__schema_difference__init)
    if !type.isEmpty { m.pointee.type = arena.string(type) }
    if !field.isEmpty { m.pointee.field = arena.string(field) }
    if !property.isEmpty { m.pointee.property = arena.string(property) }
    if !was.isEmpty { m.pointee.was = arena.string(was) }
    if !now.isEmpty { m.pointee.now = arena.string(now) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaDifference>) throws(WireError) {
    type = try copyText(m.pointee.type)
    field = try copyText(m.pointee.field)
    property = try copyText(m.pointee.property)
    was = try copyText(m.pointee.was)
    now = try copyText(m.pointee.now)
  }

  static let shape = 300

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_difference__get_packed_size(m)) { caravan__v1__schema_difference__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_difference__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaChange: WireMessage, Equatable {
  public var id: UInt32
  public var parent: UInt32
  public var milliseconds: UInt64
  public var user: String
  public var device: String
  public var cause: SchemaCause
  public var source: UInt32
  public var differences: [SchemaDifference]

  public init(
    id: UInt32 = 0,
    parent: UInt32 = 0,
    milliseconds: UInt64 = 0,
    user: String = "",
    device: String = "",
    cause: SchemaCause = .unspecified,
    source: UInt32 = 0,
    differences: [SchemaDifference] = []
  ) {
    self.id = id
    self.parent = parent
    self.milliseconds = milliseconds
    self.user = user
    self.device = device
    self.cause = cause
    self.source = source
    self.differences = differences
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaChange> {
    let m = arena.make(Caravan__V1__SchemaChange.self, caravan__v1__schema_change__init)
    if id != 0 { m.pointee.has_id = 1; m.pointee.id = id }
    if parent != 0 { m.pointee.has_parent = 1; m.pointee.parent = parent }
    if milliseconds != 0 { m.pointee.has_milliseconds = 1; m.pointee.milliseconds = milliseconds }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if !device.isEmpty { m.pointee.device = arena.string(device) }
    if cause != .unspecified { m.pointee.has_cause = 1; m.pointee.cause = cause.c }
    if source != 0 { m.pointee.has_source = 1; m.pointee.source = source }
    (m.pointee.n_differences, m.pointee.differences) = arena.messages(differences) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaChange>) throws(WireError) {
    id = m.pointee.has_id != 0 ? m.pointee.id : 0
    parent = m.pointee.has_parent != 0 ? m.pointee.parent : 0
    milliseconds = m.pointee.has_milliseconds != 0 ? m.pointee.milliseconds : 0
    user = try copyText(m.pointee.user)
    device = try copyText(m.pointee.device)
    cause = m.pointee.has_cause != 0 ? SchemaCause(c: m.pointee.cause) : .unspecified
    source = m.pointee.has_source != 0 ? m.pointee.source : 0
    differences = try copyMessages(m.pointee.n_differences, m.pointee.differences) { (p) throws(WireError) in
      try SchemaDifference(c: p)
    }
  }

  static let shape = 301

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_change__get_packed_size(m)) { caravan__v1__schema_change__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_change__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaHistoryRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var user: String
  public var before: UInt32
  public var limit: UInt32

  public init(
    container: String = "",
    environment: String = "",
    user: String = "",
    before: UInt32 = 0,
    limit: UInt32 = 0
  ) {
    self.container = container
    self.environment = environment
    self.user = user
    self.before = before
    self.limit = limit
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaHistoryRequest> {
    let m = arena.make(Caravan__V1__SchemaHistoryRequest.self, caravan__v1__schema_history_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if before != 0 { m.pointee.has_before = 1; m.pointee.before = before }
    if limit != 0 { m.pointee.has_limit = 1; m.pointee.limit = limit }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaHistoryRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    user = try copyText(m.pointee.user)
    before = m.pointee.has_before != 0 ? m.pointee.before : 0
    limit = m.pointee.has_limit != 0 ? m.pointee.limit : 0
  }

  static let shape = 302

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_history_request__get_packed_size(m)) {
      caravan__v1__schema_history_request__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_history_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaHistoryReply: WireMessage, Equatable {
  public var changes: [SchemaChange]
  public var more: Bool

  public init(
    changes: [SchemaChange] = [],
    more: Bool = false
  ) {
    self.changes = changes
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaHistoryReply> {
    let m = arena.make(Caravan__V1__SchemaHistoryReply.self, caravan__v1__schema_history_reply__init)
    (m.pointee.n_changes, m.pointee.changes) = arena.messages(changes) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaHistoryReply>) throws(WireError) {
    changes = try copyMessages(m.pointee.n_changes, m.pointee.changes) { (p) throws(WireError) in
      try SchemaChange(c: p)
    }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 303

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_history_reply__get_packed_size(m)) {
      caravan__v1__schema_history_reply__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_history_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MembersRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var user: String
  public var byOperator: Bool
  public var give: RoleMember?
  public var take: RoleMember?
  public var role: String
  public var after: RoleMember?

  public init(
    container: String = "",
    environment: String = "",
    user: String = "",
    byOperator: Bool = false,
    give: RoleMember? = nil,
    take: RoleMember? = nil,
    role: String = "",
    after: RoleMember? = nil
  ) {
    self.container = container
    self.environment = environment
    self.user = user
    self.byOperator = byOperator
    self.give = give
    self.take = take
    self.role = role
    self.after = after
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MembersRequest> {
    let m = arena.make(Caravan__V1__MembersRequest.self, caravan__v1__members_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if byOperator { m.pointee.has_by_operator = 1; m.pointee.by_operator = byOperator ? 1 : 0 }
    if let give { m.pointee.give = give.pack(into: &arena) }
    if let take { m.pointee.take = take.pack(into: &arena) }
    if !role.isEmpty { m.pointee.role = arena.string(role) }
    if let after { m.pointee.after = after.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MembersRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    user = try copyText(m.pointee.user)
    byOperator = m.pointee.has_by_operator != 0 ? m.pointee.by_operator != 0 : false
    give = if let p = m.pointee.give { try RoleMember(c: p) } else { nil }
    take = if let p = m.pointee.take { try RoleMember(c: p) } else { nil }
    role = try copyText(m.pointee.role)
    after = if let p = m.pointee.after { try RoleMember(c: p) } else { nil }
  }

  static let shape = 304

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__members_request__get_packed_size(m)) { caravan__v1__members_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__members_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RoleMember: WireMessage, Equatable {
  public var role: String
  public var user: String

  public init(
    role: String = "",
    user: String = ""
  ) {
    self.role = role
    self.user = user
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RoleMember> {
    let m = arena.make(Caravan__V1__RoleMember.self, caravan__v1__role_member__init)
    if !role.isEmpty { m.pointee.role = arena.string(role) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RoleMember>) throws(WireError) {
    role = try copyText(m.pointee.role)
    user = try copyText(m.pointee.user)
  }

  static let shape = 305

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__role_member__get_packed_size(m)) { caravan__v1__role_member__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__role_member__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct MembersReply: WireMessage, Equatable {
  public var roles: [String]
  public var members: [RoleMember]
  public var more: Bool
  public var changed: Bool

  public init(
    roles: [String] = [],
    members: [RoleMember] = [],
    more: Bool = false,
    changed: Bool = false
  ) {
    self.roles = roles
    self.members = members
    self.more = more
    self.changed = changed
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__MembersReply> {
    let m = arena.make(Caravan__V1__MembersReply.self, caravan__v1__members_reply__init)
    (m.pointee.n_roles, m.pointee.roles) = arena.strings(roles)
    (m.pointee.n_members, m.pointee.members) = arena.messages(members) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    if changed { m.pointee.has_changed = 1; m.pointee.changed = changed ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__MembersReply>) throws(WireError) {
    roles = try copyStrings(m.pointee.n_roles, m.pointee.roles)
    members = try copyMessages(m.pointee.n_members, m.pointee.members) { (p) throws(WireError) in try RoleMember(c: p) }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
    changed = m.pointee.has_changed != 0 ? m.pointee.changed != 0 : false
  }

  static let shape = 306

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__members_reply__get_packed_size(m)) { caravan__v1__members_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__members_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RolesRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var user: String
  public var among: [String]

  public init(
    container: String = "",
    environment: String = "",
    user: String = "",
    among: [String] = []
  ) {
    self.container = container
    self.environment = environment
    self.user = user
    self.among = among
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RolesRequest> {
    let m = arena.make(Caravan__V1__RolesRequest.self, caravan__v1__roles_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    (m.pointee.n_among, m.pointee.among) = arena.strings(among)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RolesRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    user = try copyText(m.pointee.user)
    among = try copyStrings(m.pointee.n_among, m.pointee.among)
  }

  static let shape = 307

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__roles_request__get_packed_size(m)) { caravan__v1__roles_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__roles_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RolesReply: WireMessage, Equatable {
  public var roles: [String]

  public init(
    roles: [String] = []
  ) {
    self.roles = roles
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RolesReply> {
    let m = arena.make(Caravan__V1__RolesReply.self, caravan__v1__roles_reply__init)
    (m.pointee.n_roles, m.pointee.roles) = arena.strings(roles)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RolesReply>) throws(WireError) {
    roles = try copyStrings(m.pointee.n_roles, m.pointee.roles)
  }

  static let shape = 308

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__roles_reply__get_packed_size(m)) { caravan__v1__roles_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__roles_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaCall: WireMessage, Equatable {
  public enum Call: Sendable, Equatable {
    case change(ChangeSchemaRequest)
    case list(ListTypesRequest)
    case history(SchemaHistoryRequest)
    case members(MembersRequest)
  }

  public var call: Call?

  public init(
    call: Call? = nil
  ) {
    self.call = call
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaCall> {
    let m = arena.make(Caravan__V1__SchemaCall.self, caravan__v1__schema_call__init)
    switch call {
    case .change(let value):
      m.pointee.call_case = CARAVAN__V1__SCHEMA_CALL__CALL_CHANGE
      m.pointee.change = value.pack(into: &arena)
    case .list(let value):
      m.pointee.call_case = CARAVAN__V1__SCHEMA_CALL__CALL_LIST
      m.pointee.list = value.pack(into: &arena)
    case .history(let value):
      m.pointee.call_case = CARAVAN__V1__SCHEMA_CALL__CALL_HISTORY
      m.pointee.history = value.pack(into: &arena)
    case .members(let value):
      m.pointee.call_case = CARAVAN__V1__SCHEMA_CALL__CALL_MEMBERS
      m.pointee.members = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaCall>) throws(WireError) {
    switch m.pointee.call_case {
    case CARAVAN__V1__SCHEMA_CALL__CALL_CHANGE: call = .change(try ChangeSchemaRequest(c: m.pointee.change))
    case CARAVAN__V1__SCHEMA_CALL__CALL_LIST: call = .list(try ListTypesRequest(c: m.pointee.list))
    case CARAVAN__V1__SCHEMA_CALL__CALL_HISTORY: call = .history(try SchemaHistoryRequest(c: m.pointee.history))
    case CARAVAN__V1__SCHEMA_CALL__CALL_MEMBERS: call = .members(try MembersRequest(c: m.pointee.members))
    default: call = nil
    }
  }

  static let shape = 309

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_call__get_packed_size(m)) { caravan__v1__schema_call__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_call__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct SchemaAnswer: WireMessage, Equatable {
  public enum Answer: Sendable, Equatable {
    case change(ChangeSchemaReply)
    case list(ListTypesReply)
    case history(SchemaHistoryReply)
    case members(MembersReply)
  }

  public var answer: Answer?

  public init(
    answer: Answer? = nil
  ) {
    self.answer = answer
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__SchemaAnswer> {
    let m = arena.make(Caravan__V1__SchemaAnswer.self, caravan__v1__schema_answer__init)
    switch answer {
    case .change(let value):
      m.pointee.answer_case = CARAVAN__V1__SCHEMA_ANSWER__ANSWER_CHANGE
      m.pointee.change = value.pack(into: &arena)
    case .list(let value):
      m.pointee.answer_case = CARAVAN__V1__SCHEMA_ANSWER__ANSWER_LIST
      m.pointee.list = value.pack(into: &arena)
    case .history(let value):
      m.pointee.answer_case = CARAVAN__V1__SCHEMA_ANSWER__ANSWER_HISTORY
      m.pointee.history = value.pack(into: &arena)
    case .members(let value):
      m.pointee.answer_case = CARAVAN__V1__SCHEMA_ANSWER__ANSWER_MEMBERS
      m.pointee.members = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__SchemaAnswer>) throws(WireError) {
    switch m.pointee.answer_case {
    case CARAVAN__V1__SCHEMA_ANSWER__ANSWER_CHANGE: answer = .change(try ChangeSchemaReply(c: m.pointee.change))
    case CARAVAN__V1__SCHEMA_ANSWER__ANSWER_LIST: answer = .list(try ListTypesReply(c: m.pointee.list))
    case CARAVAN__V1__SCHEMA_ANSWER__ANSWER_HISTORY: answer = .history(try SchemaHistoryReply(c: m.pointee.history))
    case CARAVAN__V1__SCHEMA_ANSWER__ANSWER_MEMBERS: answer = .members(try MembersReply(c: m.pointee.members))
    default: answer = nil
    }
  }

  static let shape = 310

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__schema_answer__get_packed_size(m)) { caravan__v1__schema_answer__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__schema_answer__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct RegisteredContainer: WireMessage, Equatable {
  public var id: String
  public var name: String
  public var owner: String
  public var developers: [String]
  public var environments: [String]
  public var membersOnly: Bool
  public var invited: [String]

  public init(
    id: String = "",
    name: String = "",
    owner: String = "",
    developers: [String] = [],
    environments: [String] = [],
    membersOnly: Bool = false,
    invited: [String] = []
  ) {
    self.id = id
    self.name = name
    self.owner = owner
    self.developers = developers
    self.environments = environments
    self.membersOnly = membersOnly
    self.invited = invited
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__RegisteredContainer> {
    let m = arena.make(Caravan__V1__RegisteredContainer.self, caravan__v1__registered_container__init)
    if !id.isEmpty { m.pointee.id = arena.string(id) }
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if !owner.isEmpty { m.pointee.owner = arena.string(owner) }
    (m.pointee.n_developers, m.pointee.developers) = arena.strings(developers)
    (m.pointee.n_environments, m.pointee.environments) = arena.strings(environments)
    if membersOnly { m.pointee.has_members_only = 1; m.pointee.members_only = membersOnly ? 1 : 0 }
    (m.pointee.n_invited, m.pointee.invited) = arena.strings(invited)
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__RegisteredContainer>) throws(WireError) {
    id = try copyText(m.pointee.id)
    name = try copyText(m.pointee.name)
    owner = try copyText(m.pointee.owner)
    developers = try copyStrings(m.pointee.n_developers, m.pointee.developers)
    environments = try copyStrings(m.pointee.n_environments, m.pointee.environments)
    membersOnly = m.pointee.has_members_only != 0 ? m.pointee.members_only != 0 : false
    invited = try copyStrings(m.pointee.n_invited, m.pointee.invited)
  }

  static let shape = 311

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__registered_container__get_packed_size(m)) {
      caravan__v1__registered_container__pack(m, $0)
    }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__registered_container__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ContainersRequest: WireMessage, Equatable {
  public var name: String
  public var after: String
  public var create: Bool
  public var owner: String
  public var membersOnly: Bool
  public var allowDeveloper: String
  public var removeDeveloper: String
  public var invite: String
  public var uninvite: String

  public init(
    name: String = "",
    after: String = "",
    create: Bool = false,
    owner: String = "",
    membersOnly: Bool = false,
    allowDeveloper: String = "",
    removeDeveloper: String = "",
    invite: String = "",
    uninvite: String = ""
  ) {
    self.name = name
    self.after = after
    self.create = create
    self.owner = owner
    self.membersOnly = membersOnly
    self.allowDeveloper = allowDeveloper
    self.removeDeveloper = removeDeveloper
    self.invite = invite
    self.uninvite = uninvite
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ContainersRequest> {
    let m = arena.make(Caravan__V1__ContainersRequest.self, caravan__v1__containers_request__init)
    if !name.isEmpty { m.pointee.name = arena.string(name) }
    if !after.isEmpty { m.pointee.after = arena.string(after) }
    if create { m.pointee.has_create = 1; m.pointee.create = create ? 1 : 0 }
    if !owner.isEmpty { m.pointee.owner = arena.string(owner) }
    if membersOnly { m.pointee.has_members_only = 1; m.pointee.members_only = membersOnly ? 1 : 0 }
    if !allowDeveloper.isEmpty { m.pointee.allow_developer = arena.string(allowDeveloper) }
    if !removeDeveloper.isEmpty { m.pointee.remove_developer = arena.string(removeDeveloper) }
    if !invite.isEmpty { m.pointee.invite = arena.string(invite) }
    if !uninvite.isEmpty { m.pointee.uninvite = arena.string(uninvite) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ContainersRequest>) throws(WireError) {
    name = try copyText(m.pointee.name)
    after = try copyText(m.pointee.after)
    create = m.pointee.has_create != 0 ? m.pointee.create != 0 : false
    owner = try copyText(m.pointee.owner)
    membersOnly = m.pointee.has_members_only != 0 ? m.pointee.members_only != 0 : false
    allowDeveloper = try copyText(m.pointee.allow_developer)
    removeDeveloper = try copyText(m.pointee.remove_developer)
    invite = try copyText(m.pointee.invite)
    uninvite = try copyText(m.pointee.uninvite)
  }

  static let shape = 312

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__containers_request__get_packed_size(m)) { caravan__v1__containers_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__containers_request__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct ContainersReply: WireMessage, Equatable {
  public var containers: [RegisteredContainer]
  public var more: Bool

  public init(
    containers: [RegisteredContainer] = [],
    more: Bool = false
  ) {
    self.containers = containers
    self.more = more
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ContainersReply> {
    let m = arena.make(Caravan__V1__ContainersReply.self, caravan__v1__containers_reply__init)
    (m.pointee.n_containers, m.pointee.containers) = arena.messages(containers) { $0.pack(into: &$1) }
    if more { m.pointee.has_more = 1; m.pointee.more = more ? 1 : 0 }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ContainersReply>) throws(WireError) {
    containers = try copyMessages(m.pointee.n_containers, m.pointee.containers) { (p) throws(WireError) in
      try RegisteredContainer(c: p)
    }
    more = m.pointee.has_more != 0 ? m.pointee.more != 0 : false
  }

  static let shape = 313

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__containers_reply__get_packed_size(m)) { caravan__v1__containers_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__containers_reply__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
