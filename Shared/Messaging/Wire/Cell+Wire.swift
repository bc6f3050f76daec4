public import CaravanModel

// Between the values of an app's rows and their message.

extension Cell {
  /// The cell of a column. An object has no value here: its bytes travel for themselves.
  public init(column: String, _ value: CaravanModel.Value) {
    let wire: Cell.Value? =
      switch value {
      case .null, .asset, .assetList: nil
      case .text(let text): .text(text)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .data(let bytes): .data(bytes)
      case .location(let place): .location(Location(place))
      case .reference(let reference): .reference(Reference(reference))
      case .list(let items): .list(ListValue(items))
      }
    self.init(column: column, value: wire)
  }

  /// - Throws: `invalidData` naming the column, for a location that is no place, a reference to a name that no row has,
  ///   and a list of more than one kind.
  public func model() throws(CaravanError) -> CaravanModel.Value {
    do throws(CaravanError) {
      switch value {
      case nil: return .null
      case .text(let text): return .text(text)
      case .integer(let number): return .integer(number)
      case .real(let number): return .real(number)
      case .data(let bytes): return .data(bytes)
      case .location(let place): return .location(try place.model())
      case .reference(let reference): return .reference(try reference.model())
      case .list(let list): return .list(try list.model())
      }
    } catch {
      throw CaravanError(error.code, "column '\(column.prefix(80))': \(error.message)")
    }
  }

  /// It holds what peers of earlier releases take for null (`knows_lists`).
  public var needsLists: Bool {
    switch value {
    case .location, .reference, .list: true
    case nil, .text, .integer, .real, .data: false
    }
  }
}
