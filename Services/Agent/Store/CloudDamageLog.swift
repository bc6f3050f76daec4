internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// What the cloud's disk has damaged of the rows here. It is remembered for `status` alone, and told again with every
/// hello.
final class CloudDamageLog: TablePart {
  let catalog: TableCatalog
  let ancestors: Ancestors
  let openWrites: OpenWrites
  /// Rows whose copies at the cloud are damaged, with the versions of those.
  private var cloudDamage: [TableID: [String: Seq]] = [:]

  init(catalog: TableCatalog, ancestors: Ancestors, openWrites: OpenWrites) {
    (self.catalog, self.ancestors, self.openWrites) = (catalog, ancestors, openWrites)
  }

  var isEmpty: Bool { cloudDamage.isEmpty }

  func note(_ rows: [CloudDamage], of table: TableID) throws(CaravanError) {
    guard !rows.isEmpty, try !state(table).isLocalOnly else { return }
    var isSent = false
    try change(table) { (state) throws(CaravanError) in
      for damage in rows {
        note(damage, in: table)
        guard var row = try state.rows.row(id: damage.row, database) else { continue }
        let before = row.head
        row.head.nameDamaged()
        if row.head.isCopy(of: damage), !openWrites.isOpen(row: row.id, of: table) {
          let old = row
          if row.head.write(RowChange(cells: true, objects: false)) == .keepAncestor {
            try ancestors.keep(old, in: state)
          }
          row.change = nextChange()
          isSent = true
        }
        if row.head != before { try state.rows.updateHead(row, database) }
      }
      try state.save(database)
    }
    if isSent { try catalog.tellCollectable(of: table) }
  }

  private func note(_ damage: CloudDamage, in table: TableID) {
    let known = cloudDamage[table, default: [:]]
    guard known.count < StoreLimits.cloudDamageNamed || known[damage.row] != nil else { return }
    if known[damage.row] ?? 0 < damage.version {
      host.log.warning(
        "the cloud's copy of a row is damaged: what is here of it stays",
        [.table: table, .record: damage.row, .seq: damage.version])
    }
    cloudDamage[table, default: [:]][damage.row] = damage.version
  }

  /// A newer version of the row has come, or gone.
  func isWhole(_ row: String, version: Seq, of table: TableID) {
    guard let damaged = cloudDamage[table]?[row], damaged < version else { return }
    cloudDamage[table]?[row] = nil
  }

  /// Ids of the first of them.
  func rows(of table: TableID) -> [String] { (cloudDamage[table] ?? [:]).keys.sorted() }
}
