import CaravanBus
import CaravanBusNATS
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens

/// Clients of a whole suite of processes, while somebody else stops and kills those: what they saw is held against
/// CK-22 and CK-23.
struct HistoryTrial: Sendable {
  let urls: [String]
  let credentials: [Credentials]
  let key: KeyRing
  let seconds: Int
  let seed: UInt64
  let host: Host

  /// - Returns: whether all is sound.
  func run() async throws -> Bool {
    let recorder = CallRecorder()
    let devices = try credentials.map { try Device($0, key) }
    let end = host.clock.now + .seconds(seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, device) in devices.enumerated() {
        group.addTask {
          let bus = try await device.connect(urls, host)
          var witness = device.witness(bus, host, recorder, seed &+ UInt64(number) &* 77)
          while host.clock.now < end { await witness.act() }
          await bus.drain(deadline: .seconds(1))
        }
      }
      try await group.waitForAll()
    }
    let bus = try await devices[0].connect(urls, host)
    var last = devices[0].witness(bus, host, recorder, seed &+ 1_000)
    guard await last.look() else {
      print("nobody answers any more")
      return false
    }
    await bus.drain(deadline: .seconds(1))
    return report(recorder.calls)
  }

  private func report(_ calls: [ZoneCall]) -> Bool {
    let findings = ZoneHistory(calls).findings(isSerialisable: true)
    for finding in findings.prefix(5) { print(finding) }
    let answered = calls.count { $0.returned != nil }
    let (unknown, retried) = (calls.count - answered, calls.count { $0.isRetried })
    print(
      "\(calls.count) calls of \(credentials.count) clients, \(retried) asked again, \(unknown) without an answer: "
        + (findings.isEmpty ? "linearizable and serialisable" : "\(findings.count) findings"))
    return findings.isEmpty
  }

  private struct Device: Sendable {
    let name: EnrolledDevice
    let credentials: Credentials
    let settings: Witness.Settings

    init(_ credentials: Credentials, _ key: KeyRing) throws {
      self.credentials = credentials
      let claims = credentials.jwt.claims
      name = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
      let (user, container) = (name.user, try ContainerID("witnesses"))
      let zone = try ZoneID(DatabaseID(container: container, environment: .development, owner: user), "history")
      let tokens = TokenSeal(key: key)
      var settings = Witness.Settings(container: container) { try? tokens.open($0, of: zone).seq }
      settings.deadline = .milliseconds(1_500)
      self.settings = settings
    }

    func connect(_ urls: [String], _ host: Host) async throws -> NATSBus {
      var options = NATSOptions(urls: urls, credentials: credentials, name: name.text)
      options.lastRetry = .milliseconds(300)
      return try await NATSBus.connect(options, host: host)
    }

    func witness(_ bus: NATSBus, _ host: Host, _ recorder: CallRecorder, _ seed: UInt64) -> Witness {
      Witness(name, settings, bus: bus, host: host, recorder: recorder, seed: seed)
    }
  }
}
