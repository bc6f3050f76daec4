internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// Which instances of a service may serve side by side on one bus: those that share what they answer from. Of others,
/// each would get a part of the requests, and answer them from what the rest does not have.
///
/// A starting instance asks those that are there. Of two that start at once, one at least finds the other.
public struct Companions: Sendable {
  /// What all of them share, by a name that nothing else has; nil: the instance serves alone.
  private let shared: String?
  private let advice: String

  /// - Parameter advice: what to do about another that is there, as the end of a sentence.
  public init(sharing shared: String?, advice: String) {
    self.shared = shared
    self.advice = advice
  }

  /// What an instance says of itself to those that ask.
  func metadata(_ service: ServiceHost) -> JSON.Object {
    let process = service.host.process
    return [
      "shares": .string(shared ?? service.instance), "host": .string(process.hostName),
      "process": .string("\(process.identifier)"),
    ]
  }

  /// - Throws: `unavailable` when there is one that shares nothing with this.
  func check(_ service: ServiceHost) async throws(CaravanError) {
    let name = service.identity.name
    let answers: [JSON]
    do throws(CaravanError) {
      answers = try await service.bus.gather(
        Message(), to: .discovery(.ping, service: name), within: BusLimits.companionWindow,
        limit: BusLimits.answersGathered
      ).compactMap { try? JSON.parse($0.payload) }
    } catch {
      return service.host.log.warning("could not ask who else serves", [.service: name, .error: error])
    }
    // It hears itself, unless its credentials are older than the question.
    if !answers.contains(where: { $0["id"]?.stringValue == service.instance }) {
      service.host.log.warning(
        "who else serves is unknown: the question did not come through; are the credentials this release's "
          + "(caravan keys init)?", [.service: name])
    }
    for answer in answers where answer["id"]?.stringValue != service.instance {
      // One of an earlier release does not say what it shares.
      let metadata = answer["metadata"]
      if let shared, metadata?["shares"]?.stringValue ?? shared == shared { continue }
      let (host, process) = (metadata?["host"]?.stringValue, metadata?["process"]?.stringValue)
      throw CaravanError(
        .unavailable,
        "another \(name) serves on this broker (process \(process ?? "unknown") on host \(host ?? "unknown")) "
          + "and does not share what this one has: \(advice)")
    }
  }
}
