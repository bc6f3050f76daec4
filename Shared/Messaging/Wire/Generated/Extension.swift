// Made by Protos/generate from caravan/v1/extension.proto. Do not edit.

internal import CCaravanProtobufC
internal import CCaravanWire

public struct Dispute: WireMessage, Equatable {
  public var container: String
  public var environment: String
  public var zone: String
  public var user: String
  public var type: RecordType?
  public var record: String
  public var client: [UInt8]
  public var partial: Bool
  public var server: [UInt8]
  public var version: UInt64
  public var ancestor: [UInt8]

  public init(
    container: String = "",
    environment: String = "",
    zone: String = "",
    user: String = "",
    type: RecordType? = nil,
    record: String = "",
    client: [UInt8] = [],
    partial: Bool = false,
    server: [UInt8] = [],
    version: UInt64 = 0,
    ancestor: [UInt8] = []
  ) {
    self.container = container
    self.environment = environment
    self.zone = zone
    self.user = user
    self.type = type
    self.record = record
    self.client = client
    self.partial = partial
    self.server = server
    self.version = version
    self.ancestor = ancestor
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Dispute> {
    let m = arena.make(Caravan__V1__Dispute.self, caravan__v1__dispute__init)
    if !container.isEmpty { m.pointee.container = arena.string(container) }
    if !environment.isEmpty { m.pointee.environment = arena.string(environment) }
    if !zone.isEmpty { m.pointee.zone = arena.string(zone) }
    if !user.isEmpty { m.pointee.user = arena.string(user) }
    if let type { m.pointee.type = type.pack(into: &arena) }
    if !record.isEmpty { m.pointee.record = arena.string(record) }
    if !client.isEmpty { m.pointee.has_client = 1; m.pointee.client = arena.bytes(client) }
    if partial { m.pointee.has_partial = 1; m.pointee.partial = partial ? 1 : 0 }
    if !server.isEmpty { m.pointee.has_server = 1; m.pointee.server = arena.bytes(server) }
    if version != 0 { m.pointee.has_version = 1; m.pointee.version = version }
    if !ancestor.isEmpty { m.pointee.has_ancestor = 1; m.pointee.ancestor = arena.bytes(ancestor) }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Dispute>) throws(WireError) {
    container = try copyText(m.pointee.container)
    environment = try copyText(m.pointee.environment)
    zone = try copyText(m.pointee.zone)
    user = try copyText(m.pointee.user)
    type = if let p = m.pointee.type { try RecordType(c: p) } else { nil }
    record = try copyText(m.pointee.record)
    client = m.pointee.has_client != 0 ? copyBytes(m.pointee.client) : []
    partial = m.pointee.has_partial != 0 ? m.pointee.partial != 0 : false
    server = m.pointee.has_server != 0 ? copyBytes(m.pointee.server) : []
    version = m.pointee.has_version != 0 ? m.pointee.version : 0
    ancestor = m.pointee.has_ancestor != 0 ? copyBytes(m.pointee.ancestor) : []
  }

  static let shape = 270

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__dispute__get_packed_size(m)) { caravan__v1__dispute__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__dispute__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}

public struct Decision: WireMessage, Equatable {
  public enum Kind: Sendable, Equatable {
    case merged([UInt8])
    case keep(Empty)
  }

  public var kind: Kind?

  public init(
    kind: Kind? = nil
  ) {
    self.kind = kind
  }

  func pack(into arena: inout Arena) -> UnsafeMutablePointer<Caravan__V1__Decision> {
    let m = arena.make(Caravan__V1__Decision.self, caravan__v1__decision__init)
    switch kind {
    case .merged(let value):
      m.pointee.kind_case = CARAVAN__V1__DECISION__KIND_MERGED
      m.pointee.merged = arena.bytes(value)
    case .keep(let value):
      m.pointee.kind_case = CARAVAN__V1__DECISION__KIND_KEEP
      m.pointee.keep = value.pack(into: &arena)
    case nil: break
    }
    return m
  }

  init(c m: UnsafePointer<Caravan__V1__Decision>) throws(WireError) {
    switch m.pointee.kind_case {
    case CARAVAN__V1__DECISION__KIND_MERGED: kind = .merged(copyBytes(m.pointee.merged))
    case CARAVAN__V1__DECISION__KIND_KEEP: kind = .keep(try Empty(c: m.pointee.keep))
    default: kind = nil
    }
  }

  static let shape = 271

  public func encoded() -> [UInt8] {
    var arena = Arena()
    let m = pack(into: &arena)
    return packed(caravan__v1__decision__get_packed_size(m)) { caravan__v1__decision__pack(m, $0) }
  }

  public init(decoding data: [UInt8]) throws(WireError) {
    self = try unpacked(data, Self.shape, caravan__v1__decision__unpack) { (m) throws(WireError) in
      try Self(c: m)
    }
  }
}
