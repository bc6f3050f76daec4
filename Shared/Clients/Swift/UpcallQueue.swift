package import CaravanWire

/// Upcalls that the app has not taken. Those of one kind and table are one, so there are as many as it watches tables,
/// times four, however long it does not look; and none is lost.
package struct UpcallQueue: Sendable {
  private var upcalls: [CaravanWire.Upcall] = []
  /// Number of the last event that has been told of each table.
  private var numbers: [String: UInt64] = [:]

  package init() {}

  package mutating func add(_ upcall: CaravanWire.Upcall) {
    numbers[upcall.table] = upcall.number
    let known = upcalls.firstIndex { $0.kind == upcall.kind && $0.table == upcall.table }
    guard let known else { return upcalls.append(upcall) }
    upcalls[known].fold(upcall)
  }

  /// - Returns: an upcall whose number says where somebody goes on who has taken it, and all before it.
  package mutating func next() -> CaravanWire.Upcall? {
    guard !upcalls.isEmpty else { return nil }
    var next = upcalls.removeFirst()
    // What waits behind it would not be told again from its end on.
    let waiting = upcalls.lazy.filter { $0.table == next.table }.map(\.after).min()
    next.number = waiting ?? numbers[next.table] ?? 0
    return next
  }
}

extension CaravanWire.Upcall {
  /// New rows and lost ones are each told once; of conflicts each upcall says how many there are.
  fileprivate mutating func fold(_ later: CaravanWire.Upcall) {
    rows = kind == .conflict ? later.rows : rows + later.rows
    lost = (lost + later.lost).suffix(ClientLimits.rowsNamed)
    rowIds = (rowIds + later.rowIds).suffix(ClientLimits.rowsNamed)
  }
}
