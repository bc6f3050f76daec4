import CaravanClient
import CaravanModel
import Testing

@testable import CaravanCLIDriver

@Suite struct QueryArgumentTests {
  @Test("UNI-15: a query has its arguments behind it, one for each '?'")
  func arguments() throws {
    let schema = try SchemaText(parsing: "list VARCHAR, n INTEGER")
    let found = try AppSelection("list = ? AND n < ?", ["7", "8"], schema: schema, flag: "--query")
    try found.requireNothingElse()
    #expect(found.selection.arguments == [.text("7"), .integer(8)])
    for (text, arguments) in [("n < ?", []), ("n < 5", ["5"]), (nil, ["5"])] as [(String?, [String])] {
      let error = #expect(throws: CaravanError.self) {
        try AppSelection(text, arguments, schema: schema, flag: "--query").requireNothingElse()
      }
      #expect(error?.message.contains("--query has") == true)
    }
  }
}
