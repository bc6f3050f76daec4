internal import CaravanModel
internal import CaravanRuntime

/// What is counted of all endpoints of one name.
struct EndpointStatistics: Sendable {
  let name: String
  /// The first that was served.
  let subject: String
  let group: String?
  /// How many are served now.
  var subjects = 0
  var requests: UInt64 = 0
  var errors: UInt64 = 0
  var busy: UInt64 = 0
  /// Requests that were dropped before anybody saw them.
  var dropped: UInt64 = 0
  var inFlight = 0
  var lastError = ""
  var processingNanoseconds: UInt64 = 0

  init(_ endpoint: Endpoint) {
    name = endpoint.name
    subject = endpoint.pattern.text
    group = endpoint.group
  }

  var averageNanoseconds: UInt64 { requests == 0 ? 0 : processingNanoseconds / requests }

  mutating func finish(_ took: Duration, _ failure: CaravanError?) {
    inFlight -= 1
    requests += 1
    processingNanoseconds += UInt64(max(0, took.wholeNanoseconds))
    guard let failure else { return }
    errors += 1
    lastError = failure.description
  }
}

/// Counts for all endpoints of one name.
final class EndpointCounter: Sendable {
  private let statistics: Mutex<EndpointStatistics>

  init(_ endpoint: Endpoint) { statistics = Mutex(EndpointStatistics(endpoint)) }

  var now: EndpointStatistics { statistics.withLock { $0 } }

  func change(_ body: (inout EndpointStatistics) -> Void) { statistics.withLock { body(&$0) } }
}
