import CaravanCLICore
import CaravanModel
import Testing

@Suite struct LifetimeTextTests {
  @Test(
    "How long something lives is written with its unit, and read back",
    arguments: [("90s", 90_000), ("5m", 300_000), ("12h", 43_200_000), ("30d", 2_592_000_000)] as [(String, UInt64)])
  func times(text: String, milliseconds: UInt64) throws {
    #expect(try LifetimeText.milliseconds(text) == milliseconds)
    #expect(try LifetimeText.milliseconds(LifetimeText.text(milliseconds)) == milliseconds)
  }

  @Test("No time at all is 0")
  func none() throws { #expect(try LifetimeText.milliseconds("0") == 0) }

  /// A deletion after no grace begins at once: who says `never` means the contrary.
  @Test(
    "What is no time is refused, `never` as well",
    arguments: ["never", "", "d", "30", "-1d", "1.5h", "1w", "99999999999d", "1 d", "30 days"])
  func refused(text: String) {
    #expect(throws: CaravanError.self) { try LifetimeText.milliseconds(text) }
  }
}
