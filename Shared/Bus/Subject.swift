public import Model

public enum ServiceName: String, Sendable, Hashable, CaseIterable {
  case storage, sync, schema, notify, query, gateway
}

/// What a discovery request asks of every service (NATS services convention, ADR-32).
public enum DiscoveryVerb: String, Sendable, Hashable, CaseIterable {
  case ping = "PING"
  case info = "INFO"
  case stats = "STATS"
}

/// Every subject of the bus. One renderer (`text`) and one parser (`init(parsing:)`), which undo each other.
public enum Subject: Sendable, Hashable {
  /// `edge.<user>.<device>.exchange`: the broker proves user and device (architecture §4).
  case exchange(user: UserID, device: DeviceID)
  /// `edge.<user>.<device>.chunks.<partition>`
  case chunks(user: UserID, device: DeviceID, Partition)
  /// `edge.<user>.<device>.acks.<partition>`: the device has taken over a notification. Nobody answers.
  case acks(user: UserID, device: DeviceID, Partition)
  /// `inbox.<device>.notify`
  case notify(DeviceID)
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
}

extension Subject {
  /// The device that sent to it, as the broker has proven.
  public var sender: DeviceID? {
    switch self {
    case .exchange(_, let device), .chunks(_, let device, _), .acks(_, let device, _): device
    case .notify, .service, .partitioned, .changes, .extension, .discovery, .claimsUpdate: nil
    }
  }
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
  /// `svc.<service>.*.<method>`: every partition
  case everyPartition(ServiceName, method: String)
  /// `changes.*`
  case everyChange
  /// `ext.*.*`
  case everyExtension
}
