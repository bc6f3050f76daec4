extension Checker {
  /// Every row anybody read is exactly what one write made of it: cells and object, byte by byte.
  static let nothingTorn = Checker("I2 no torn row is visible") { history in
    func problems(_ rows: [SeenRow], _ place: Place, _ reader: String) -> [String] {
      rows.compactMap { row in
        guard let write = history.writes[row.tag] else {
          return "\(reader) read \(row.tag) in \(place): nobody wrote it"
        }
        guard write.place == place else { return "\(reader) read \(row.tag) in \(place): it belongs to \(write.place)" }
        return write.digest == row.digest
          ? nil : "\(reader) read row \(row.row) of \(place) with other content than \(row.tag) gave it"
      }
    }
    var found = history.readings.flatMap { problems($0.rows, $0.place, $0.device) }
    for (place, rows) in history.end.cloud.sorted(by: { $0.key < $1.key }) {
      found += problems(rows, place, "the cloud")
    }
    return found
  }

  static let chunksSound = Checker("I3 no dangling chunk, none leaked") { $0.end.chunkProblems }

  /// What a device holds is whole at the cloud again, and the rest is named as damaged.
  static let damageMended = Checker("TRU-10 acknowledged is readable, or said to be damaged") { $0.end.damageProblems }

  /// When all is quiet every device of a user holds what the cloud holds, or its share of that, and has nothing left to
  /// say.
  static let replicasEqual = Checker("I4 replicas converge when quiet") { history in
    var found: [String] = []
    for (device, places) in history.end.devices.sorted(by: { $0.key < $1.key }) {
      for (place, rows) in places.sorted(by: { $0.key < $1.key }) {
        let share = history.share(of: history.end.cloud[place] ?? [], at: place, on: device, here: rows)
        found += differences(rows, share).map { "\(device), \(place): \($0)" }
      }
    }
    return found
  }

  private static func differences(_ local: [SeenRow], _ cloud: [SeenRow]) -> [String] {
    let here = Dictionary(local.map { ($0.row, $0) }) { first, _ in first }
    let there = Dictionary(cloud.map { ($0.row, $0) }) { first, _ in first }
    return Set(here.keys).union(there.keys).sorted().compactMap { row in
      switch (here[row], there[row]) {
      case (let mine?, let theirs?):
        if mine.tag != theirs.tag || mine.seq != theirs.seq {
          return "row \(row) is \(mine.tag) at \(mine.seq) here and \(theirs.tag) at \(theirs.seq) at the cloud"
        }
        return mine.isClean ? nil : "row \(row) is still to be synced"
      case (let mine?, nil): return "row \(row) is \(mine.tag) here and not at the cloud, or none to be kept"
      case (nil, let theirs?): return "row \(row) is \(theirs.tag) at the cloud and not here"
      case (nil, nil): return nil
      }
    }
  }

  /// A query for everything finds what the cloud holds.
  static let queriesComplete = Checker("queries equal a full scan when quiet") { history in
    history.end.queried.sorted { $0.key < $1.key }.flatMap { place, hits in
      let rows = history.end.cloud[place] ?? []
      let expected = Dictionary(rows.map { ($0.row, $0.seq) }) { first, _ in first }
      return Set(expected.keys).union(hits.keys).sorted().compactMap { row -> String? in
        guard expected[row] != hits[row] else { return nil }
        let (found, held) = (hits[row].map { "at \($0)" } ?? "not", expected[row].map { "at \($0)" } ?? "not")
        return "\(place): row \(row) is \(held) in the zone and \(found) in the answer"
      }
    }
  }

  /// Clients of diff sync, native devices and the cloud have the same objects (I4, DIF-29).
  static let diffSyncConverges = Checker("I4 clients of diff sync converge with native devices when quiet") {
    $0.end.diffSyncProblems
  }

  /// Who registered for a table gets it without asking, once everything works again.
  static let progress = Checker("I16 what waits gets through once everything is up") { $0.end.stalled }
}
