internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc
internal import SwiftOverlayShims

/// Goes towards a broker step by step (name, connection, greeting, certificate, credentials), so that one knows where
/// it ends.
struct BrokerProbe: Sendable {
  let credentials: Credentials?
  let tls: NATSOptions.TLS?
  let allowsClear: Bool
  let host: Host

  private static let loginDeadline: Duration = .seconds(5)

  func facts(_ url: String) async -> BrokerFacts {
    guard let address = HostPort(brokerURL: url) else { return BrokerFacts(url: url, state: .malformed) }
    var facts = await BrokerSteps(host).facts(url, address, tls: tls)
    guard facts.state == .reached else { return facts }
    if tls == nil, !allowsClear, !url.hasPrefix("tls://"), !address.isLoopback {
      facts.state = .inClear
      return facts
    }
    if credentials != nil { facts.state = await login(url) }
    switch facts.state {
    // The bus was content with the certificate.
    case .accepted, .refused: facts.certificate?.complaint = nil
    default: if let complaint = facts.certificate?.complaint { facts.state = .tlsFailed(complaint) }
    }
    return facts
  }

  private func login(_ url: String) async -> BrokerFacts.State {
    var options = NATSOptions(urls: [url], credentials: credentials, tls: tls, name: "caravan doctor")
    options.allowsClear = allowsClear
    do throws(CaravanError) {
      let bus = try await NATSBus.connect(options, host: host)
      do throws(CaravanError) {
        try await bus.waitUntilConnected(deadline: Self.loginDeadline)
        await bus.drain(deadline: Self.loginDeadline)
        return .accepted
      } catch {
        await bus.drain(deadline: .seconds(1))
        throw error
      }
    } catch {
      return error.code == .notAuthenticated ? .refused : .failed(error.message)
    }
  }
}

/// The steps that block, on a thread of their own.
actor BrokerSteps {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// For each of connection and greeting.
  private static let patienceSeconds = 5
  /// "INFO {…}" and a line feed.
  private static let greetingBytes = 64 << 10

  init(_ host: Host) { executor = host.executors.makeSerial("doctor") }

  func facts(_ url: String, _ address: HostPort, tls: NATSOptions.TLS?) -> BrokerFacts {
    var facts = BrokerFacts(url: url, state: .reached)
    switch Self.connection(address) {
    case .failure(let end): facts.state = end.state
    case .success(let descriptor):
      defer { close(descriptor) }
      guard let greeting = Self.greeting(descriptor) else {
        facts.state = .noBroker
        break
      }
      let speaksTLS = greeting.contains("\"tls_required\":true") || greeting.contains("\"tls_available\":true")
      let mustSpeak = greeting.contains("\"tls_required\":true")
      let isWanted = tls != nil || url.hasPrefix("tls://")
      if isWanted, !speaksTLS { facts.state = .lacksTLS }
      if speaksTLS { Self.examineCertificate(&facts, descriptor, address, tls, matters: isWanted || mustSpeak) }
      let asksForCertificate = greeting.contains("\"tls_verify\":true")
      if facts.state == .reached, asksForCertificate, tls?.certificateFile == nil { facts.state = .needsCertificate }
    }
    return facts
  }

  private static func examineCertificate(
    _ facts: inout BrokerFacts, _ descriptor: Int32, _ address: HostPort, _ tls: NATSOptions.TLS?, matters: Bool
  ) {
    do throws(CryptoError) {
      let shown = try PresentedCertificate(
        on: descriptor, server: address.host, authorityFile: tls?.authorityFile, certificateFile: tls?.certificateFile,
        keyFile: tls?.keyFile)
      facts.certificate = BrokerFacts.Certificate(
        notBefore: shown.validity.notBefore, notAfter: shown.validity.notAfter,
        complaint: matters ? shown.complaint : nil)
      if facts.certificate?.complaint != nil, tls?.authorityFile == nil { facts.state = .needsAuthority }
    } catch {
      if facts.state == .reached { facts.state = .tlsFailed(error.message) }
    }
  }

  // MARK: Steps

  private struct End: Error { let state: BrokerFacts.State }

  private static func connection(_ address: HostPort) -> Result<Int32, End> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found)
    guard status == 0 else {
      let reason = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
      return .failure(End(state: .unknownName(reason)))
    }
    defer { unsafe freeaddrinfo(found) }
    var reason = "no address"
    var next = unsafe found
    while let candidate = unsafe next?.pointee {
      let descriptor = unsafe socket(
        candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), candidate.ai_protocol)
      var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
      // The kernel gives connecting the same time as sending (socket(7)).
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
      }
      if unsafe connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 { return .success(descriptor) }
      reason = errno == EINPROGRESS ? "no answer within \(patienceSeconds) s" : DeviceProbe.reason(errno)
      close(descriptor)
      unsafe next = candidate.ai_next
    }
    return .failure(End(state: .unreachable(reason)))
  }

  /// A broker's first line, byte by byte: what follows may be TLS's.
  private static func greeting(_ descriptor: Int32) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < greetingBytes, unsafe recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    let text = String(decoding: line, as: UTF8.self)
    return text.hasPrefix("INFO {") ? text : nil
  }
}
