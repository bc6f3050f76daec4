internal import CaravanEncoding

/// Subjects a user may publish and subscribe to; wildcards as in subscriptions.
public struct Permissions: Hashable, Sendable {
  /// An empty `allow` allows everything that `deny` does not name.
  public struct Rules: Hashable, Sendable {
    public var allow: [String]
    public var deny: [String]

    /// Nothing: an empty `allow` would be everything.
    public static let nothing = Rules(deny: [">"])

    public init(allow: [String] = [], deny: [String] = []) {
      self.allow = allow
      self.deny = deny
    }
  }

  /// Leave to answer a request on its reply subject, whatever `publish` says.
  public struct Responses: Hashable, Sendable {
    /// Answers per request; -1: any number.
    public var count: Int64
    /// Nanoseconds after the request; -1: for ever.
    public var lifetime: Int64

    public init(count: Int64, lifetime: Int64) {
      self.count = count
      self.lifetime = lifetime
    }
  }

  public var publish: Rules
  public var subscribe: Rules
  public var responses: Responses?

  public init(publish: Rules = Rules(), subscribe: Rules = Rules(), responses: Responses? = nil) {
    self.publish = publish
    self.subscribe = subscribe
    self.responses = responses
  }
}

extension Permissions {
  init(_ reader: ClaimReader) throws(CryptoError) {
    self.init()
    if let rules = try reader.optionalObject("pub") { publish = try Rules(rules) }
    if let rules = try reader.optionalObject("sub") { subscribe = try Rules(rules) }
    if let answer = try reader.optionalObject("resp") {
      responses = Responses(count: try answer.integer("max"), lifetime: try answer.integer("ttl"))
    }
  }

  var json: JSON.Object {
    var object: JSON.Object = ["pub": .object(publish.json), "sub": .object(subscribe.json)]
    if let responses { object["resp"] = ["max": .int(responses.count), "ttl": .int(responses.lifetime)] }
    return object
  }
}

extension Permissions.Rules {
  init(_ reader: ClaimReader) throws(CryptoError) {
    self.init()
    for element in try reader.optionalArray("allow") ?? [] { allow.append(try reader.string(element, "allow")) }
    for element in try reader.optionalArray("deny") ?? [] { deny.append(try reader.string(element, "deny")) }
  }

  var json: JSON.Object {
    var object = JSON.Object()
    if !allow.isEmpty { object["allow"] = .array(allow.map { .string($0) }) }
    if !deny.isEmpty { object["deny"] = .array(deny.map { .string($0) }) }
    return object
  }
}
