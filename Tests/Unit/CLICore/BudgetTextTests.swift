import CaravanCLICore
import CaravanModel
import Testing

/// Goal: budgets are read as people write them, and nothing else is taken for one.
@Suite struct BudgetTextTests {
  @Test(
    "MOB-47: bytes with and without units; no budget at all",
    arguments: [
      ("cellular=50MB", 50_000_000), ("roaming=0", 0), ("wifi=1.5GiB", 1_610_612_736), ("cellular=300kb", 300_000),
      ("wired=7b", 7), ("cellular=8KiB", 8_192), ("wifi=unlimited", nil),
    ] as [(String, UInt64?)])
  func understood(text: String, bytes: UInt64?) throws {
    let budget = try BudgetText.parse(text)
    #expect(budget.bytes == bytes)
    #expect(text.hasPrefix(budget.link.name))
  }

  @Test(
    "What is no budget is refused",
    arguments: [
      "", "cellular", "cellular=", "cellular=many", "none=5MB", "cellular=-1", "cellular=1e40", "cellular=nan",
      "satellite=1MB", "cellular=5", "wifi=1e9",
    ])
  func refused(text: String) { #expect(throws: CaravanError.self) { try BudgetText.parse(text) } }
}
