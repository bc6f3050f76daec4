internal import Model
internal import PostgreSQL
internal import Store

/// Lives of a zone, as `DeviceStatements.lives` and `lastLives` tell of them.
struct ZoneLives {
  /// Those that are over, in the order of the rows.
  var over: [PastLife] = []
  /// Where the next one begins, at least; 0: there was none.
  var end: Seq { over.map(\.end).max() ?? 0 }

  /// From columns seq, stage, restores: of a zone that nobody here knows, one row without the first two.
  init(_ rows: Rows) {
    for row in rows {
      if row.isNull(0) {
        over += UnknownZone.lives(restores: row.unsigned(2))
      } else if row.integer(1) != ZoneStage.alive {
        over.append(PastLife(seq: row.unsigned(0), isRestored: row.integer(1) == ZoneStage.restored))
      }
    }
  }
}
