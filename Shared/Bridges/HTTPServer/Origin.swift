/// Who sent a request, as far as that is known.
package struct Origin: Equatable {
  /// Whom limits hold for; nil: nobody knows.
  package let client: NetworkAddress?
  /// Whether a process of this machine asks, and nobody for another.
  package let isLocal: Bool

  /// Headers with which proxies say for whom they ask.
  private static let traces = ["x-forwarded-for", "forwarded", "x-real-ip"]

  /// A proxy that is trusted appends whom it serves to `X-Forwarded-For`; anybody may have written what stands before
  /// that. So the client is the rightmost address that is no trusted proxy. Behind another proxy, the proxy is it.
  package init(peer: NetworkAddress?, headers: HTTPHeaders, proxies: [NetworkRange]) {
    func isTrusted(_ address: NetworkAddress) -> Bool { proxies.contains { $0.contains(address) } }
    var client = peer
    if let peer, isTrusted(peer) {
      let hops = (headers["x-forwarded-for"] ?? "").split(separator: ",").reversed()
      for hop in hops {
        // What is no address was not written by a proxy that is trusted: who wrote it is whoever is known last.
        guard let address = NetworkAddress(String(hop.drop { $0 == " " }.prefix { $0 != " " })) else { break }
        client = address
        if !isTrusted(address) { break }
      }
    }
    self.client = client
    isLocal = client?.isLoopback == true && Self.traces.allSatisfy { headers[$0] == nil }
  }
}
