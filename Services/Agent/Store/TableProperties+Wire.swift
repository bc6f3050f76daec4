package import CaravanAgentCore
package import CaravanModel
package import CaravanWire

// Between a table's properties and their message, which apps send and the store keeps.

extension CaravanWire.TableProperties {
  package init(_ properties: CaravanAgentCore.TableProperties) {
    let mode: CaravanWire.StoreMode =
      switch properties.mode {
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    self.init(
      replication: CaravanWire.Replication(properties.replication), mode: mode,
      fetch: properties.fetch.sorted { $0.key < $1.key }.map {
        ObjectFetch(column: $0.key, policy: CaravanWire.FetchPolicy($0.value))
      }, consistency: properties.consistency == .snapshot ? .snapshot : .row)
  }

  /// - Throws: `invalidData` for a column that is named twice.
  package func model() throws(CaravanError) -> TableChange {
    var fetch: [String: CaravanAgentCore.FetchPolicy] = [:]
    for item in self.fetch {
      guard fetch.updateValue(item.policy.model, forKey: item.column) == nil else {
        throw CaravanError(.invalidData, "column '\(item.column.prefix(80))' has two fetch policies: give it one")
      }
    }
    let mode: CaravanAgentCore.StoreMode? =
      switch self.mode {
      case .unspecified: nil
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    let consistency: CaravanAgentCore.Consistency? =
      switch self.consistency {
      case .unspecified: nil
      case .row: .row
      case .snapshot: .snapshot
      }
    return TableChange(
      replication: try replication?.model(), mode: mode, fetch: fetch, consistency: consistency)
  }
}

extension CaravanWire.Replication {
  fileprivate init(_ replication: CaravanAgentCore.Replication) {
    switch replication {
    case .full: self.init(sync: .full)
    case .localOnly: self.init(sync: .localOnly)
    case .recent(let window):
      self.init(sync: .recent, recentRows: window.rows ?? 0, recentMilliseconds: window.milliseconds ?? 0)
    case .query(let query):
      self.init(
        sync: .query,
        query: CaravanWire.Selection(
          text: query.template, arguments: query.parameters.map { Cell(CellValue("", $0)) }))
    }
  }

  fileprivate func model() throws(CaravanError) -> CaravanAgentCore.Replication {
    switch sync {
    case .full: return .full
    case .localOnly: return .localOnly
    case .recent:
      return .recent(
        RecentWindow(
          rows: recentRows == 0 ? nil : recentRows, milliseconds: recentMilliseconds == 0 ? nil : recentMilliseconds))
    case .query:
      guard let query = try query?.store() else {
        throw CaravanError(.invalidData, "the rows of a table that are kept by a query need the query")
      }
      return .query(RowQuery(query.text, query.arguments))
    }
  }
}

extension CaravanWire.FetchPolicy {
  fileprivate init(_ policy: CaravanAgentCore.FetchPolicy) {
    self =
      switch policy {
      case .eager: .eager
      case .lazy: .lazy
      case .none: .none
      }
  }

  fileprivate var model: CaravanAgentCore.FetchPolicy {
    switch self {
    case .eager: .eager
    case .lazy: .lazy
    case .none: .none
    }
  }
}
