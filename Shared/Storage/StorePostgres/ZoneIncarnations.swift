internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Lives of a zone, as `DeviceStatements.lives` and `lastLives` tell of them.
struct ZoneIncarnations {
  /// Those that are over, in the order of the rows.
  var over: [PastIncarnation] = []
  /// Where the next one begins, at least; 0: there was none.
  var end: Seq { over.map(\.end).max() ?? 0 }

  /// From columns seq, stage, lost_through, reach: of a zone that nobody here knows, one row of the last alone.
  init(_ rows: Rows) {
    for row in rows {
      if row.isNull(0) {
        over += UnknownZone.lives(reach: row.unsigned(3))
      } else if row.integer(1) != ZoneStage.alive {
        over.append(PastIncarnation(seq: row.unsigned(0), lostThrough: row.unsigned(2)))
      }
    }
  }
}
