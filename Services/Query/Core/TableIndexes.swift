package import CaravanQuery

/// What of a table's indexes is ready.
package struct TableIndexes: Sendable, Hashable {
  package let table: Int64
  /// Which generation of the table's columns this is: of another one, a column may have another field's keys.
  package let generation: Int64
  /// Columns of keys, by field.
  package var slots: [UInt32: Int]
  /// Fields whose lists are found by their members, and whether the index has all members of every list.
  package var members: [UInt32: Bool]
  /// Fields whose texts are found by their words, and whether the index has all words of every text.
  package var words: [UInt32: Bool]

  package init(
    table: Int64, generation: Int64 = 0, slots: [UInt32: Int] = [:], members: [UInt32: Bool] = [:],
    words: [UInt32: Bool] = [:]
  ) {
    precondition(slots.values.allSatisfy { (1...QueryLimits.keysPerTable).contains($0) }, "a key has no column")
    self.table = table
    self.generation = generation
    self.slots = slots
    self.members = members
    self.words = words
  }

  func column(_ field: UInt32) -> String? { slots[field].map(Self.column) }

  package static func column(_ slot: Int) -> String { "k\(slot)" }

  /// In place of a record's members, where they are more than the index takes; no member has this key.
  package static let more = IndexKey.null

  /// What an index of words keeps for a word of a field: words of other tables and fields are other words to it, so
  /// that nobody's words are looked through for somebody else, and no phrase goes on in another field. The empty word
  /// stands for a text that has more words than the index takes.
  package static func token(_ word: String, table: Int64, field: UInt32) -> String {
    "\(String(table, radix: 36))_\(String(field, radix: 36))_\(word)"
  }
}
