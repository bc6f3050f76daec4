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
      })
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
    return TableChange(replication: replication?.model, mode: mode, fetch: fetch)
  }
}

extension Wire.Replication {
  fileprivate init(_ replication: AgentCore.Replication) {
    switch replication {
    case .full: self.init(sync: .full)
    case .localOnly: self.init(sync: .localOnly)
    case .recent(let window):
      self.init(sync: .recent, recentRows: window.rows ?? 0, recentMilliseconds: window.milliseconds ?? 0)
    }
  }

  fileprivate var model: AgentCore.Replication {
    switch sync {
    case .full: .full
    case .localOnly: .localOnly
    case .recent:
      .recent(
        RecentWindow(
          rows: recentRows == 0 ? nil : recentRows, milliseconds: recentMilliseconds == 0 ? nil : recentMilliseconds))
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
