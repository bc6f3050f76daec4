// Made by Protos/generate from caravan/v1/schema.proto. Do not edit.

internal import CProtobufC
internal import CWire

public struct ProposeTypeRequest: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var type: RecordType?

  public init(
    container: String = "",
    environment: String = "",
    type: RecordType? = nil
  ) {
    self.container = container
    self.environment = environment
    self.type = type
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__ProposeTypeRequest> {
    let m = arena.make(Caravan__V1__ProposeTypeRequest.self, caravan__v1__propose_type_request__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if let type { m.pointee.type = type.pack(into: &arena) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__ProposeTypeRequest>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
  }

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__propose_type_request__get_packed_size(m)) { caravan__v1__propose_type_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    guard let m = caravan__v1__propose_type_request__unpack(nil, data.count, data) else { throw .malformed("ProposeTypeRequest") }
    defer { caravan__v1__propose_type_request__free_unpacked(m, nil) }
    try self.init(c: m)
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

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_request__get_packed_size(m)) { caravan__v1__type_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    guard let m = caravan__v1__type_request__unpack(nil, data.count, data) else { throw .malformed("TypeRequest") }
    defer { caravan__v1__type_request__free_unpacked(m, nil) }
    try self.init(c: m)
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

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__type_reply__get_packed_size(m)) { caravan__v1__type_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    guard let m = caravan__v1__type_reply__unpack(nil, data.count, data) else { throw .malformed("TypeReply") }
    defer { caravan__v1__type_reply__free_unpacked(m, nil) }
    try self.init(c: m)
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

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_types_request__get_packed_size(m)) { caravan__v1__list_types_request__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    guard let m = caravan__v1__list_types_request__unpack(nil, data.count, data) else { throw .malformed("ListTypesRequest") }
    defer { caravan__v1__list_types_request__free_unpacked(m, nil) }
    try self.init(c: m)
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

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__list_types_reply__get_packed_size(m)) { caravan__v1__list_types_reply__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    guard let m = caravan__v1__list_types_reply__unpack(nil, data.count, data) else { throw .malformed("ListTypesReply") }
    defer { caravan__v1__list_types_reply__free_unpacked(m, nil) }
    try self.init(c: m)
  }
}
