import AgentCore
import Testing

/// Goal: Simba's Table 7 is in the code as it is printed. Method: its 24 lines in the paper's own letters, spelled out
/// again here. What each failure comes to is tried in the matrix of failures.
@Suite("Table 7")
struct Table7Tests {
  struct Line: Sendable, CustomTestStringConvertible {
    let operation: String
    let signs: (cells: String, objects: String)
    let recovery: (cells: String, objects: String)
    var testDescription: String {
      "\(operation): \(signs.cells) | \(signs.objects) → \(recovery.cells) | \(recovery.objects)"
    }

    init(_ operation: String, _ signs: (String, String), _ recovery: (String, String)) {
      self.operation = operation
      self.signs = signs
      self.recovery = recovery
    }
  }

  static let lines =
    ["a", "b", "c", "d"].map { Line($0, ("", ""), ("", "")) } + [
      Line("e", ("T", ""), ("N", "")),
      Line("f", ("", "C"), ("", "R")),
      Line("g", ("", "C,O"), ("", "LR,SR")),
      Line("h", ("T", "C,O"), ("N", "LR,SR")),
      Line("i", ("S", ""), ("R", "")),
      Line("j", ("S,R,F", ""), ("R,P", "")),
      Line("k", ("", "S,D"), ("", "R")),
      Line("l", ("", "S,D"), ("", "R")),
      Line("m", ("", "S,D,R"), ("", "R,LR")),
      Line("n", ("", "S,D,R,F"), ("", "R,LR,P")),
      Line("o", ("S", "S,D"), ("R", "R")),
      Line("p", ("S,R", "S,D,R"), ("R,LR", "R,LR")),
      Line("q", ("S,R,F", "S,D,R,F"), ("R,LR,P", "R,LR,P")),
      Line("r", ("", ""), ("", "")),
      Line("s", ("", ""), ("", "")),
      Line("t", ("T,R,F", ""), ("R,P", "")),
      Line("u", ("", "R"), ("", "R")),
      Line("v", ("", "O,R,F"), ("", "R,LR,P")),
      Line("w", ("R", "R"), ("LR", "LR")),
      Line("x", ("T,R,F", "O,R,F"), ("LR,P", "LR,P")),
    ]

  private static let signs: [String: RowOperation.Signs] = [
    "T": .tableDirty, "O": .objectDirty, "C": .openObjects, "D": .dirtyChunks, "S": .syncPending, "R": .response,
    "F": .conflict,
  ]
  private static let recoveries: [String: RowOperation.Recovery] = [
    "N": .none, "R": .reset, "P": .propagate, "LR": .local, "SR": .server,
  ]

  private static func set<Set: OptionSet>(_ text: String, _ letters: [String: Set]) -> Set where Set.Element == Set {
    text.split(separator: ",").reduce(into: Set()) { set, letter in
      if let member = letters[String(letter)] { set.insert(member) }
    }
  }

  @Test("SIM-74 Table 7", arguments: lines)
  func line(_ line: Line) throws {
    let operation = try #require(RowOperation(rawValue: line.operation))
    for (side, signs, recovery) in [
      (operation.cells, line.signs.cells, line.recovery.cells),
      (operation.objects, line.signs.objects, line.recovery.objects),
    ] {
      #expect((side == nil) == signs.isEmpty)
      #expect(side?.signs ?? [] == Self.set(signs, Self.signs))
      #expect(side?.recovery ?? [] == Self.set(recovery, Self.recoveries))
    }
  }

  @Test("SIM-74: 24 operations, 18 of which a failure can hurt")
  func complete() {
    #expect(Self.lines.map(\.operation) == RowOperation.allCases.map(\.rawValue))
    #expect(RowOperation.allCases.count { $0.cells != nil || $0.objects != nil } == 18)
  }
}
