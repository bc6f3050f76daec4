public import CaravanModel
internal import CaravanSQLite
public import CaravanStore

extension StoreSQLite {
  /// Of all files of a directory but the long chunks', while another process works on them or not.
  /// - Throws: `invalidData` when there are none.
  public static func weigh(_ directory: String) throws(CaravanError) -> StoreWeight {
    var (weight, number, count) = (StoreWeight(), 0, 1)
    while number < count {
      var options = ConnectionOptions()
      options.isReadOnly = true
      let db: Connection
      do throws(CaravanError) { db = try Connection(FilePlace(directory, number: number).database, options) } catch {
        throw CaravanError(.invalidData, "\(directory) holds no store: \(error.message)")
      }
      defer { db.close() }
      count = try db.first("SELECT files FROM meta") { Int($0.integer(0)) } ?? 0
      weight = weight + (try db.first(weights, read: StoreWeight.init) ?? StoreWeight())
      number += 1
    }
    return weight
  }

  /// A small integer takes one to four bytes, the first of which says how many.
  private static let weights: StaticString = """
    SELECT (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size),
      (SELECT coalesce(sum(length(CAST(name AS BLOB)) + length(body)), 0) FROM entries),
      (SELECT coalesce(sum(payload), 0) FROM dbstat WHERE name = 'log'), w.numbers, w.names, s.rows, s.bytes
    FROM (
      SELECT coalesce(sum(
          1 + CASE WHEN writer < 2 THEN 0 WHEN writer < 128 THEN 1 WHEN writer < 32768 THEN 2 ELSE 3 END), 0
        ) AS numbers,
        coalesce(sum(1 + length(w.name)), 0) AS names
      FROM entries JOIN writers w ON w.id = writer) AS w, (
      SELECT count(*) AS rows, coalesce(sum(length(body) + length(name) + 24), 0) AS bytes FROM superseded) AS s
    """
}

extension StoreWeight {
  fileprivate init(_ row: Row) {
    self.init()
    (tables, records, log) = (row.integer(0), row.integer(1), row.integer(2))
    (writers, writerNames) = (row.integer(3), row.integer(4))
    (supersededRows, superseded) = (row.integer(5), row.integer(6))
  }
}
