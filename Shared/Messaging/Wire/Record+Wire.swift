public import CaravanModel

extension Asset {
  public init(_ manifest: AssetManifest) {
    self.init(
      size: manifest.size, hashes: ChunkHash.joined(manifest.parts.lazy.map(\.hash)),
      lengths: manifest.parts.map(\.length))
  }

  /// An object whose chunks stand in a list.
  public init(list: ChunkHash, size: UInt64) { self.init(size: size, list: list.bytes) }

  /// The chunk that lists this object's; nil: they stand here.
  /// - Throws: `invalidData` when it is no hash, or chunks stand here as well.
  public func listHash() throws(CaravanError) -> ChunkHash? {
    if list.isEmpty { return nil }
    guard let hash = ChunkHash(list), list.count == ChunkHash.byteCount, hashes.isEmpty, lengths.isEmpty else {
      throw CaravanError(.invalidData, "an object has a list of \(list.count) bytes beside \(lengths.count) chunks")
    }
    return hash
  }

  /// The value of a field that holds this object.
  public func value() throws(CaravanError) -> CaravanModel.Value {
    if let list = try listHash() { .assetList(list, size: size) } else { .asset(try model()) }
  }

  /// What a list's chunk holds.
  /// - Throws: `invalidData` when it is no list, or not of an object of `size` bytes.
  public static func listed(_ bytes: [UInt8], size: UInt64) throws(CaravanError) -> AssetManifest {
    let asset = try Asset.decode(bytes)
    guard asset.list.isEmpty, asset.size == size else {
      throw CaravanError(.invalidData, "the list of an object of \(size) bytes is of one with \(asset.size)")
    }
    return try asset.model()
  }

  /// The chunks that stand here.
  /// - Throws: `invalidData` when hashes, lengths and size disagree; `limitExceeded` beyond `Limits.chunksPerObject`.
  public func model() throws(CaravanError) -> AssetManifest {
    let list = try ChunkHash.list(hashes)
    guard list.count == lengths.count, lengths.allSatisfy({ (1...UInt32(Limits.chunkBytes)).contains($0) }) else {
      throw CaravanError(.invalidData, "an object names \(list.count) chunks with \(lengths.count) usable lengths")
    }
    guard list.count <= Limits.chunksPerObject else {
      throw CaravanError(
        .limitExceeded,
        "an object has \(list.count) chunks: the limit is \(Limits.chunksPerObject), use a smaller object")
    }
    let manifest = AssetManifest(parts: zip(list, lengths).map { AssetManifest.Part(hash: $0, length: $1) })
    guard manifest.size == size else {
      throw CaravanError(.invalidData, "an object says it has \(size) bytes, its chunks have \(manifest.size)")
    }
    return manifest
  }
}

extension Location {
  public init(_ location: CaravanModel.Location) {
    self.init(latitude: location.latitude, longitude: location.longitude)
  }

  public func model() throws(CaravanError) -> CaravanModel.Location {
    try CaravanModel.Location(latitude: latitude, longitude: longitude)
  }
}

extension Reference {
  public init(_ reference: CaravanModel.Reference) {
    let kind: ReferenceKind =
      switch reference.kind {
      case .plain: .unspecified
      case .owning: .owning
      case .validating: .validating
      }
    self.init(target: reference.target, kind: kind)
  }

  /// - Throws: `invalidData` when no record can have the target's name.
  public func model() throws(CaravanError) -> CaravanModel.Reference {
    try RecordName.check(target)
    switch kind {
    case .unspecified: return CaravanModel.Reference(to: target)
    case .owning: return CaravanModel.Reference(to: target, .owning)
    case .validating: return CaravanModel.Reference(to: target, .validating)
    }
  }
}

extension ListValue {
  /// Items of another kind than the first are left out: a list has one.
  public init(_ items: [CaravanModel.Value]) {
    self.init()
    for item in items {
      switch (items[0], item) {
      case (.text, .text(let text)): texts.append(text)
      case (.integer, .integer(let number)): integers.append(number)
      case (.real, .real(let number)): reals.append(number)
      case (.data, .data(let bytes)): data.append(bytes)
      case (.asset, .asset(let manifest)), (.assetList, .asset(let manifest)): assets.append(Asset(manifest))
      case (.asset, .assetList(let list, let size)), (.assetList, .assetList(let list, let size)):
        assets.append(Asset(list: list, size: size))
      case (.location, .location(let place)): locations.append(Location(place))
      case (.reference, .reference(let reference)): references.append(Reference(reference))
      case (_, _): continue
      }
    }
  }

  /// - Throws: `invalidData` for items of more than one kind.
  public func model() throws(CaravanError) -> [CaravanModel.Value] {
    var items: [CaravanModel.Value] = texts.map { .text($0) } + integers.map { .integer($0) } + reals.map { .real($0) }
    items += data.map { .data($0) }
    for asset in assets { items.append(try asset.value()) }
    for location in locations { items.append(.location(try location.model())) }
    for reference in references { items.append(.reference(try reference.model())) }
    let counts = [
      texts.count, integers.count, reals.count, data.count, assets.count, locations.count, references.count,
    ]
    guard counts.count(where: { $0 > 0 }) <= 1 else {
      throw CaravanError(.invalidData, "a list has items of more than one kind: give it one")
    }
    return items
  }
}

extension Field {
  public init(id: UInt32, _ value: CaravanModel.Value) {
    let wire: Field.Value? =
      switch value {
      case .null: nil
      case .text(let text): .text(text)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .data(let bytes): .data(bytes)
      case .asset(let manifest): .asset(Asset(manifest))
      case .assetList(let list, let size): .asset(Asset(list: list, size: size))
      case .location(let place): .location(Location(place))
      case .reference(let reference): .reference(Reference(reference))
      case .list(let items): .list(ListValue(items))
      }
    self.init(id: id, value: wire)
  }

  public func model() throws(CaravanError) -> CaravanModel.Value {
    switch value {
    case nil: .null
    case .text(let text): .text(text)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .data(let bytes): .data(bytes)
    case .asset(let asset): try asset.value()
    case .location(let place): .location(try place.model())
    case .reference(let reference): .reference(try reference.model())
    case .list(let list): .list(try list.model())
    }
  }
}

extension Fields {
  public init(_ record: RecordFields) { self.init(fields: record.ascending.map { Field(id: $0.id, $0.value) }) }

  /// - Throws: `invalidData` when a field stands twice or its object is inconsistent.
  public func model() throws(CaravanError) -> RecordFields {
    var record = RecordFields()
    var seen: Set<UInt32> = []
    for field in fields {
      guard field.id > 0, seen.insert(field.id).inserted else {
        throw CaravanError(.invalidData, "field id \(field.id) is zero or stands twice in a record")
      }
      record[field.id] = try field.model()
    }
    return record
  }
}

extension RecordFields {
  /// The body a record is stored and sent as.
  public var body: [UInt8] { Fields(self).encoded() }

  /// - Throws: `invalidData` when `body` is no encoded `Fields`; `limitExceeded` beyond `Limits.recordBytes`.
  public init(body: [UInt8]) throws(CaravanError) {
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "a record has \(body.count) bytes: the limit is \(Limits.recordBytes), put large values in an object")
    }
    self = try Fields.decode(body).model()
  }
}

extension Entry {
  public init(_ entry: CaravanModel.Entry) {
    self.init(
      name: entry.name, version: entry.version, created: entry.created, deleted: entry.isDeleted, type: entry.type,
      body: entry.body, writer: entry.writer, expires: entry.expires == 0 ? nil : UInt64(entry.expires),
      fields: entry.fields)
    let authorship = entry.authorship
    modified = UInt64(max(0, authorship.modified))
    if authorship.created > 0 { age = UInt64(max(0, authorship.modified - authorship.created)) + 1 }
    if authorship.creator != entry.writer { creator = authorship.creator }
  }

  /// What is not known has no person.
  private var authorship: Authorship {
    let time = Int64(clamping: modified)
    guard age > 0, age <= UInt64(max(0, time)) else { return Authorship(modified: time, created: 0, creator: "") }
    return Authorship(
      modified: time, created: time - Int64(age - 1), creator: creator.isEmpty ? writer : creator)
  }

  public func model() -> CaravanModel.Entry {
    CaravanModel.Entry(
      name: name, version: version, created: created, isDeleted: deleted, type: type, body: body, writer: writer,
      expires: Int64(clamping: expires ?? 0), fields: fields, authorship: authorship)
  }
}

extension RecordType {
  public init(_ type: CaravanModel.RecordType) {
    self.init(
      id: type.id, definition: type.definition, name: type.name,
      fields: type.fields.map { FieldDefinition($0) }, settings: type.settings.map { TypeSettings($0) },
      grants: type.grants.map { TypeGrants($0) })
  }

  /// - Throws: `schemaViolation` when there are too many fields or one has no kind; `invalidData` for grants that make
  ///   no sense.
  public func model() throws(CaravanError) -> CaravanModel.RecordType {
    guard fields.count <= Limits.fieldsPerType else {
      throw CaravanError(
        .schemaViolation, "record type '\(name)' has \(fields.count) fields: the limit is \(Limits.fieldsPerType)")
    }
    var list: [CaravanModel.FieldDefinition] = []
    for field in fields { list.append(try field.model(of: name)) }
    return CaravanModel.RecordType(
      id: id, definition: definition, name: name, fields: list, settings: settings?.model(),
      grants: try grants.map { (grants) throws(CaravanError) in try grants.model() })
  }
}

extension FieldDefinition {
  public init(_ field: CaravanModel.FieldDefinition) {
    self.init(
      id: field.id, name: field.name, kind: FieldKind(field.kind), list: field.isList, encrypted: field.isEncrypted,
      indexes: field.indexes.map { UInt32($0.rawValue) })
  }

  /// - Throws: `schemaViolation` for a kind or an index that this release does not know.
  func model(of type: String) throws(CaravanError) -> CaravanModel.FieldDefinition {
    guard let kind = kind.model else {
      throw CaravanError(.schemaViolation, "field '\(name)' of '\(type)' has no kind this release knows")
    }
    return CaravanModel.FieldDefinition(
      id: id, name: name, kind: kind, isList: list, isEncrypted: encrypted,
      indexes: try indexes.map { (bits) throws(CaravanError) in try FieldIndexes(wire: bits) })
  }
}

extension FieldIndexes {
  /// - Throws: `schemaViolation` for bits that this release does not know.
  public init(wire bits: UInt32) throws(CaravanError) {
    guard let value = UInt8(exactly: bits), Self(rawValue: value).isSubset(of: [.queryable, .sortable, .searchable])
    else {
      throw CaravanError(
        .schemaViolation, "there is no index of bits \(bits): queryable is 1, sortable 2, searchable 4")
    }
    self.init(rawValue: value)
  }
}

extension TypeGrants {
  public init(_ grants: CaravanModel.TypeGrants) {
    self.init(
      world: UInt32(grants[.world].rawValue), authenticated: UInt32(grants[.authenticated].rawValue),
      creator: UInt32(grants[.creator].rawValue), server: UInt32(grants[.server].rawValue),
      own: grants.ownRoles.map { RoleRights(role: $0, rights: UInt32(grants[.own($0)].rawValue)) })
  }

  /// - Throws: `invalidData` for rights that this release does not know, or that a role cannot have; `limitExceeded`.
  public func model() throws(CaravanError) -> CaravanModel.TypeGrants {
    var grants = CaravanModel.TypeGrants.standard
    let said: [(CaravanModel.TypeGrants.Role, UInt32)] = [
      (.world, world), (.authenticated, authenticated), (.creator, creator), (.server, server),
    ]
    for (role, bits) in said { try grants.grant(CaravanModel.TypeGrants.Rights(wire: bits), to: role) }
    guard own.count <= Limits.ownRoles else {
      throw CaravanError(
        .limitExceeded,
        "a type grants something to \(own.count) roles of its container's own: the limit is "
          + "\(Limits.ownRoles)")
    }
    for role in own { try grants.grant(CaravanModel.TypeGrants.Rights(wire: role.rights), to: .own(role.role)) }
    return grants
  }
}

extension CaravanModel.TypeGrants.Rights {
  /// - Throws: `invalidData` for bits that this release does not know.
  init(wire bits: UInt32) throws(CaravanError) {
    guard let value = UInt8(exactly: bits), Self(rawValue: value).isSubset(of: [.create, .read, .write]) else {
      throw CaravanError(.invalidData, "there is no right of bits \(bits): create is 1, read 2, write 4")
    }
    self.init(rawValue: value)
  }
}

extension GrantedType {
  public init(_ type: CaravanModel.GrantedType) {
    self.init(name: type.name, versions: type.versions, grants: TypeGrants(type.grants))
  }

  public func model() throws(CaravanError) -> CaravanModel.GrantedType {
    CaravanModel.GrantedType(name: name, versions: versions, grants: try required(grants, "grants").model())
  }
}

extension RoleMember {
  public init(_ member: CaravanModel.RoleMember) { self.init(role: member.role, user: member.user.text) }

  /// - Throws: `invalidData` for a role or a user that cannot be.
  public func model() throws(CaravanError) -> CaravanModel.RoleMember {
    try OwnRole.check(role)
    return CaravanModel.RoleMember(role: role, user: try UserID(user))
  }
}

extension FieldKind {
  public init(_ kind: CaravanModel.FieldKind) {
    self =
      switch kind {
      case .text: .text
      case .integer: .integer
      case .real: .real
      case .data: .data
      case .object: .asset
      case .date: .date
      case .location: .location
      case .reference: .reference
      }
  }

  public var model: CaravanModel.FieldKind? {
    switch self {
    case .unspecified: nil
    case .text: .text
    case .integer: .integer
    case .real: .real
    case .data: .data
    case .asset: .object
    case .date: .date
    case .location: .location
    case .reference: .reference
    }
  }
}

extension ChangePosition {
  public init(_ position: CaravanModel.ChangePosition) {
    self.init(
      incarnation: position.incarnation, seq: position.seq, settled: position.settled, below: position.below,
      target: position.target)
  }

  public func model() -> CaravanModel.ChangePosition {
    CaravanModel.ChangePosition(incarnation: incarnation, seq: seq, settled: settled, below: below, target: target)
  }
}

extension DatabasePosition {
  public init(_ position: CaravanModel.DatabasePosition) { self.init(life: position.life, log: position.log) }
  public func model() -> CaravanModel.DatabasePosition { CaravanModel.DatabasePosition(life: life, log: log) }
}
