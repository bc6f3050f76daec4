public import CaravanModel
public import CaravanWire

/// One kind of request that a service answers.
public struct Endpoint: Sendable {
  public typealias Handler = @Sendable (Incoming) async throws(CaravanError) -> [UInt8]

  /// Requests of one name are counted together: a method served for many partitions is many endpoints of one name.
  public let name: String
  public let pattern: SubjectPattern
  /// Of all processes with one group, one gets each request.
  public let group: String?
  /// More at once are refused with `serverBusy`, and so is what one device or one user has beyond its share of them
  /// (`BusLimits.devicesInWhole`).
  public let maxInFlight: Int
  /// The answer's payload, or a refusal that travels to the caller.
  public let handler: Handler

  public init(
    _ name: String, _ pattern: SubjectPattern, group: String?, maxInFlight: Int, handler: @escaping Handler
  ) {
    precondition(maxInFlight > 0, "endpoint \(name) could never answer")
    precondition(Subject.isName(name), "an endpoint's name is 1 to 64 of A-Z a-z 0-9 _ -")
    self.name = name
    self.pattern = pattern
    self.group = group
    self.maxInFlight = maxInFlight
    self.handler = handler
  }

  /// With the request decoded (a malformed one is refused with `invalidData`) and the reply encoded.
  public init<Request: WireMessage, Reply: WireMessage>(
    _ name: String, _ pattern: SubjectPattern, group: String?, maxInFlight: Int,
    answering: @escaping @Sendable (Request, Subject) async throws(CaravanError) -> Reply
  ) {
    self.init(name, pattern, group: group, maxInFlight: maxInFlight) { incoming throws(CaravanError) in
      let request = try Request.decode(incoming.message.payload)
      return try await answering(request, incoming.subject).encoded()
    }
  }
}
