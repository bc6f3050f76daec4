/// What the facts of a device mean, and what to do about them.
public enum Diagnosis {
  /// Before it nothing of Caravan was made: a clock that shows less has been lost.
  static let earliest: Int64 = 1_704_067_200  // 2024-01-01
  /// Clocks of issuers and devices differ by this much.
  static let skewSeconds: Int64 = 120
  /// Of certificates, which people renew.
  static let soonSeconds: Int64 = 7 * 86_400
  /// The store needs room for its log beside what apps write.
  static let leastBytes: Int64 = 16 << 20
  static let fewBytes: Int64 = 256 << 20
  static let fewFiles: Int64 = 1_000
  /// 64 apps, with the store's readers and the broker.
  static let openFiles = 256

  /// In the order in which people should read them: a wrong clock explains much of what follows.
  public static func findings(_ facts: DeviceFacts) -> [Finding] {
    var findings = clock(facts)
    if let seen = facts.agent { findings += agent(seen, isEnrolled: facts.credentials?.content != .absent) }
    if let seen = facts.credentials { findings += credentials(seen, now: facts.now) }
    for seen in facts.brokers { findings += broker(seen, now: facts.now) }
    findings += refusal(facts)
    if let seen = facts.data { findings += data(seen) }
    if let seen = facts.files { findings += files(seen) }
    if let seen = facts.cloud { findings += cloud(seen) }
    checkInvariants(findings, facts)
    return findings
  }

  /// Whatever was looked at is spoken of, and nothing else is.
  private static func checkInvariants(_ findings: [Finding], _ facts: DeviceFacts) {
    precondition(findings.first?.subject == .clock, "a wrong clock explains what follows, and is not said first")
    let said = Set(findings.map(\.subject))
    for (subject, isSeen) in [
      (.agent, facts.agent != nil), (.credentials, facts.credentials != nil), (.data, facts.data != nil),
      (.store, facts.data != nil), (.files, facts.files != nil), (.cloud, facts.cloud != nil),
    ] as [(Finding.Subject, Bool)] {
      precondition(said.contains(subject) == isSeen, "nothing is said of the \(subject.rawValue), or without a look")
    }
    precondition(
      findings.count { $0.subject == .broker } >= facts.brokers.count, "of one of the brokers nothing is said")
  }

  // MARK: Clock

  private static func clock(_ facts: DeviceFacts) -> [Finding] {
    let advice = "set it (timedatectl set-ntp true), for certificates and credentials depend on it"
    guard facts.now >= earliest else {
      return [.problem(.clock, "the clock shows a time before 2024", advice)]
    }
    if case .token(let token)? = facts.credentials?.content, facts.now + skewSeconds < token.issued {
      let behind = span(from: facts.now, to: token.issued)
      return [.problem(.clock, "the clock is at least \(behind) behind: the credentials were made later", advice)]
    }
    if let certificate = facts.brokers.compactMap(\.certificate).first(where: {
      facts.now + skewSeconds < $0.notBefore
    }) {
      let behind = span(from: facts.now, to: certificate.notBefore)
      return [.problem(.clock, "the clock is at least \(behind) behind: a broker's certificate begins later", advice)]
    }
    return [.ok(.clock, "the time is plausible")]
  }

  // MARK: Agent

  private static func agent(_ facts: AgentFacts, isEnrolled: Bool) -> [Finding] {
    // systemd does not start it without credentials, and says nothing.
    let start =
      isEnrolled
      ? "systemctl start caravan-agent; journalctl -u caravan-agent -n 20 says why when it does not"
      : "it needs its credentials first; then systemctl start caravan-agent.socket caravan-agent"
    switch facts.state {
    case .answers: return [.ok(.agent, "answers at \(facts.socket)")]
    case .silent:
      return [
        .problem(.agent, "whoever listens at \(facts.socket) does not answer", "systemctl restart caravan-agent")
      ]
    case .absent: return [.problem(.agent, "does not run: there is no socket at \(facts.socket)", start)]
    case .deserted:
      return [.problem(.agent, "does not run: nobody listens at \(facts.socket), which a crash left behind", start)]
    case .refused(let reason):
      return [
        .problem(
          .agent, "cannot be asked at \(facts.socket) (\(reason))",
          "see that every user may read and write the socket and enter its directory")
      ]
    }
  }

  // MARK: Credentials

  private static func credentials(_ facts: CredentialsFacts, now: Int64) -> [Finding] {
    let enrol = "enrol the device: caravan device add --out FILE, and give FILE to the agent's user, mode 0600"
    switch facts.content {
    case .absent: return [.problem(.credentials, "\(facts.file) is not there", enrol)]
    case .unreadable(let reason):
      return [
        .problem(
          .credentials, "\(facts.file) cannot be read (\(reason))",
          "make the agent's user its owner: chown caravan, chmod 0600; and run this as that user")
      ]
    case .malformed(let reason): return [.problem(.credentials, "\(facts.file) is damaged (\(reason))", enrol)]
    case .token(let token): return secrecy(facts) + validity(token, file: facts.file, now: now, enrol: enrol)
    }
  }

  private static func secrecy(_ facts: CredentialsFacts) -> [Finding] {
    guard facts.mode & 0o077 != 0 else { return [] }
    let mode = String(facts.mode, radix: 8)
    return [
      .warning(
        .credentials, "\(facts.file) has mode 0\(mode), so that others may be this device", "chmod 0600 \(facts.file)")
    ]
  }

  private static func validity(
    _ token: CredentialsFacts.Token, file: String, now: Int64, enrol: String
  ) -> [Finding] {
    guard let user = token.user else {
      return [.problem(.credentials, "\(file) is of '\(token.device)', which is no device but a service", enrol)]
    }
    let name = "device '\(token.device)' of user '\(user)'"
    guard let expires = token.expires else { return [.ok(.credentials, name)] }
    if now >= expires {
      let renew = "caravan device renew \(file); what is not sent yet is kept"
      return [.problem(.credentials, "\(name) expired \(span(from: expires, to: now)) ago", renew)]
    }
    // An agent that is connected renews them when half of their time is over.
    if Double(expires) - Double(now) < (Double(expires) - Double(token.issued)) / 4 {
      let renew = "an agent that is connected renews them by itself; otherwise: caravan device renew \(file)"
      return [.warning(.credentials, "\(name) expires in \(span(from: now, to: expires))", renew)]
    }
    return [.ok(.credentials, "\(name), for \(span(from: now, to: expires))")]
  }

  // MARK: Data

  private static func data(_ facts: DataFacts) -> [Finding] {
    let place: Finding
    switch facts.state {
    case .absent:
      place = .problem(
        .data, "the directory \(facts.directory) is not there",
        "start the agent, which makes it, or make it yourself for the agent's user")
    case .unwritable(let reason):
      place = .problem(
        .data, "\(facts.directory) cannot be written (\(reason))",
        "make room, mount it writable, or make the agent's user its owner; and run this as that user")
    case .writable(let bytes, let files): place = room(facts.directory, bytes, files)
    }
    return [place] + store(facts) + recovery(facts)
  }

  private static func room(_ directory: String, _ bytes: Int64, _ files: Int64) -> Finding {
    let advice = "remove what is not needed, or move the data to a larger disk"
    let free = "\(bytes >> 20) MiB free for \(directory)"
    if files == 0 { return .problem(.data, "there can be no more files in \(directory)", advice) }
    if bytes < leastBytes { return .problem(.data, free, advice) }
    if bytes < fewBytes || files < fewFiles { return .warning(.data, "\(free), and \(files) files", advice) }
    return .ok(.data, free)
  }

  private static func store(_ facts: DataFacts) -> [Finding] {
    switch facts.store {
    case .absent: return [.ok(.store, "there is none yet")]
    case .sound: return [.ok(.store, "is sound")]
    case .damaged(let lines):
      let first = lines.first.map { ": \($0)" } ?? ""
      return [
        .problem(
          .store, "is damaged in \(lines.count) places\(first)",
          "look at the disk (dmesg, smartctl); make a file \(facts.directory)/agent.db-damaged and start the agent "
            + "again: it keeps the damaged file, carries over what can be read, and fetches again what the cloud has")
      ]
    case .unread(let reason):
      return [.warning(.store, "could not be examined (\(reason))", "run this as the agent's user")]
    }
  }

  private static func recovery(_ facts: DataFacts) -> [Finding] {
    guard let line = facts.recovery else { return [] }
    return [
      .warning(
        .store, line,
        "look at the disk (dmesg, smartctl); when nothing is missed, remove the damaged file and "
          + "\(facts.directory)/agent.db-salvaged.txt")
    ]
  }

  // MARK: Open files

  private static func files(_ facts: FileLimitFacts) -> [Finding] {
    let who = facts.isAgents ? "the agent" : "a process started from here"
    let text = "\(who) may have \(facts.limit) files open"
    guard facts.limit < openFiles else { return [.ok(.files, text)] }
    return [.warning(.files, text, "raise it to \(openFiles) at least: LimitNOFILE= of the unit, or ulimit -n")]
  }
}
