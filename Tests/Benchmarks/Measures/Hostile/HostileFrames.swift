internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCompression
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What one hostile device sends to harm others at little expense (TRU-02).
enum HostileKind: String, CaseIterable, FlagValue {
  /// A million empty operations, in 216 bytes.
  case empty
  /// As large as what is compressed may be: 2 MiB in 8 KiB, and no more than 512 operations.
  case inflated
  /// As many operations as a frame may have, each of which asks for something.
  case full
  /// A million empty chunks, without a ticket.
  case chunks

  init?(flagText: String) { self.init(rawValue: flagText) }
  static var flagKind: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }

  func subject(of device: EnrolledDevice) -> Subject {
    self == .chunks ? .chunks(device, Partition.all[0]) : .exchange(device)
  }

  func payload(_ random: any RandomSource) throws(CaravanError) -> [UInt8] {
    switch self {
    case .empty: try Self.compressed(Self.repeated([0x12, 0], 1 << 20))
    case .chunks: Self.repeated([0x12, 0], 1 << 20)
    case .inflated:
      try Self.compressed(
        Exchange(
          epoch: 1,
          operations: [
            Operation(
              kind: .push(
                Push(
                  container: "bench", zone: "flood", op: 1,
                  mutations: [
                    CaravanWire.Mutation(
                      name: "row", kind: .save, type: 1,
                      body: random.bytes(10 << 10) + [UInt8](repeating: 0, count: 2_020 << 10))
                  ])))
          ]
        ).encoded())
    case .full:
      try Self.compressed(
        Exchange(
          epoch: 1,
          operations: (0..<Limits.operationsPerFrame).map {
            Operation(kind: .pull(Pull(container: "bench", zone: "flood-\($0)")))
          }
        ).encoded())
    }
  }

  private static func compressed(_ plain: [UInt8]) throws(CaravanError) -> [UInt8] {
    var compressor = try Compressor()
    return CaravanWire.Frame(compression: .zstd, plainBytes: UInt32(plain.count), body: try compressor.compress(plain))
      .encoded()
  }

  private static func repeated(_ pattern: [UInt8], _ times: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(pattern.count * times)
    for _ in 0..<times { bytes += pattern }
    return bytes
  }
}

/// The hostile device: so many frames a second, whatever is answered.
struct HostileDriver: Sendable {
  let host: Host
  let credentials: Credentials
  let urls: [String]
  let kind: HostileKind
  let perSecond: Int
  let seconds: Double

  func run() async throws {
    let claims = credentials.jwt.claims
    let device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    let bus = try await NATSBus.connect(
      NATSOptions(urls: urls, credentials: credentials, name: claims.name), host: host)
    try await bus.waitUntilConnected(deadline: .seconds(10))
    let subject = kind.subject(of: device)
    let message = Message(try kind.payload(host.random))
    let (start, pause) = (host.clock.now, Duration.seconds(1.0 / Double(perSecond)))
    try await withThrowingDiscardingTaskGroup { group in
      for number in 0..<Int(Double(perSecond) * seconds) {
        try await host.clock.sleep(until: start + pause * number)
        group.addTask { _ = try? await bus.request(message, to: subject, deadline: .seconds(2)) }
      }
    }
    await bus.drain(deadline: .seconds(1))
  }
}
