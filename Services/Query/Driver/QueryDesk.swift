import Model
import QueryCore
import Runtime
import Wire

/// Answers `find`.
struct QueryDesk: Sendable {
  let writer: IndexWriter
  let reader: IndexReader
  let types: TypeSource
  let metrics: QueryMetrics

  func find(_ request: QueryRequest, in partition: Partition) async throws(CaravanError) -> QueryReply {
    let query = try request.model()
    let right = Partition(of: query.database)
    guard right == partition else {
      throw CaravanError(.invalidData, "database \(query.database) belongs to partition \(right), not \(partition)")
    }
    var type = try await types.type(named: query.type, of: query.database, isFresh: false)
    do throws(CaravanError) { try Self.check(query, type) } catch {
      // Perhaps a field that is newer than what is remembered.
      guard error.code == .schemaViolation else { throw error }
      type = try await types.type(named: query.type, of: query.database, isFresh: true)
    }
    let page = try await page(query, type, partition)
    metrics.hits.add(page.hits.count)
    return QueryReply(hits: page.hits, cursor: page.cursor, type: Wire.RecordType(type), position: page.position)
  }

  private static func check(_ query: Query, _ type: Model.RecordType) throws(CaravanError) {
    _ = try CompiledQuery(query, type: type, table: "r0")
  }

  private func page(
    _ query: Query, _ type: Model.RecordType, _ partition: Partition
  ) async throws(CaravanError) -> IndexReader.Page {
    let draft = try CompiledQuery(query, type: type, table: "r0")
    let key = TableKey(database: query.database, definition: type.definition)
    let table = try await writer.prepare(
      key, fields: type.fields.filter(\.isQueryable).map(\.id), indexed: draft.indexed.map(\.id))
    guard let table else { return IndexReader.Page(position: try await reader.position(of: partition)) }
    return try await reader.find(CompiledQuery(query, type: type, table: table), in: partition)
  }
}
