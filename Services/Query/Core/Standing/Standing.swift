package import CaravanModel
package import CaravanQuery

/// A subscription to records, bound to their type.
package struct Standing: Sendable {
  package let expression: Expression<Condition>?
  /// nil: records of all zones count.
  package let zone: String?
  package let events: StandingQuery.Events
  /// What its notifications show.
  package let content: BoundContent

  /// - Throws: `schemaViolation`, `invalidData` or `limitExceeded`, as a query with its text.
  package init(_ query: StandingQuery, _ type: RecordType, in database: DatabaseID) throws(CaravanError) {
    guard case .records(_, let text, let zone, let events) = query.subject else {
      preconditionFailure("subscription '\(query.id)' is about no records")
    }
    expression =
      if let text { try type.expression(Query(database: database, type: type.name, text: text)) } else { nil }
    self.zone = zone
    self.events = events
    content = BoundContent(query.shows, type)
  }

  /// nil: it is looked at with each record of its type.
  package var anchors: [Anchor]? { expression.flatMap { Anchor.anchors($0) } }

  /// What the writing of a record means to it.
  /// - Parameters:
  ///   - before: nil: there was no such record of the type.
  ///   - after: nil: there is none any more.
  package func event(
    from before: RecordCells?, to after: RecordCells?, in zone: String
  ) -> NotificationLog.Reason? {
    if let own = self.zone, own.utf8.elementsEqual(zone.utf8) == false { return nil }
    switch (before.map(has) ?? false, after.map(has) ?? false) {
    case (false, true): return events.contains(.enters) ? .enters : nil
    case (true, false): return events.contains(.leaves) ? .leaves : nil
    case (true, true): return events.contains(.changes) ? .changes : nil
    case (false, false): return nil
    }
  }

  private func has(_ cells: RecordCells) -> Bool {
    guard let expression else { return true }
    return expression.truth { $0.truth(of: cells.cell($0.field, $0.kind, isList: $0.isList)) } == .yes
  }
}
