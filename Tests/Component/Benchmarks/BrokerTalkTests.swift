import CaravanModel
import Testing

@testable import CaravanBenchmarks

/// Goal: what a broker says to a bench's listeners is understood however it is cut. Method: a transcript, in pieces of
/// every size.
@Suite("What a broker says")
struct BrokerTalkTests {
  private static let transcript =
    "INFO {}\r\n+OK\r\nMSG inbox.a.notify 1 5\r\nhe\r\no\r\nPING\r\nMSG inbox.a.r 2 svc.x 0\r\n\r\n"
    + "HMSG inbox.a.r 2 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPONG\r\n-ERR 'Permissions Violation'\r\n"

  private static let items: [BrokerTalk.Item] = [
    .message(subscription: 1, payload: Array("he\r\no".utf8)), .ping, .message(subscription: 2, payload: []),
    .message(subscription: 2, payload: Array("hi".utf8)), .pong, .complaint("-ERR 'Permissions Violation'"),
  ]

  @Test("whole, and cut anywhere", arguments: [1, 2, 3, 7, 50, 1_000])
  func cut(every size: Int) throws {
    var talk = BrokerTalk()
    var items: [BrokerTalk.Item] = []
    var rest = Array(Self.transcript.utf8)[...]
    while !rest.isEmpty {
      talk.hear(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let item = try talk.next() { items.append(item) }
    }
    #expect(items == Self.items)
  }

  @Test("nonsense is refused", arguments: ["MSG a\r\n", "MSG a 1 x\r\n", "HMSG a 1 9 8\r\n", "\n"])
  func nonsense(text: String) {
    var talk = BrokerTalk()
    talk.hear(Array(text.utf8))
    #expect(throws: CaravanError.self) { try talk.next() }
  }
}
