extension Diagnosis {
  static func broker(_ facts: BrokerFacts, now: Int64) -> [Finding] {
    [reach(facts)] + (facts.certificate.map { certificate($0, of: facts.url, now: now) } ?? [])
  }

  private static func reach(_ facts: BrokerFacts) -> Finding {
    let url = facts.url
    switch facts.state {
    case .accepted: return .ok(.broker, "\(url) lets this device in")
    case .reached:
      return .warning(.broker, "\(url) is there; whether it lets this device in is not known", "give credentials")
    case .malformed:
      return .problem(.broker, "'\(url)' is no address", "write nats://HOST:PORT, or tls://HOST:PORT")
    case .unknownName(let reason):
      return .problem(.broker, "the name in \(url) is unknown (\(reason))", "see to the spelling, the network and DNS")
    case .unreachable(let reason):
      return .problem(
        .broker, "\(url) cannot be reached (\(reason))", "see to the network, the port, firewalls, and that it runs")
    case .noBroker:
      return .problem(.broker, "whoever listens at \(url) is no broker", "see to the port: NATS's own is 4222")
    case .needsAuthority:
      return .problem(
        .broker, "\(url) speaks TLS, and this system does not know who signed its certificate",
        "give the file of who did: tls-ca")
    case .needsCertificate:
      return .problem(
        .broker, "\(url) asks for a client certificate, and this device shows none",
        "have whoever runs the broker issue one, and give it and its key: tls-cert, tls-key")
    case .inClear:
      return .problem(
        .broker, "\(url) is another machine, and all would go there in clear: the agent does not connect",
        "write tls://HOST:PORT, with tls-ca where the authority is your own; or say insecure = true")
    case .lacksTLS:
      return .problem(
        .broker, "\(url) speaks no TLS, and it is asked for",
        "set TLS up there; on this machine write nats:// and leave tls-ca out")
    case .tlsFailed(let reason):
      return .problem(
        .broker, "TLS with \(url) fails (\(reason))", "see to tls-ca, and to its certificate")
    case .refused:
      return .problem(
        .broker, "\(url) is there and refuses these credentials",
        "the device was revoked, or is of another deployment: enrol it again; if the suite has other keys since a "
          + "restore: caravan device renew FILE")
    case .failed(let reason):
      return .problem(.broker, "\(url) is there, and logging in fails (\(reason))", "look into the broker's log")
    }
  }

  /// What the agent remembers of it: it tries its broker once an hour.
  static func refusal(_ facts: DeviceFacts) -> [Finding] {
    guard let refusal = facts.data?.refusal else { return [] }
    let since = "brokers have refused the agent for \(span(from: min(refusal.since, facts.now), to: facts.now))"
    if case .token(let token)? = facts.credentials?.content, token.digest != refusal.digest {
      return [.problem(.broker, "\(since), with other credentials than these", "systemctl restart caravan-agent")]
    }
    let atOnce = "caravan app reset-device has it try at once"
    if facts.brokers.contains(where: { $0.state == .accepted }) {
      return [.warning(.broker, "\(since), and do not any more: it finds out within some hours", atOnce)]
    }
    return [
      .problem(
        .broker, "\(since): it tries them once an hour",
        "enrol the device again, give the agent its new credentials and restart it; if the broker is mended instead, "
          + atOnce)
    ]
  }

  private static func certificate(
    _ certificate: BrokerFacts.Certificate, of url: String, now: Int64
  ) -> [Finding] {
    let renew = "have whoever runs the broker renew it"
    if now >= certificate.notAfter {
      let past = "the certificate of \(url) expired \(span(from: certificate.notAfter, to: now)) ago"
      return [.problem(.certificate, past, "\(renew); or is this clock ahead?")]
    }
    if now + skewSeconds < certificate.notBefore {
      let future = "the certificate of \(url) begins in \(span(from: now, to: certificate.notBefore))"
      return [.problem(.certificate, future, "wait until then; or is this clock behind?")]
    }
    if let complaint = certificate.complaint {
      return [
        .problem(
          .certificate, "the certificate of \(url) is not trusted (\(complaint))",
          "give the file of who signed it (tls-ca), and use a name that is in it")
      ]
    }
    let good = "the certificate of \(url) is good for \(span(from: now, to: certificate.notAfter))"
    if certificate.notAfter < now + soonSeconds { return [.warning(.certificate, good, renew)] }
    return [.ok(.certificate, good)]
  }

  // MARK: Time as people read it

  /// Either may be any number: a file says so.
  static func span(from begin: Int64, to end: Int64) -> String {
    precondition(begin <= end, "the time from \(begin) to \(end) is none")
    let (seconds, isTooLong) = end.subtractingReportingOverflow(begin)
    return span(isTooLong ? .max : seconds)
  }

  private static func span(_ seconds: Int64) -> String {
    for (unit, length) in [("days", 86_400), ("hours", 3_600), ("minutes", 60)] as [(String, Int64)]
    where seconds >= 2 * length {
      return "\(seconds / length) \(unit)"
    }
    return "\(seconds) seconds"
  }
}
