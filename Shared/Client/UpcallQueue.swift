package import Wire

/// Upcalls that the app has not taken. Those of one kind and table are one, so there are as many as it watches tables,
/// times three, however long it does not look; and none is lost.
package struct UpcallQueue: Sendable {
  private var upcalls: [Wire.Upcall] = []

  package init() {}

  package mutating func add(_ upcall: Wire.Upcall) {
    let known = upcalls.firstIndex { $0.kind == upcall.kind && $0.table == upcall.table }
    guard let known else { return upcalls.append(upcall) }
    upcalls[known].fold(upcall)
  }

  package mutating func next() -> Wire.Upcall? { upcalls.isEmpty ? nil : upcalls.removeFirst() }
}

extension Wire.Upcall {
  /// New rows and lost ones are each told once; of conflicts each upcall says how many there are.
  fileprivate mutating func fold(_ later: Wire.Upcall) {
    rows = kind == .conflict ? later.rows : rows + later.rows
    lost = (lost + later.lost).suffix(ClientLimits.lostRowsNamed)
  }
}
