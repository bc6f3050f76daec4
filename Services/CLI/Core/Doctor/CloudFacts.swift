/// What storage says of itself, for the suite that a doctor is asked about.
public struct CloudFacts: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// - Parameters:
    ///   - damagedChunks: that are absent until a device sends them again.
    ///   - damagedRecords: that nobody is shown until a device saves them anew.
    ///   - clockProblem: why the machine's clock is not believed; empty: it is.
    case answers(damagedChunks: UInt64, damagedRecords: UInt64 = 0, clockProblem: String)
    case silent(String)
  }

  public var directory: String
  public var state: State

  public init(directory: String, state: State) {
    self.directory = directory
    self.state = state
  }
}

extension Diagnosis {
  static func cloud(_ facts: CloudFacts) -> [Finding] {
    switch facts.state {
    case .silent(let reason):
      return [
        .problem(
          .cloud, "storage of the suite in \(facts.directory) does not answer (\(reason))",
          "start it: caravan up --dir \(facts.directory); its logs are in \(facts.directory)/logs")
      ]
    case .answers(let damaged, let records, let problem):
      var findings: [Finding] = []
      if damaged > 0 {
        findings.append(
          .warning(
            .cloud, "\(damaged) chunks of objects are damaged on storage's disk",
            "look at the disk (dmesg, smartctl); caravan damage lists them; devices that have them send them again"))
      }
      if records > 0 {
        findings.append(
          .warning(
            .cloud, "\(records) records are damaged on storage's disk, and shown to nobody",
            "look at the disk (dmesg, smartctl); caravan damage lists them; a record is whole again once a device that "
              + "has it saves it"))
      }
      if !problem.isEmpty {
        findings.append(.warning(.cloud, problem, "until then nothing is deleted because of its age"))
      }
      return findings.isEmpty ? [.ok(.cloud, "storage answers, and knows of no damage")] : findings
    }
  }
}
