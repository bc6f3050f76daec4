public import CaravanModel
public import CaravanStore
internal import CaravanWire

/// What a store holds of one database, in words that two stores agree on: without the numbers that each gives by
/// itself to zones, positions and lives.
public enum StoreState {
  /// - Parameters:
  ///   - chunks: those whose presence matters.
  ///   - hasBodies: false: what is in the records does not matter.
  public static func text(
    of database: DatabaseID, in store: any Store, chunks: [ChunkHash] = [], hasBodies: Bool = true
  ) async throws(CaravanError) -> String {
    var lines: [String] = []
    let partition = Partition(of: database)
    for position in try await store.zones(in: partition, .database(database)) {
      lines.append("zone \(position.zone.name) at \(position.seq)")
      lines += try await pages(of: position.zone, in: store, hasBodies)
    }
    if !chunks.isEmpty {
      for chunk in try await store.chunks(chunks, in: database, maxBytes: .max) {
        lines.append("chunk \(chunk.bytes?.count ?? -1)")
      }
    }
    return (lines + (try await log(of: database, in: store))).joined(separator: "\n")
  }

  private static func pages(
    of zone: ZoneID, in store: any Store, _ hasBodies: Bool
  ) async throws(CaravanError) -> [String] {
    var query = ChangeQuery(zone: zone)
    var lines: [String] = []
    while true {
      let page = try await store.changes(query)
      for entry in try EntryPage.decode(page.page).entries { lines.append(text(of: entry, hasBodies)) }
      lines.append("to \(page.next?.seq ?? 0) of \(page.head)")
      guard page.more else { return lines }
      query.position = page.next
    }
  }

  private static func text(of entry: CaravanWire.Entry, _ hasBody: Bool) -> String {
    // The registry's history says who, and when.
    let isHistory = entry.type == 0 && (entry.name == "history" || entry.name.hasPrefix("schema."))
    let state = entry.deleted ? "deleted" : "of type \(entry.type): \(hasBody && !isHistory ? entry.body : [])"
    let rest = "expires \(entry.expires ?? 0), \(entry.fields.count) bytes of history"
    return "\(entry.name)@\(entry.version), made at \(entry.created), \(state), \(rest)"
  }

  private static func log(of database: DatabaseID, in store: any Store) async throws(CaravanError) -> [String] {
    var lines: [String] = []
    var position: UInt64 = 0
    while true {
      let page = try await store.log(of: Partition(of: database), after: position, atMost: 4_096)
      for entry in page.entries {
        // The log of a partition has no holes, whoever fills it.
        if entry.position != position + 1 { lines.append("a hole in the log before \(entry.position)") }
        position = entry.position
        guard entry.zone.database == database else { continue }
        let known = entry.writer.isEmpty ? "news to all" : "known to its writer"
        lines.append("log of \(entry.zone.name) (\(entry.low), \(entry.high)] \(known) \(entry.isDeletion)")
      }
      if page.entries.isEmpty || position >= page.head { return lines }
    }
  }
}
