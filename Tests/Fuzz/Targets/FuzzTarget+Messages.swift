import CaravanAgentCore
import CaravanClient
import CaravanCrypto
import CaravanEncoding
import CaravanHTTPServer
import CaravanModel
import CaravanQuery
import CaravanStorageCore
import CaravanTokens
import CaravanWire

import struct CaravanClient.Frame

extension FuzzTarget {
  /// Messages by themselves, whoever sends them: also answers, to a client of a hostile cloud or service.
  static let messages: [FuzzTarget] = [
    // The first two bytes choose among all that Protos has.
    FuzzTarget("wire", seeds: wireSeeds) { bytes in
      guard bytes.count >= 2 else { throw WireError.malformed("no message is chosen") }
      let type = WireMessages.all[(Int(bytes[0]) | Int(bytes[1]) << 8) % WireMessages.all.count]
      try type.reread(Array(bytes[2...]))
    },
    FuzzTarget("chunks", seeds: [ChunkRequest(ticket: Ticket(device: "phone"), put: [Chunk(hash: [1])]).encoded()]) {
      bytes in
      _ = try Ticket.decodeAhead(1, of: bytes, bytes: StorageLimits.ticketMessageBytes)
      let request = try ChunkRequest.decode(bytes)
      try hold(
        try sure { try ChunkRequest(decoding: request.encoded()) } == request, "a request is read again as another")
      _ = try ChunkHash.list(request.get)
      for named in request.bases { _ = try ChunkHash.list(named) }
    },
    FuzzTarget("chunk-reply", seeds: [ChunkReply(chunks: [Chunk(hash: [1], data: [2])]).encoded()]) { bytes in
      let reply = try ChunkReply.decode(bytes)
      _ = try ChunkHash.list(reply.stored)
    },
    FuzzTarget("app-request", seeds: [AppRequest(id: 1, kind: .hello(AppHello(app: "album"))).encoded()]) { bytes in
      _ = try Frame(bytes).request()
    },
    FuzzTarget("app-reply", seeds: [AppReply(id: 1, kind: .welcome(AppWelcome(token: "ab"))).encoded()]) { bytes in
      _ = try Frame(bytes).reply()
    },
  ]

  private static let wireSeeds: [[UInt8]] = WireMessages.all.indices.map {
    [UInt8($0 & 0xff), UInt8($0 >> 8)]
  }

  // MARK: Texts

  static let texts: [FuzzTarget] = [
    FuzzTarget("json", seeds: [Array(#"{"a":[1,-2.5e3,"x\n\u00e4",true,null,{}]}"#.utf8)]) { bytes in
      let json = try JSON.parse(bytes)
      try hold(try sure { try JSON.parse(json.encoded()) } == json, "a value is read again as another")
    },
    FuzzTarget("target", seeds: [Array("/v1/zones/a%20b?limit=5&x".utf8)]) { bytes in
      guard let target = RequestTarget(bytes) else { throw CaravanError(.invalidData, "no request target") }
      // A mark behind the slash makes another character of both: targets are taken apart by bytes.
      try hold(target.path.utf8.first == UInt8(ascii: "/") || target.path == "*", "a path of '\(target.path)'")
    },
    FuzzTarget("token-text", seeds: [signed]) { bytes in
      _ = try JWT(verifying: String(decoding: bytes, as: UTF8.self))
    },
    FuzzTarget("base64", seeds: [Array("AAECAw==".utf8)]) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let opened = try Base64.decode(text)
      try hold(Base64.encode(opened) == text, "'\(text)' is read as another")
    },
    FuzzTarget("selection", seeds: [Array(#"name = ? AND ("n" > 5 OR photo IS NULL)"#.utf8)]) { bytes in
      _ = try SelectionText(String(decoding: bytes, as: UTF8.self), columns: ["name", "n", "photo"])
    },
    FuzzTarget("expression", seeds: expressions.map { Array($0.utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let partial = PartialText(text)
      let expression = try ExpressionText(text).bound(to: Samples.type) { _, role in
        switch role {
        case .value(let field) where field.isList: .text("a")
        case .value(let field): Samples.fields[field.id] ?? .null
        case .text: .text("s%y")
        case .number: .real(1.5)
        }
      }
      try hold(try means(expression, partial), "'\(text)' is understood as another")
    },
  ]

  private static let expressions = [
    "name LIKE 'sn%y' AND NOT (n BETWEEN -9 AND 5 OR n IN (1, NULL))",
    "r >= 0.5 OR d = x'00ff' OR photo IS NOT NULL AND list ISNULL",
    "5 > n AND (date <> ? OR other IS 'other') AND name LIKE ?",
    "name MATCH ANY 'sn* \"a b\"' OR list CONTAINS ALL ('a', ?)",
    "NOT list CONTAINS LIKE '_%' OR place NEAR (1, -2, ?) AND place NOT WITHIN (-1, 179, 1, ?)",
  ]

  /// Whether whatever is made of an expression holds of the sample as the expression itself does.
  private static func means(
    _ expression: CaravanQuery.Expression<Condition>, _ partial: PartialText?
  ) throws -> Bool {
    let row = RecordFields(Samples.fields)
    let truth = expression.truth(of: row)
    guard expression.withoutNot.truth(of: row) == truth else { return false }
    let compiler = SQLCompiler(column: { "f\($0)" }, found: { $0 }) { _ in SQLFragment("tested()") }
    for condition in [compiler.compile(expression)] + compiler.sources(expression).map(\.ids) {
      guard condition.sql.utf8.count(where: { $0 == UInt8(ascii: "?") }) == condition.parameters.count else {
        return false
      }
    }
    if let predicate = try? Predicate(expression, of: Samples.type) {
      let again = try CaravanQuery.Expression(predicate) { name throws(CaravanError) in
        guard let field = Samples.type.field(named: name) else { throw CaravanError(.schemaViolation, "no '\(name)'") }
        return field
      }
      guard (again?.truth(of: row) == .yes) == (truth == .yes) else { return false }
    }
    // SQLite runs the text itself, so a row that is not excluded may still be found.
    guard let partial else { return false }
    let filter = RowFilter(weakening: partial, parameters: []) { name in
      Samples.type.fields.first { $0.name == name.lowercased() }
    }
    return truth != .yes || filter.map { BodyFilter($0).excludes(Samples.body) } != true
  }

  private static let signed: [UInt8] = {
    do {
      let (account, key) = (try NKey.generate(.account), try NKey.generate(.user))
      let user = UserClaims(.scoped, issuerAccount: account.publicKey, tags: ["user:ann"])
      let claims = JWTClaims(subject: key.publicKey, name: "phone", issuedAt: 5, .user(user))
      return Array(try claims.sign(with: account).text.utf8)
    } catch { preconditionFailure("claims of the right form: \(error)") }
  }()

  // MARK: Programs and kernels beside us

  static let neighbours: [FuzzTarget] = [
    FuzzTarget(
      "dbus", seeds: [DBusMessage.call(1, "org.a", "Get", at: "/org/a", of: "org.a", ["x"])]
    ) { bytes in
      var rest = bytes
      while let message = try DBusMessage.take(from: &rest) { _ = message.variantNumber }
    },
    FuzzTarget("routes", seeds: [routes]) { bytes in
      var dump = RouteDump()
      _ = dump.add(bytes)
      _ = dump.link { _ in .link(.wired) }
    },
  ]

  /// An end of a dump: struct nlmsghdr with NLMSG_DONE (rtnetlink(7)).
  private static let routes: [UInt8] = [20, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

extension WireMessage {
  fileprivate static func reread(_ bytes: [UInt8]) throws {
    let message = try decode(bytes)
    try hold(
      try sure { try Self(decoding: message.encoded()) }.encoded() == message.encoded(),
      "\(Self.self) is read again as another")
  }
}
