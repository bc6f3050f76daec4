/// Bounds of the query service.
package enum QueryLimits {
  /// Records of an answer to a query without a limit.
  package static let defaultRows = 100
  /// Bodies of one answer; a page ends early rather than go beyond.
  package static let answerBytes = 1 << 20
  /// A database that nobody has asked about for so long leaves the index, when it changes or its partition is taken
  /// over.
  package static let unaskedMilliseconds: Int64 = 30 * 86_400_000
  /// So exactly is known when it was asked about last: a question writes that down no more often.
  package static let askedMilliseconds: Int64 = 86_400_000
  /// Indexes of one table, made when a query first could use them; later ones are answered by scanning.
  package static let indexesPerTable = 16
  /// Record types kept, by id.
  package static let cachedTypes = 4_096
  /// How long the latest type of a name is believed.
  package static let latestTypeMilliseconds: Int64 = 2_000
  /// For what another partition has of a default zone.
  package static let shardDeadline: Duration = .seconds(5)
  /// Requests of one partition at a time.
  package static let inFlight = 8
  /// How long a change may wait for others, to be indexed together with them in one transaction; a query does not wait.
  package static let lingerMilliseconds: Int64 = 1_000
  /// So many change events, or bytes of them, are indexed at once.
  package static let hintsPerGroup = 200
  package static let groupBytes = 1 << 20
}
