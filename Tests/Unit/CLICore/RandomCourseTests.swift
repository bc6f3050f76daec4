import CaravanCLICore
import CaravanEncoding
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: what the command line decides holds whatever brokers, files and people say. Method: random courses beside a
/// plain count.
@Suite struct RandomCourseTests {
  private static let seeds: Range<UInt64> = 1..<101

  @Test("TRU-08: devices are counted by what the broker said of each connection last")
  func connections() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      func connection() -> BrokerConnection {
        BrokerConnection(
          id: .init(server: "S", number: UInt64.random(in: 0..<12, using: &chance)),
          key: ["a", "b", "c"].randomElement(using: &chance) ?? "", issuer: Bool.random(using: &chance) ? "D" : "A",
          name: "cam")
      }
      var table = ConnectionTable(ConnectionLimits(each: 2, all: 10), signer: "D")
      var known: [BrokerConnection.ID: BrokerConnection] = [:]
      for _ in 0..<200 {
        let new = connection()
        switch Int.random(in: 0..<20, using: &chance) {
        case 0:
          let listed = (0..<5).map { _ in connection() }
          table.replace(with: listed)
          known = Dictionary(listed.map { ($0.id, $0) }) { _, last in last }
        case 1..<8:
          table.closed(new.id)
          known[new.id] = nil
        default:
          table.opened(new)
          known[new.id] = new
        }
        let counts = known.values.filter { $0.issuer == "D" }.reduce(into: [String: Int]()) {
          $0[$1.key, default: 0] += 1
        }
        #expect(table.count == known.count && table.devices == counts.count, "seed \(seed)")
        for (key, count) in counts { #expect(table.crowd(of: key)?.count == (count > 2 ? count : nil), "seed \(seed)") }
      }
    }
  }

  @Test("what is shown of a time reads as that time; no argument is lost before a word")
  func texts() throws {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let unit = ["s", "m", "h", "d"].randomElement(using: &chance) ?? "s"
      let text =
        "\(UInt32.random(in: 0...UInt32.max >> UInt32.random(in: 0..<32, using: &chance), using: &chance))\(unit)"
      let milliseconds = try LifetimeText.milliseconds(text)
      if milliseconds > 0 { #expect(try LifetimeText.milliseconds(LifetimeText.text(milliseconds)) == milliseconds) }
      let words = (0..<Int.random(in: 0..<8, using: &chance)).map { _ in
        ["--a", "--b", "--", "x", "y", ""].randomElement(using: &chance) ?? ""
      }
      let arguments = AppArguments.wordFirst(words, valued: ["a"])
      #expect(arguments.sorted() == words.sorted(), "seed \(seed)")
    }
  }

  @Test("a doctor speaks of everything it looked at, whatever numbers stand in the files")
  func facts() {
    let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, 1_800_000_000, .max - 1, .max]
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      func any() -> Int64 { extremes.randomElement(using: &chance) ?? 0 }
      let token = CredentialsFacts.Token(
        device: "cam", user: Bool.random(using: &chance) ? "ada" : nil, issued: any(),
        expires: Bool.random(using: &chance) ? any() : nil, digest: "d")
      let certificate = BrokerFacts.Certificate(notBefore: any(), notAfter: any(), complaint: nil)
      let facts = DeviceFacts(
        now: 1_800_000_000, credentials: CredentialsFacts(file: "f", mode: 0o600, content: .token(token)),
        brokers: [BrokerFacts(url: "tls://b:1", state: .accepted, certificate: certificate)],
        data: DataFacts(
          directory: "/d", state: .writable(freeBytes: any(), freeFiles: any()), store: .sound,
          refusal: .init(digest: "d", since: any())))
      let findings = Diagnosis.findings(facts)
      #expect(
        Set(findings.map(\.subject)).isSuperset(of: [.clock, .credentials, .broker, .certificate, .data, .store]))
      #expect(findings.allSatisfy { !$0.text.isEmpty })
    }
  }
}
