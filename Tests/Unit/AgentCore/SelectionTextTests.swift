import CaravanAgentCore
import CaravanModel
import CaravanQuery
import Testing

@Suite("Selections as text")
struct SelectionTextTests {
  @Test(
    "plain expressions pass, their arguments counted",
    arguments: [
      ("name = ?", 1), ("name=? AND (date > ? OR photo IS NULL)", 2), ("name LIKE 'a''b?%'", 0), ("\"name\" = 'x'", 0),
      ("date - -1 > 0", 0), ("date / 2 = 1", 0), ("name || ? = 'a'", 1), ("hash = x'00FF'", 0),
    ])
  func accepted(text: String, count: Int) throws {
    #expect(try SelectionText(text, columns: ["name", "date"]).arguments == count)
  }

  @Test(
    "what could leave the parentheses is refused, with its place",
    arguments: [
      "1) OR (1", "(1", "name = 'x", "1; DROP TABLE x", "1 -- hide", "1 /* hide */", "name = :a", "name = ?1",
      "`name` = 1", "[name] = 1", "name = $1", "a$b = 1", "name = ?\u{b}", "\u{feff}name = 1", "\"nmae\" = 'x'", "",
      "  ",
      "name = \"x", "a\u{0}b", String(repeating: "(", count: 65),
    ])
  func refused(text: String) {
    #expect {
      _ = try SelectionText(text, columns: ["name"])
    } throws: { error in
      guard let error = error as? CaravanError else { return false }
      return error.code == .invalidData && error.message.contains("position")
    }
  }

  @Test("limits: bytes and arguments")
  func limits() {
    let many = Array(repeating: "a=?", count: 101).joined(separator: " OR ")
    #expect(throws: CaravanError.self) { try SelectionText(many, columns: ["a"]) }
    #expect(throws: CaravanError.self) { try SelectionText(String(repeating: "a", count: 9_000), columns: ["a"]) }
  }
}

@Suite("Objects being written")
struct ObjectOverlayTests {
  @Test("SIM-29: bytes that are held are counted once, whoever writes over them or behind them")
  func held() {
    var overlay = ObjectOverlay(below: 0)
    overlay.write([1, 2, 3], at: 0)
    overlay.write([4, 5], at: 3)
    #expect(overlay.byteCount == 5 && overlay.segmentCount == 1)
    overlay.write([6, 7], at: 1)
    #expect(overlay.byteCount == 5)
    overlay.write([8], at: 9)
    #expect(overlay.byteCount == 6 && overlay.segmentCount == 2)
    overlay.truncate(to: 2)
    #expect(overlay.byteCount == 2)
  }

  @Test("SIM-29: random writes and truncations read back as in one flat array")
  func model() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let below = (0..<Int.random(in: 0...200, using: &generator)).map { _ in UInt8.random(in: 1...9, using: &generator)
      }
      var flat = below
      var overlay = ObjectOverlay(below: below.count)
      for _ in 0..<12 {
        if Int.random(in: 0..<4, using: &generator) == 0 {
          let size = Int.random(in: 0...260, using: &generator)
          if size < flat.count {
            flat.removeLast(flat.count - size)
          } else {
            flat += [UInt8](repeating: 0, count: size - flat.count)
          }
          overlay.truncate(to: size)
        } else {
          let offset = Int.random(in: 0...250, using: &generator)
          let bytes = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
            UInt8.random(in: 10...99, using: &generator)
          }
          if offset > flat.count { flat += [UInt8](repeating: 0, count: offset - flat.count) }
          flat.replaceSubrange(offset..<min(flat.count, offset + bytes.count), with: bytes)
          overlay.write(bytes, at: offset)
        }
      }
      #expect(read(overlay, below, size: flat.count) == flat)
    }
  }

  private func read(_ overlay: ObjectOverlay, _ below: [UInt8], size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < size {
      switch overlay.source(at: bytes.count, count: min(7, size - bytes.count)) {
      case .written(let some): bytes += some
      case .below(let count): bytes += below[bytes.count..<bytes.count + count]
      case .zeros(let count): bytes += [UInt8](repeating: 0, count: count)
      }
    }
    return bytes
  }

  @Test("row ids sort by time, and by nothing else")
  func ids() {
    let ids = [0, 1, 1_700_000_000_000, 1_700_000_000_001].map {
      RowID.make(milliseconds: $0, random: Array(repeating: 255, count: 10))
    }
    #expect(ids == ids.sorted())
    #expect(ids.allSatisfy { $0.utf8.count == RowID.textCount })
    #expect(RowID.make(digest: Array(0..<32)) == RowID.make(digest: Array(0..<16)))
  }
}
