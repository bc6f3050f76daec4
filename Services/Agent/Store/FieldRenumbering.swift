internal import CaravanModel
internal import CaravanWire

/// From the field ids of one version of a record type to those of another, by the fields' names.
struct FieldRenumbering {
  private let ids: [UInt32: UInt32]

  init(from old: CaravanModel.RecordType, to new: CaravanModel.RecordType) {
    var ids: [UInt32: UInt32] = [:]
    for field in old.fields {
      if let id = new.field(named: field.name)?.id, id != field.id { ids[field.id] = id }
    }
    self.ids = ids
  }

  var isEmpty: Bool { ids.isEmpty }

  /// Encoded fields with the new ids; those of which neither version knows stay as they are.
  func of(_ body: [UInt8]) throws(CaravanError) -> [UInt8] {
    var fields = try CaravanWire.Fields.decode(body).fields
    for index in fields.indices { fields[index].id = ids[fields[index].id] ?? fields[index].id }
    // What was written here under another number than what came from the cloud may be the same field.
    var seen: Set<UInt32> = []
    fields = fields.reversed().filter { seen.insert($0.id).inserted }
    fields.sort { $0.id < $1.id }
    return CaravanWire.Fields(fields: fields).encoded()
  }
}
