internal import AgentCore
internal import Model
internal import Wire

// Between a table's properties and their message, which apps send and the store keeps.

extension Wire.TableProperties {
  init(_ properties: AgentCore.TableProperties) {
    let mode: Wire.StoreMode =
      switch properties.mode {
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    self.init(
      replication: Wire.Replication(properties.replication), mode: mode,
      fetch: properties.fetch.sorted { $0.key < $1.key }.map {
        ObjectFetch(column: $0.key, policy: Wire.FetchPolicy($0.value))
      }, consistency: properties.consistency == .snapshot ? .snapshot : .row)
  }

  /// - Throws: `invalidData` for a column that is named twice.
  func model() throws(CaravanError) -> TableChange {
    var fetch: [String: AgentCore.FetchPolicy] = [:]
    for item in self.fetch {
      guard fetch.updateValue(item.policy.model, forKey: item.column) == nil else {
        throw CaravanError(.invalidData, "column '\(item.column.prefix(80))' has two fetch policies: give it one")
      }
    }
    let mode: AgentCore.StoreMode? =
      switch self.mode {
      case .unspecified: nil
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    let consistency: AgentCore.Consistency? =
      switch self.consistency {
      case .unspecified: nil
      case .row: .row
      case .snapshot: .snapshot
      }
    return TableChange(
      replication: try replication?.model(), mode: mode, fetch: fetch, consistency: consistency)
  }
}

extension Wire.Replication {
  fileprivate init(_ replication: AgentCore.Replication) {
    switch replication {
    case .full: self.init(sync: .full)
    case .localOnly: self.init(sync: .localOnly)
    case .recent(let window):
      self.init(sync: .recent, recentRows: window.rows ?? 0, recentMilliseconds: window.milliseconds ?? 0)
    case .query(let query):
      self.init(
        sync: .query,
        query: Wire.Selection(
          text: query.template, arguments: query.parameters.map { Cell(CellValue("", $0)) }))
    }
  }

  fileprivate func model() throws(CaravanError) -> AgentCore.Replication {
    switch sync {
    case .full: return .full
    case .localOnly: return .localOnly
    case .recent:
      return .recent(
        RecentWindow(
          rows: recentRows == 0 ? nil : recentRows, milliseconds: recentMilliseconds == 0 ? nil : recentMilliseconds))
    case .query:
      guard let query = query?.store else {
        throw CaravanError(.invalidData, "the rows of a table that are kept by a query need the query")
      }
      return .query(RowQuery(query.text, query.arguments))
    }
  }
}

extension Wire.FetchPolicy {
  fileprivate init(_ policy: AgentCore.FetchPolicy) {
    self =
      switch policy {
      case .eager: .eager
      case .lazy: .lazy
      case .none: .none
      }
  }

  fileprivate var model: AgentCore.FetchPolicy {
    switch self {
    case .eager: .eager
    case .lazy: .lazy
    case .none: .none
    }
  }
}
