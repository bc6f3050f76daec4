/// A request, received whole.
public struct HTTPRequest: Sendable, Equatable {
  public struct QueryItem: Sendable, Equatable {
    public let name: String
    /// Empty if the item has no "=".
    public let value: String
  }

  /// As sent, for example "GET".
  public let method: String
  /// The decoded path, for example "/a/b c".
  public let path: String
  /// The path's parts, split before decoding, so that a part may contain "/". ["a", "b c"] for "/a/b%20c".
  public let segments: [String]
  /// The decoded query in order; "+" stands for a space.
  public let query: [QueryItem]
  public let headers: HTTPHeaders
  public let body: [UInt8]
  /// The numeric address of the other end of the connection, without its port.
  public let peer: String
  /// Whom limits hold for: the peer, or whom trusted proxies name; nil: that is unknown.
  public let client: NetworkAddress?
  /// Whether a process of this machine asks, and for nobody else.
  public let isLocal: Bool

  /// The first item of this name.
  public func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

  init(
    method: String, target: RequestTarget, headers: HTTPHeaders, body: [UInt8], peer: NetworkAddress?, origin: Origin
  ) {
    self.method = method
    (path, segments, query) = (target.path, target.segments, target.query)
    (self.headers, self.body, self.peer) = (headers, body, peer?.description ?? "")
    (client, isLocal) = (origin.client, origin.isLocal)
  }
}
