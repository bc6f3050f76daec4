/// What of a table's indexes is ready.
package struct TableIndexes: Sendable, Hashable {
  package let table: Int64
  /// Columns of keys, by field.
  package var slots: [UInt32: Int]
  /// Fields whose lists are found by their members.
  package var members: Set<UInt32>
  /// Fields whose texts are found by their words.
  package var words: Set<UInt32>

  package init(table: Int64, slots: [UInt32: Int] = [:], members: Set<UInt32> = [], words: Set<UInt32> = []) {
    precondition(slots.values.allSatisfy { (1...QueryLimits.keysPerTable).contains($0) }, "a key has no column")
    self.table = table
    self.slots = slots
    self.members = members
    self.words = words
  }

  func column(_ field: UInt32) -> String? { slots[field].map(Self.column) }

  package static func column(_ slot: Int) -> String { "k\(slot)" }

  /// What an index of words keeps for a word of a field: words of other tables and fields are other words to it, so
  /// that nobody's words are looked through for somebody else, and no phrase goes on in another field.
  package static func token(_ word: String, table: Int64, field: UInt32) -> String {
    "\(String(table, radix: 36))_\(String(field, radix: 36))_\(word)"
  }
}
