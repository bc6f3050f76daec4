// Made by Protos/generate from caravan/v1/schema.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public struct ProposeTypeRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var type: RecordType?
  public var remembered: Bool
  public var user: String
  public var byOperator: Bool
  public var declared: Bool

  public init(
    container: String = "",
    environment: String = "",
    type: RecordType? = nil,
    remembered: Bool = false,
    user: String = "",
    byOperator: Bool = false,
    declared: Bool = false
  ) {
    self.container = container
    self.environment = environment
    self.type = type
    self.remembered = remembered
    self.user = user
    self.byOperator = byOperator
    self.declared = declared
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
  }

  static let shape = 226

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

  static let shape = 227

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

  static let shape = 228

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

  static let shape = 229

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

  static let shape = 230

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

  public init(
    types: [GrantedType] = []
  ) {
    self.types = types
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__GrantsReply> {
    let m = arena.make(Caravan__V1__GrantsReply.self, caravan__v1__grants_reply__init)
    (m.pointee.n_types, m.pointee.types) = arena.messages(types) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__GrantsReply>) throws(WireError) {
    types = try copyMessages(m.pointee.n_types, m.pointee.types) { (p) throws(WireError) in try GrantedType(c: p) }
  }

  static let shape = 231

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

  static let shape = 232

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

  static let shape = 233

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

  static let shape = 234

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

  public init(
    container: String = "",
    environment: String = ""
  ) {
    self.container = container
    self.environment = environment
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListTypesRequest> {
    let m = arena.make(Caravan__V1__ListTypesRequest.self, caravan__v1__list_types_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListTypesRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
  }

  static let shape = 235

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

  public init(
    types: [RecordType] = []
  ) {
    self.types = types
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ListTypesReply> {
    let m = arena.make(Caravan__V1__ListTypesReply.self, caravan__v1__list_types_reply__init)
    (m.pointee.n_types, m.pointee.types) = arena.messages(types) { $0.pack(into: &$1) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ListTypesReply>) throws(WireError) {
    types = try copyMessages(m.pointee.n_types, m.pointee.types) { (p) throws(WireError) in try RecordType(c: p) }
  }

  static let shape = 236

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

  static let shape = 237

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

  static let shape = 238

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

  static let shape = 239

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
