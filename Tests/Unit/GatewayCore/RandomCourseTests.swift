import CaravanEncoding
import CaravanGatewayCore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: what the gateway decides holds whatever anybody sends. Method: random courses beside a count; numbers that no
/// honest service says.
@Suite struct RandomCourseTests {
  @Test("nobody enrols more often than the rates allow, and no more addresses are remembered than there is room for")
  func rates() {
    for seed in 1..<51 as Range<UInt64> {
      var chance = SplitMix64(seed: seed)
      let (each, all) = (Rate(perSecond: 2, burst: 3), Rate(perSecond: 5, burst: 10))
      let capacity = Int.random(in: 1...6, using: &chance)
      var rate = EnrolmentRate(each: each, all: all, capacity: capacity)
      var (now, taken) = (UInt64(1_000_000_000), 0)
      let start = now
      for _ in 0..<400 {
        now += UInt64.random(in: 0...200_000_000, using: &chance)
        let address = "a\(Int.random(in: 0..<9, using: &chance))"
        if let wait = rate.take(from: address, at: now) {
          #expect(wait > 0)
        } else {
          taken += 1
        }
        #expect(rate.count <= capacity)
        #expect(UInt64(taken) <= all.burst + (now - start) * all.perSecond / 1_000_000_000 + 1, "seed \(seed)")
      }
      #expect(taken > 10)
    }
  }

  @Test("an enrolment token is one device's, whoever tries it, and its answer can be asked for again")
  func claims() throws {
    for seed in 1..<101 as Range<UInt64> {
      var chance = SplitMix64(seed: seed)
      var token = EnrolmentToken(
        user: try UserID("ada"), device: try DeviceID("phone"), environment: .development, expires: 50)
      var owner: String?
      for now in 0..<80 as Range<Int64> {
        let key = ["K1", "K2", "K3"].randomElement(using: &chance) ?? ""
        // It is written down, or somebody was quicker.
        let isWritten = Bool.random(using: &chance)
        switch Result(catching: { try token.claim(by: key, at: now) }) {
        case .success(.take(let taken)):
          #expect(owner == nil && now <= 50 && taken.claimedBy == key)
          guard isWritten else { continue }
          (token, owner) = (try EnrolmentToken(taken.fields), key)
        case .success(.repeatAnswer): #expect(owner == key)
        case .failure: #expect(owner != key && (owner != nil || now > 50))
        }
      }
    }
  }

  private static func stats(_ gauge: Double, requests: Int64, nanoseconds: Int64) -> JSON {
    [
      "name": "caravan-storage", "id": "1",
      "data": ["metrics": ["caravan_storage_damaged_chunks": ["series": [["value": .double(gauge)]]]]],
      "endpoints": [
        ["name": "commit", "num_requests": .int(requests), "num_errors": 0, "processing_time": .int(nanoseconds)]
      ],
    ]
  }

  @Test("a number that no count can be ends no gateway", arguments: [1e300, 1e19, -1e300, 0.5])
  func gauges(value: Double) throws {
    let report = SuiteReport(
      takenAt: 1, instances: [try InstanceReport(Self.stats(value, requests: 0, nanoseconds: 0))])
    #expect(report.warnings.count == (value > 0 ? 1 : 0))
    if value > 1e18 { #expect(report.warnings[0].hasPrefix("\(Int64.max) chunks")) }
  }

  @Test("a service that began anew under its old name has no rate until it was asked twice")
  func restarts() throws {
    func report(_ time: UInt64, _ requests: Int64, _ nanoseconds: Int64) throws -> SuiteReport {
      SuiteReport(
        takenAt: time,
        instances: [try InstanceReport(Self.stats(0, requests: requests, nanoseconds: nanoseconds))])
    }
    func latency(_ earlier: SuiteReport, _ later: SuiteReport) -> JSON? {
      later.json(since: earlier, required: [])["instances"]?.arrayValue?[0]["endpoints"]?.arrayValue?[0]["latency_ms"]
    }
    let before = try report(1_000_000_000, 10, 5_000_000)
    #expect(latency(before, try report(2_000_000_000, 12, 9_000_000)) == .double(2))
    // Quicker than it was before it began anew: more requests, and less time.
    #expect(latency(before, try report(2_000_000_000, 20, 1_000_000)) == .null)
    #expect(latency(before, try report(2_000_000_000, 3, 1_000_000)) == .null)
  }
}
