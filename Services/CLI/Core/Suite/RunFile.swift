public import CaravanEncoding
public import CaravanModel

/// Where a suite that was brought up by `caravan up` is reached, and which processes it is.
public struct RunFile: Sendable, Hashable {
  /// `http://127.0.0.1:8080`
  public var http: String
  /// `nats://127.0.0.1:4222`, or `tls://…`.
  public var nats: String
  /// Who signed the broker's certificate; nil: there is none.
  public var authority: String?
  /// Who signed the gateway's; nil: it speaks no TLS.
  public var httpAuthority: String?
  /// What the operator's commands show to a broker that asks for a certificate; nil: it does not.
  public var client: ClientFiles?
  public var directory: String
  public var version: String
  /// Of `caravan up` itself.
  public var process: Int64
  /// By name, in the order of their start.
  public var processes: [(name: String, process: Int64)] {
    get { pids.members.compactMap { member in member.value.intValue.map { (member.name, $0) } } }
    set {
      pids = JSON.Object()
      for (name, process) in newValue { pids[name] = .int(process) }
    }
  }

  private var pids = JSON.Object()

  /// A certificate and its key, as files.
  public struct ClientFiles: Sendable, Hashable {
    public var certificate: String
    public var key: String

    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  public init(
    http: String, nats: String, authority: String?, directory: String, version: String, process: Int64
  ) {
    self.http = http
    self.nats = nats
    self.authority = authority
    self.directory = directory
    self.version = version
    self.process = process
  }

  public var json: JSON {
    [
      "http": .string(http), "nats": .string(nats), "tls_ca": authority.map(JSON.string) ?? .null,
      "http_ca": httpAuthority.map(JSON.string) ?? .null, "tls_cert": client.map { .string($0.certificate) } ?? .null,
      "tls_key": client.map { .string($0.key) } ?? .null,
      "dir": .string(directory), "version": .string(version), "pid": .int(process), "pids": .object(pids),
    ]
  }

  /// - Throws: `invalidData` when this is no run file.
  public init(_ json: JSON) throws(CaravanError) {
    guard let http = json["http"]?.stringValue, let nats = json["nats"]?.stringValue,
      let directory = json["dir"]?.stringValue, let process = json["pid"]?.intValue
    else { throw CaravanError(.invalidData, "the run file lacks http, nats, dir or pid") }
    self.init(
      http: http, nats: nats, authority: json["tls_ca"]?.stringValue, directory: directory,
      version: json["version"]?.stringValue ?? "", process: process)
    httpAuthority = json["http_ca"]?.stringValue
    if let certificate = json["tls_cert"]?.stringValue, let key = json["tls_key"]?.stringValue {
      client = ClientFiles(certificate: certificate, key: key)
    }
    pids = json["pids"]?.objectValue ?? JSON.Object()
  }
}
