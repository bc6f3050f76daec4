import CaravanEncoding
import Testing

/// Goal: a moment reads as it is written. Method: tables, and every day of some centuries.
@Suite struct RFC3339Tests {
  @Test("days and moments, with zones and fractions, are Unix milliseconds")
  func parsing() {
    let table: [(String, Int64?)] = [
      ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1),
      ("2026-11-27T10:00:00Z", 1_795_773_600_000), ("2026-11-27T11:00+01:00", 1_795_773_600_000),
      ("2026-11-27t04:30:00.5-05:30", 1_795_773_600_500), ("2026-11-27 10:00:00.1239Z", 1_795_773_600_123),
      ("2024-02-29", 1_709_164_800_000), ("0000-01-01", RFC3339.range.lowerBound),
      ("9999-12-31T23:59:59.999Z", RFC3339.range.upperBound),
      ("2023-02-29", nil), ("2026-13-01", nil), ("2026-00-01", nil), ("2026-01-00", nil), ("2026-01-32", nil),
      ("2026-11-27T10:00:00", nil), ("2026-11-27T24:00:00Z", nil), ("2026-11-27T10:60:00Z", nil),
      ("2026-11-27T10:00:00.Z", nil), ("2026-11-27T10:00:00Z ", nil), ("2026-1-1", nil), ("tomorrow", nil), ("", nil),
      ("2026-11-27T10:00:00+1:00", nil), ("+026-11-27", nil),
    ]
    for (text, milliseconds) in table { #expect(RFC3339.milliseconds(text) == milliseconds, "\(text)") }
  }

  @Test("every day reads as it is written")
  func days() {
    for day in stride(from: Int64(-800_000), through: 2_900_000, by: 17) {
      let moment = day * 86_400_000 + day & 0xffff
      guard RFC3339.range.contains(moment) else { continue }
      #expect(RFC3339.milliseconds(RFC3339.text(milliseconds: moment)) == moment)
    }
  }
}
