public import CaravanModel

public enum ServiceName: String, Sendable, Hashable, CaseIterable {
  case storage, sync, schema, notify, query, push, gateway
}

/// What a discovery request asks of every service (NATS services convention, ADR-32).
public enum DiscoveryVerb: String, Sendable, Hashable, CaseIterable {
  case ping = "PING"
  case info = "INFO"
  case stats = "STATS"
}

/// Every subject of the bus. One renderer (`text`) and one parser (`init(parsing:)`), which undo each other.
public enum Subject: Sendable, Hashable {
  /// `edge.<user>.<device>_<enrolment>.exchange`: the broker proves user, device and enrolment (architecture §4).
  case exchange(EnrolledDevice)
  /// `edge.<user>.<device>_<enrolment>.chunks.<partition>`
  case chunks(EnrolledDevice, Partition)
  /// `edge.<user>.<device>_<enrolment>.acks.<partition>`: the device has taken over a notification. Nobody answers.
  case acks(EnrolledDevice, Partition)
  /// `edge.<user>.<device>_<enrolment>.renew`: the device wants its credentials for a longer time.
  case renew(EnrolledDevice)
  /// `inbox.<user>.<device>_<enrolment>.notify`
  case notify(EnrolledDevice)
  /// `edge.<user>.<device>.<rest>`: a device whose credentials were signed before enrolments had numbers. All it can
  /// have is an answer, and credentials with a number (`renew`).
  case unnumbered(user: UserID, device: DeviceID, rest: String)
  /// `svc.<service>.<method>`
  case service(ServiceName, method: String)
  /// `svc.<service>.<partition>.<method>`
  case partitioned(ServiceName, Partition, method: String)
  /// `changes.<partition>`
  case changes(Partition)
  /// `ext.<container>.<type>`: a program of the app, which decides conflicts of its record type (CK-36)
  case `extension`(ContainerID, type: String)
  /// `$SRV.<verb>[.<service>[.<instance>]]` (ADR-32)
  case discovery(DiscoveryVerb, service: String? = nil, instance: String? = nil)
  /// `$SYS.REQ.CLAIMS.UPDATE`: hands the broker a new account token (revocations); system account only.
  case claimsUpdate
  /// `$SYS.ACCOUNT.<account>.CONNECT` or `.DISCONNECT`: the broker tells of a connection; system account only.
  case connection(account: String, isOpen: Bool)
  /// `$SYS.REQ.ACCOUNT.<account>.CONNZ`: asks brokers for the connections that they have; system account only.
  case connections(account: String)
}

extension Subject {
  /// The device that sent to it, as the broker has proven.
  public var sender: EnrolledDevice? {
    switch self {
    case .exchange(let device), .chunks(let device, _), .acks(let device, _), .renew(let device): device
    case .unnumbered, .notify, .service, .partitioned, .changes, .extension, .discovery, .claimsUpdate, .connection,
      .connections:
      nil
    }
  }

  /// Where answers to the device that sent to it begin; nil: no device sends to it.
  var senderInbox: String? {
    if case .unnumbered(_, let device, _) = self { return "inbox.\(device)" }
    return sender?.inbox
  }
}

extension EnrolledDevice {
  /// `inbox.<user>.<device>_<enrolment>`: everything that the cloud sends to the device goes below it.
  public var inbox: String { "inbox.\(user).\(token)" }
}

/// What may be subscribed to.
public enum SubjectPattern: Sendable, Hashable {
  case exact(Subject)
  /// `edge.*.*.exchange`
  case everyExchange
  /// `edge.*.*.chunks.<partition>`, or `.*`
  case everyChunks(Partition?)
  /// `edge.*.*.acks.<partition>`, or `.*`
  case everyAck(Partition?)
  /// `edge.*.*.renew`
  case everyRenewal
  /// `svc.<service>.*.<method>`: every partition
  case everyPartition(ServiceName, method: String)
  /// `changes.*`
  case everyChange
  /// `ext.*.*`
  case everyExtension
  /// `$SYS.ACCOUNT.<account>.*`: its connections come and go
  case everyConnection(account: String)
}
