import Foundation

/// What pages say of declarations in the code, read from its text.
enum Declarations {
  // MARK: Metrics

  struct Metric: Hashable {
    let name: String
    let kind: String
    let help: String
  }

  static func metrics(_ files: [SourceFile]) -> [Metric] {
    var found: Set<Metric> = []
    for file in files where !file.path.hasPrefix("Tests/") && file.lines.contains(where: { $0.contains("Name(") }) {
      // Declarations are in code, examples in comments.
      let text = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
      let form = /(Counter|Gauge|Histogram)Name\(\s*"([^"]+)",\s*((?:"[^"]*"[\s+]*)+),?\s*\)/
      for match in text.matches(of: form) {
        let help = match.output.3.matches(of: /"([^"]*)"/).map { String($0.output.1) }.joined()
        found.insert(Metric(name: String(match.output.2), kind: match.output.1.lowercased(), help: help))
      }
    }
    return found.sorted { ($0.name, $0.help) < ($1.name, $1.help) }
  }

  /// Deploy/METRICS.md.
  static func metricsPage(_ metrics: [Metric]) -> String {
    let groups = Dictionary(grouping: metrics) { $0.name.split(separator: "_").prefix(2).joined(separator: "_") }
    let tables = groups.keys.sorted().map { group in
      let rows = (groups[group] ?? []).map { "| `\($0.name)` | \($0.kind) | \(cell($0.help)) |" }
      return "## \(group)\n\n| name | kind | meaning |\n|---|---|---|\n\(rows.joined(separator: "\n"))\n"
    }
    return """
      # Metrics

      This page is made from the declarations in the code, and a test compares it with them. The gateway's `/metrics`
      has those of all services with the labels `service` and `instance`; those of the agent are on the device, in
      `caravan app status --json` under `counters`. [monitoring.md](monitoring.md) says which deserve an alarm.

      \(tables.joined(separator: "\n"))
      """
  }

  // MARK: Limits

  struct Limit: Hashable {
    let name: String
    let value: String
    let meaning: String
  }

  /// Limits by the type that declares them: `enum …Limits` or `struct …Limits` with values of one line.
  static func limits(_ files: [SourceFile]) -> [(owner: String, path: String, limits: [Limit])] {
    var found: [(owner: String, path: String, limits: [Limit])] = []
    for file in files where !(["Tests/"] + Rule.examples).contains(where: file.path.hasPrefix) {
      guard file.lines.contains(where: { $0.contains("Limits") && $0.hasSuffix("{") }) else { continue }
      var owner: (name: String, limits: [Limit])?
      var comment: [String] = []
      for line in file.lines {
        // Most lines are neither, which is known sooner than by an expression.
        if line.hasSuffix("{"), line.contains("Limits"),
          let match = line.firstMatch(of: /^(?:public |package )?(?:enum|struct) (\w*Limits)\b.*\{$/)
        {
          owner = (String(match.output.1), [])
        } else if line == "}", let ended = owner {
          if !ended.limits.isEmpty { found.append((ended.name, file.path, ended.limits)) }
          owner = nil
        } else if line.hasPrefix("  ///") {
          comment.append(String(line.dropFirst(line.hasPrefix("  /// ") ? 6 : 5)))
          continue
        } else if owner != nil,
          let match = line.firstMatch(
            of: /^  (?:public |package |private )?(?:static let|var|let) (\w+)(?:: [^=]+)? = ([^{]+)$/)
        {
          owner?.limits.append(
            Limit(
              name: String(match.output.1), value: String(match.output.2), meaning: comment.joined(separator: " ")))
        }
        comment = []
      }
    }
    return found.sorted { ($0.path, $0.owner) < ($1.path, $1.owner) }
  }

  /// Deploy/LIMITS.md.
  static func limitsPage(_ all: [(owner: String, path: String, limits: [Limit])]) -> String {
    let tables = all.map { owner, path, limits in
      let rows = limits.map { "| `\($0.name)` | `\(cell($0.value))` | \(cell($0.meaning)) |" }
      return """
        ## \(path.split(separator: "/").dropLast().joined(separator: "/")): \(owner)

        | limit | value | meaning |
        |---|---|---|
        \(rows.joined(separator: "\n"))

        """
    }
    return """
      # Limits

      Every queue, message and table has a bound with a name. This page is made from the declarations in the code, and a
      test compares it with them. A value is written as it stands there: `4 << 20` is 4 MiB. A limit without a meaning
      belongs to the one above it. Whoever is over a limit hears
      [limitExceeded, serverBusy or rateLimited](troubleshooting.md#error-codes). [Quotas](quotas.md) and rates are
      settings.

      \(tables.joined(separator: "\n"))
      """
  }

  private static func cell(_ text: String) -> String { text.replacingOccurrences(of: "|", with: "\\|") }
}
