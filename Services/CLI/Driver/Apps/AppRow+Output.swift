internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel

extension AppRow.State {
  var name: String {
    switch self {
    case .clean: "clean"
    case .dirty: "dirty"
    case .pending: "pending"
    case .conflict: "conflict"
    }
  }
}

extension AppRow {
  /// - Parameter columns: those to show, in their order.
  func json(_ columns: [String]) -> JSON {
    var cells = JSON.Object()
    for column in columns where objects[column] == nil { cells[column] = self[column].json }
    var sizes = JSON.Object()
    for column in columns { sizes[column] = objects[column].map { .int(Int64(clamping: $0)) } }
    return [
      "id": .string(id), "version": .int(Int64(clamping: version)), "state": .string(state.name),
      "cells": .object(cells), "objects": .object(sizes), "refused": refused.isEmpty ? .null : .string(refused),
      "created": created?.json ?? .null, "modified": modified?.json ?? .null,
    ]
  }

  /// How it stands, as people read it.
  var standing: String { refused.isEmpty ? state.name : "\(state.name), refused: \(refused)" }

  /// A cell as people read it.
  /// - Parameter schema: nil: not known, and then dates are numbers.
  func shown(_ column: String, _ schema: SchemaText?) -> String {
    if let size = objects[column] { return Size.text(size) }
    let known = schema?.columns.first { $0.name.lowercased() == column.lowercased() }
    return self[column].shown(of: known?.kind)
  }

  /// Columns that there are, where the schema is not known.
  var columns: [String] { (Array(cells.keys) + Array(objects.keys)).sorted() }
}

extension RowAct {
  var json: JSON {
    ["time": .int(milliseconds), "user": user.isEmpty ? .null : .string(user), "device": .string(device)]
  }
}
