import Foundation
import Testing

/// Goal: what the pages say stays true without anybody remembering them. Method: links, codes, metrics and limits are
/// held against the tree; each rule has something wrong that it must find.
@Suite struct DocumentTests {
  private static let files = Result { try SourceTree.files() }

  @Test("links of every page lead somewhere")
  func links() throws {
    let pages = try Documents.pages()
    #expect(pages.count > 25, "the pages were not found")
    let found = pages.flatMap { page in
      Documents.deadLinks(page) { path in Documents.exists(path) ? (try? Documents.text(path)) ?? "" : nil }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("a link to nothing and one to no heading are found")
  func deadLinks() {
    let page = (path: "a/b.md", text: "# It is `b`\n[x](../c.md) [y](d.md) [z](#it-is-b) [v](e.md#no) [w](https://x.y)")
    let found = Documents.deadLinks(page) { ["c.md": "", "a/e.md": "# Yes"][$0] }
    #expect(found == ["a/b.md: d.md leads nowhere", "a/b.md: e.md#no: no such heading"])
  }

  @Test("README.md is short, and its commands are marked to run")
  func readme() throws {
    let lines = try Documents.text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 151, "\(lines.count - 1) lines: move what is about one folder there")
    #expect(lines.contains("<!-- runs -->"))
  }

  @Test("METRICS.md has every metric that is declared")
  func metrics() throws {
    let metrics = Declarations.metrics(try Self.files.get())
    #expect(metrics.count > 50)
    #expect(
      try Documents.matches("Deploy/METRICS.md", Declarations.metricsPage(metrics)),
      "write it anew: CARAVAN_WRITE_DOCUMENTS=1 swift test --filter DocumentTests")
  }

  @Test("a metric over several lines is read whole, one in a comment or a test is not")
  func metricForms() {
    let code = """
      /// extension CounterName { static let a = CounterName("caravan_a_total", "No.") }
      static let b = GaugeName(
        "caravan_b_bytes",
        "Bytes, "
          + "all.")
      """
    let found = Declarations.metrics([
      SourceFile(path: "Shared/x.swift", text: code), SourceFile(path: "Tests/x.swift", text: code),
    ])
    #expect(found == [Declarations.Metric(name: "caravan_b_bytes", kind: "gauge", help: "Bytes, all.")])
    let inText = code.components(separatedBy: "Name(\n").count - 1
    #expect(inText == found.count)
  }

  @Test("every name of a metric in the code is declared in a form that is read")
  func metricsComplete() throws {
    let files = try Self.files.get().filter { file in
      !file.path.hasPrefix("Tests/") && file.lines.contains { $0.contains("Name(") }
    }
    let known = Set(Declarations.metrics(files).map(\.name))
    for file in files {
      let text = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
      for match in text.matches(of: /(?:Counter|Gauge|Histogram)Name\(\s*"([^"]+)"/) {
        #expect(known.contains(String(match.output.1)), "\(file.path): \(match.output.1)")
      }
    }
  }

  @Test("LIMITS.md has every limit that is declared")
  func limits() throws {
    let limits = Declarations.limits(try Self.files.get())
    #expect(limits.count > 20)
    #expect(
      try Documents.matches("Deploy/LIMITS.md", Declarations.limitsPage(limits)),
      "write it anew: CARAVAN_WRITE_DOCUMENTS=1 swift test --filter DocumentTests")
  }

  @Test("a limit is read with its value and its comment")
  func limitForms() {
    let code = """
      package enum XLimits {
        /// Of one
        /// thing.
        package static let one: Int64 = 4 << 20
        static let other = one | 1
        static func none() { let no = 1 }
      }
      let beside = 2
      """
    let found = Declarations.limits([SourceFile(path: "Shared/x.swift", text: code)])
    #expect(found.map(\.owner) == ["XLimits"])
    #expect(
      found.first?.limits == [
        Declarations.Limit(name: "one", value: "4 << 20", meaning: "Of one thing."),
        Declarations.Limit(name: "other", value: "one | 1", meaning: ""),
      ])
  }

  /// What a table or dictionary of `caravan app status` is called in the code, and what the page says of it.
  private static func statusNames(_ code: String, _ page: String) throws -> (code: Set<String>, page: Set<String>) {
    var names: Set<String> = []
    if let table = code.firstMatch(of: /TextTable\(\[([^\]]*)\]\)/) {
      for match in table.output.1.matches(of: /">?([A-Z ]+)"/) { names.insert(String(match.output.1)) }
    }
    for of in ["DeviceStatus", "DeviceStatus.Table"] {
      let head = "private static func json(_ \(of == "DeviceStatus" ? "status" : "table"): \(of)) -> JSON {"
      let start = try #require(code.range(of: head))
      let rest = code[start.upperBound...]
      let body = rest[..<(rest.range(of: "\n  }\n")?.lowerBound ?? rest.endIndex)]
      for match in body.matches(of: /[\[\s]"([a-z_]+)":/) where !["setting", "was", "now"].contains(match.output.1) {
        names.insert(String(match.output.1))
      }
    }
    let start = try #require(page.range(of: "## What `status` says\n"))
    let section = page[start.upperBound...]
    let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
    var told: Set<String> = []
    for line in section[..<end].split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").dropLast().joined(separator: "|")
      for match in cells.matches(of: /`([A-Z ]+|[a-z_]+)`/) { told.insert(String(match.output.1)) }
    }
    return (names, told)
  }

  @Test("the device's page explains every column and every key of status, and no other")
  func status() throws {
    let code = try Documents.text("Services/CLI/Driver/Apps/AppDeviceCommands.swift")
    let page = try Documents.text("Services/Agent/README.md")
    let names = try Self.statusNames(code, page)
    #expect(names.code.count > 35, "the columns were not found")
    #expect(names.code.subtracting(["tables"]).subtracting(names.page).sorted() == [], "the page does not say")
    #expect(names.page.subtracting(names.code).sorted() == [], "status does not have")
    #expect(try Self.statusNames(code, page.replacingOccurrences(of: "`DIRTY`", with: "`DIRT`")).page != names.page)
  }

  @Test("every error code is explained, with what helps, and no other is")
  func errors() throws {
    let source = try Documents.text("Shared/Values/Model/CaravanError.swift")
    let end = try #require(source.range(of: "\npublic struct CaravanError"))
    let codes = source[..<end.lowerBound].matches(of: /\n  case (\w+)/).map { String($0.output.1) }
    #expect(codes.count > 30)
    let page = try Documents.text("Deploy/troubleshooting.md")
    let rows = page.matches(of: /\n\| `(\w+)` \| [^|]+ \| [0-9]{3} \| [^|]+ \|/).map { String($0.output.1) }
    #expect(rows == codes)
  }

  @Test("the HTTP status of a code is the gateway's")
  func statuses() throws {
    let routes = try Documents.text("Services/Gateway/Driver/Routes.swift")
    let start = try #require(routes.range(of: "func status(of code: ErrorCode)"))
    var wanted: [String: String] = [:]
    for match in routes[start.upperBound...].matches(of: /case ([.\w,\s]+):\s+([0-9]{3})/) {
      for code in match.output.1.split(whereSeparator: { ".,\n ".contains($0) }) {
        wanted[String(code)] = String(match.output.2)
      }
    }
    let page = try Documents.text("Deploy/troubleshooting.md")
    let rows = page.matches(of: /\n\| `(\w+)` \| [^|]+ \| ([0-9]{3}) \|/)
    #expect(wanted.count > 30)
    for row in rows { #expect(wanted[String(row.output.1)] == String(row.output.2), "\(row.output.1)") }
  }
}
