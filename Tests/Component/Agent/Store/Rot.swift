import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

/// Harm done to a store's files.
enum Rot {
  /// In every file of the directory that has these bytes.
  static func turnBit(of bytes: [UInt8], in directory: String) throws {
    #expect(turn(bytes, in: directory) > 0, "the bytes are nowhere")
  }

  /// As `turnBit`, under a store that is open.
  static func turnBitInPlace(of bytes: [UInt8], in directory: String) { turn(bytes, in: directory) }

  @discardableResult
  private static func turn(_ bytes: [UInt8], in directory: String) -> Int {
    var turned = 0
    let needle = Array(bytes.prefix(64))
    for name in ["chunks.dat", "agent.db", "store-0.chunks"] {
      guard var content = Files.read("\(directory)/\(name)") else { continue }
      // What was deleted may still lie about beside what counts.
      while let place = find(needle, in: content) {
        content[place + needle.count / 2] ^= 1 << UInt8(needle.count % 8)
        turned += 1
      }
      Files.write(content, to: "\(directory)/\(name)")
    }
    return turned
  }

  private static func find(_ needle: [UInt8], in content: [UInt8]) -> Int? {
    guard let first = needle.first, content.count >= needle.count else { return nil }
    var start = 0
    while let place = content[start...].firstIndex(of: first), place + needle.count <= content.count {
      if content[place..<place + needle.count].elementsEqual(needle) { return place }
      start = place + 1
    }
    return nil
  }

  /// The row's name, behind its checksum's back.
  static func turnBit(
    ofRow id: String, from name: String, of table: TableID = StoreFixture.photos, in directory: String
  ) throws {
    let database = try Connection(.file("\(directory)/agent.db"), ConnectionOptions())
    defer { database.close() }
    let text = "UPDATE \"\(table.app)/\(table.name)\" SET name = ? WHERE _id = ? AND name = ?"
    try database.statement(text: text).run("\(name)!", id, name)
    #expect(database.changedRows == 1)
  }

  /// A row's flags as a crash would leave them.
  static func flags(
    _ flags: RowFlags, ofRow id: String, of table: TableID = StoreFixture.photos, in directory: String
  ) throws {
    let database = try Connection(.file("\(directory)/agent.db"), ConnectionOptions())
    defer { database.close() }
    let text = "UPDATE \"\(table.app)/\(table.name)\" SET _flags = ? WHERE _id = ?"
    try database.statement(text: text).run(flags.packed, id)
    #expect(database.changedRows == 1)
  }
}
