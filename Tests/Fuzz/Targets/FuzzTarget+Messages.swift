import CaravanAgentCore
import CaravanClient
import CaravanCrypto
import CaravanEncoding
import CaravanHTTPServer
import CaravanModel
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
      try hold(target.path.hasPrefix("/") || target.path == "*", "a path of '\(target.path)'")
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
  ]

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
