import CaravanCLICore
import CaravanEncoding
import Testing

/// Goal: what is wrong is said with its cause and its remedy, and what is well is not. Method: tables of facts.
@Suite("The doctor's findings")
struct DiagnosisTests {
  static let now: Int64 = 1_760_000_000
  static let day: Int64 = 86_400

  static func facts(_ change: (inout DeviceFacts) -> Void = { _ in }) -> DeviceFacts {
    var facts = DeviceFacts(
      now: now, agent: AgentFacts(socket: "/s", state: .answers), credentials: credentials(),
      brokers: [BrokerFacts(url: "tls://b", state: .accepted, certificate: certificate(for: 90 * day))],
      data: DataFacts(directory: "/d", state: .writable(freeBytes: 1 << 40, freeFiles: 1 << 20), store: .sound),
      files: FileLimitFacts(limit: 1_024, isAgents: true))
    change(&facts)
    return facts
  }

  static func credentials(
    mode: UInt32 = 0o600, user: String? = "ada", issued: Int64 = now - day, expires: Int64? = nil
  ) -> CredentialsFacts {
    let token = CredentialsFacts.Token(device: "camera", user: user, issued: issued, expires: expires)
    return CredentialsFacts(file: "/c", mode: mode, content: .token(token))
  }

  static func certificate(
    for seconds: Int64, from start: Int64 = now - day, complaint: String? = nil
  ) -> BrokerFacts.Certificate {
    BrokerFacts.Certificate(notBefore: start, notAfter: now + seconds, complaint: complaint)
  }

  /// What is not well.
  static func complaints(_ change: (inout DeviceFacts) -> Void) -> [Finding] {
    Diagnosis.findings(facts(change)).filter { $0.level != .ok }
  }

  @Test("a device that is well: one line for each thing that was looked at, and nothing to do")
  func well() {
    let findings = Diagnosis.findings(Self.facts())
    #expect(findings.map(\.subject) == [.clock, .agent, .credentials, .broker, .certificate, .data, .store, .files])
    #expect(findings.allSatisfy { $0.level == .ok && $0.advice == nil })
    #expect(findings[2].meaning == "device 'camera' of user 'ada'")
    #expect(Diagnosis.findings(DeviceFacts(now: Self.now)).map(\.subject) == [.clock], "only what was looked at")
  }

  struct Case {
    let what: String
    let level: Finding.Level
    let subject: Finding.Subject
    let says: String
    let facts: DeviceFacts
  }

  static let cases: [Case] = {
    var cases: [Case] = []
    func when(
      _ what: String, _ level: Finding.Level, _ subject: Finding.Subject, _ says: String,
      _ change: (inout DeviceFacts) -> Void
    ) {
      cases.append(Case(what: what, level: level, subject: subject, says: says, facts: facts(change)))
    }
    func broker(_ what: String, _ says: String, _ state: BrokerFacts.State, _ level: Finding.Level = .problem) {
      when(what, level, .broker, says) { $0.brokers = [BrokerFacts(url: "nats://b", state: state)] }
    }
    when("lost clock", .problem, .clock, "before 2024") { $0 = DeviceFacts(now: 1_000) }
    when("clock behind the credentials", .problem, .clock, "at least 3 days behind") {
      $0.credentials = credentials(issued: now + 3 * day)
    }
    when("agent hangs", .problem, .agent, "does not answer") { $0.agent?.state = .silent }
    when("agent not started", .problem, .agent, "no socket at /s") { $0.agent?.state = .absent }
    when("agent crashed", .problem, .agent, "nobody listens") { $0.agent?.state = .deserted }
    when("socket closed to us", .problem, .agent, "(denied)") { $0.agent?.state = .refused("denied") }
    when("not enrolled", .problem, .credentials, "/c is not there") { $0.credentials?.content = .absent }
    when("unreadable", .problem, .credentials, "(denied)") { $0.credentials?.content = .unreadable("denied") }
    when("damaged", .problem, .credentials, "(no block)") { $0.credentials?.content = .malformed("no block") }
    when("open to all", .warning, .credentials, "mode 0644") { $0.credentials = credentials(mode: 0o644) }
    when("a service's", .problem, .credentials, "no device") { $0.credentials = credentials(user: nil) }
    when("expired", .problem, .credentials, "expired 2 days ago") {
      $0.credentials = credentials(expires: now - 2 * day)
    }
    when("soon expired", .warning, .credentials, "expires in 3 hours") {
      $0.credentials = credentials(expires: now + 3 * 3_600 + 5)
    }
    broker("no address", "is no address", .malformed)
    broker("no DNS", "(unknown host)", .unknownName("unknown host"))
    broker("no route", "cannot be reached (refused)", .unreachable("refused"))
    broker("a web server", "no broker", .noBroker)
    broker("nobody vouches", "who signed", .needsAuthority)
    broker("a stranger to it", "asks for a client certificate", .needsCertificate)
    broker("no TLS there", "no TLS", .lacksTLS)
    broker("TLS fails", "(self-signed)", .tlsFailed("self-signed"))
    broker("revoked", "refuses these credentials", .refused)
    broker("login fails", "(limit)", .failed("limit"))
    broker("nothing to log in with", "not known", .reached, .warning)
    when("certificate expired", .problem, .certificate, "expired 5 days ago") {
      $0.brokers[0].certificate = certificate(for: -5 * day)
    }
    when("certificate of a stranger", .problem, .certificate, "(who?)") {
      $0.brokers[0].certificate = certificate(for: 90 * day, complaint: "who?")
    }
    when("certificate soon expired", .warning, .certificate, "good for 3 days") {
      $0.brokers[0].certificate = certificate(for: 3 * day)
    }
    when("no directory", .problem, .data, "not there") { $0.data?.state = .absent }
    when("read-only", .problem, .data, "(read-only)") { $0.data?.state = .unwritable("read-only") }
    when("full", .problem, .data, "2 MiB free") { $0.data?.state = .writable(freeBytes: 2 << 20, freeFiles: 9_999) }
    when("no inodes", .problem, .data, "no more files") {
      $0.data?.state = .writable(freeBytes: 1 << 40, freeFiles: 0)
    }
    when("nearly full", .warning, .data, "100 MiB free") {
      $0.data?.state = .writable(freeBytes: 100 << 20, freeFiles: 9_999)
    }
    when("rot", .problem, .store, "in 2 places: page 7") { $0.data?.store = .damaged(["page 7", "page 8"]) }
    when("salvaged", .warning, .store, "3 pages") { $0.data?.recovery = "2026: damaged; lost: 3 pages" }
    when("store closed to us", .warning, .store, "(denied)") { $0.data?.store = .unread("denied") }
    let refusal = DataFacts.Refusal(digest: "", since: now - 3 * day)
    when("let in again", .warning, .broker, "for 3 days, and do not any more") { $0.data?.refusal = refusal }
    when("enrolled again", .problem, .broker, "for 3 days, with other credentials") {
      $0.data?.refusal = .init(digest: "x", since: now - 3 * day)
    }
    when("few files", .warning, .files, "64 files") { $0.files = FileLimitFacts(limit: 64, isAgents: false) }
    return cases
  }()

  @Test("each thing that is wrong is the only finding, and comes with what to do", arguments: cases.map(\.what))
  func wrong(what: String) throws {
    let wrong = try #require(Self.cases.first { $0.what == what })
    let findings = Diagnosis.findings(wrong.facts).filter { $0.level != .ok }
    #expect(findings.map(\.level) == [wrong.level] && findings.map(\.subject) == [wrong.subject])
    let finding = try #require(findings.first)
    #expect(finding.meaning.contains(wrong.says))
    #expect(finding.advice?.isEmpty == false)
    #expect(!finding.text.contains("\n") && finding.text.hasPrefix(wrong.level.rawValue))
  }

  @Test("REC-08: what the agent remembers of refusals is said beside what the broker says now")
  func refused() {
    let findings = Self.complaints {
      $0.brokers = [BrokerFacts(url: "nats://b", state: .refused)]
      $0.data?.refusal = .init(digest: "", since: Self.now - 3 * Self.day)
    }
    #expect(findings.map(\.level) == [.problem, .problem] && findings.map(\.subject) == [.broker, .broker])
    #expect(findings[1].meaning.contains("tries them once an hour"))
    #expect(findings[1].advice?.contains("reset-device") == true)
  }

  @Test("a device that is not enrolled is not told to start what does not start without credentials")
  func notEnrolled() {
    let findings = Self.complaints {
      $0.credentials?.content = .absent
      $0.agent?.state = .absent
    }
    #expect(findings.map(\.subject) == [.agent, .credentials])
    #expect(findings.first?.advice?.contains("credentials first") == true)
  }

  @Test("a certificate that begins later tells of the clock as well")
  func futureCertificate() {
    let certificate = Self.certificate(for: 90 * Self.day, from: Self.now + 9_000)
    let findings = Self.complaints { $0.brokers[0].certificate = certificate }
    #expect(findings.map(\.subject) == [.clock, .certificate])
    #expect(findings[0].meaning.contains("at least 2 hours behind"))
  }

  @Test("clocks that differ a little are no finding")
  func skew() {
    #expect(Self.complaints { $0.credentials = Self.credentials(issued: Self.now + 60) } == [])
  }

  @Test("credentials that their agent renews in time are no finding")
  func renewed() {
    let week = Self.credentials(issued: Self.now - 60, expires: Self.now + 7 * Self.day - 60)
    #expect(Self.complaints { $0.credentials = week } == [])
    let late = Self.credentials(issued: Self.now - 6 * Self.day, expires: Self.now + Self.day)
    #expect(Self.complaints { $0.credentials = late }.map(\.subject) == [.credentials])
  }

  @Test("for programs: level, subject, meaning and advice")
  func json() {
    let finding = Finding(.warning, .files, "few", advice: "more")
    #expect(
      finding.json.encoded() == #"{"level":"warning","subject":"files","meaning":"few","advice":"more"}"#)
    #expect(Finding(.ok, .agent, "answers").text == "ok       agent        answers")
  }
}
