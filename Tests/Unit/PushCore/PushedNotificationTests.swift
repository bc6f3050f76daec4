import CaravanEncoding
import CaravanModel
import CaravanPushCore
import Testing

/// Goal: what travels to a target is what the log says, and answers mean what HTTP says. Method: tables.
@Suite struct PushedNotificationTests {
  private typealias Field = NotificationLog.Field

  private static func notification(_ more: [Field: Value] = [:]) throws -> PushedNotification {
    var fields: [UInt32: Value] = [
      Field.subscription.rawValue: .text("mine"), Field.reason.rawValue: .text("enters"),
      Field.source.rawValue: .integer(7), Field.number.rawValue: .integer(12), Field.isPublic.rawValue: .integer(1),
      Field.type.rawValue: .text("messages"), Field.zone.rawValue: .text("_default"),
      Field.record.rawValue: .text("m1"), Field.version.rawValue: .integer(3), Field.device.rawValue: .text("bob"),
      Field.at.rawValue: .integer(1_700_000_000_123),
    ]
    for (field, value) in more { fields[field.rawValue] = value }
    return try PushedNotification(
      id: "n_1", container: ContainerID(unchecked: "chat"), environment: .production, record: RecordFields(fields))
  }

  @Test("CK-85: a silent notification says what happened, a visual one what to show")
  func json() throws {
    let silent = try Self.notification()
    #expect(!silent.isVisual)
    #expect(
      silent.json(atMost: 4_000).encoded()
        == #"{"id":"n_1","container":"chat","environment":"production","database":"public","subscription":"mine","#
        + #""reason":"enters","source":7,"number":12,"at":"2023-11-14T22:13:20.123Z","type":"messages","#
        + #""zone":"_default","record":"m1","version":3,"device":"bob"}"#)
    let visual = try Self.notification([
      .title: .text("Chat"), .bodyKey: .text("FROM"), .bodyArguments: .list([.text("Bob"), .text("hi")]),
      .badge: .integer(1), .sound: .text("ping"), .fields: .text(#"{"text":"hi","n":1}"#), .isCut: .integer(1),
    ])
    #expect(visual.isVisual)
    let shown = visual.json(atMost: 4_000)
    #expect(shown["title"] == "Chat" && shown["bodyKey"] == "FROM" && shown["bodyArguments"] == ["Bob", "hi"])
    #expect(shown["badge"] == 1 && shown["sound"] == "ping" && shown["fields"] == ["text": "hi", "n": 1])
    #expect(shown["isCut"] == true)
  }

  @Test("CK-85: what has no room is left out, the least needed first, and the notification says so")
  func cut() throws {
    let long = try Self.notification([
      .title: .text("Chat"), .body: .text(String(repeating: "x", count: 2_000)),
      .fields: .text(JSON.object(["text": .string(String(repeating: "y", count: 3_000))]).encoded()),
    ])
    #expect(long.json(atMost: 6_000)["isCut"] == nil)
    let some = long.json(atMost: PushLimits.webPushBytes)
    #expect(some["fields"] == nil && some["body"] != nil && some["isCut"] == true)
    #expect(some.encodedBytes().count <= PushLimits.webPushBytes)
    let few = long.json(atMost: 400)
    #expect(few["body"] == nil && few["title"] == "Chat" && few["record"] == "m1" && few["isCut"] == true)
  }

  @Test("CK-85: a CloudEvent names where it is from, and has the notification as its data")
  func cloudEvent() throws {
    let event = try Self.notification().cloudEvent
    #expect(event["specversion"] == "1.0" && event["id"] == "n_1" && event["datacontenttype"] == "application/json")
    #expect(event["source"] == "/containers/chat/production" && event["type"] == "caravan.notification.enters")
    #expect(event["data"]?["record"] == "m1" && event["time"] == "2023-11-14T22:13:20.123Z")
  }

  @Test("CK-85: a record that is no notification is refused")
  func none() {
    for fields in [RecordFields(), RecordFields([Field.reason.rawValue: .text("something")])] {
      let error = #expect(throws: CaravanError.self) {
        try PushedNotification(
          id: "n", container: ContainerID(unchecked: "chat"), environment: .production, record: fields)
      }
      #expect(error?.code == .invalidData)
    }
  }

  @Test(
    "CK-85: what an answer means",
    arguments: [
      (200, nil, .taken), (201, "5", .taken), (202, nil, .taken), (204, nil, .taken),
      (301, nil, .later(seconds: 0)), (307, nil, .later(seconds: 0)), (400, nil, .refused),
      (401, nil, .later(seconds: 0)),
      (403, nil, .later(seconds: 0)), (404, nil, .gone), (410, "9", .gone), (413, nil, .refused),
      (408, nil, .later(seconds: 0)), (429, "30", .later(seconds: 30)), (429, "999999999", .later(seconds: 86_400)),
      (429, "-1", .later(seconds: 0)), (503, "Wed, 21 Oct 2026 07:28:00 GMT", .later(seconds: 0)),
      (500, nil, .later(seconds: 0)), (599, nil, .later(seconds: 0)),
    ] as [(Int, String?, DeliveryVerdict)])
  func verdicts(status: Int, retryAfter: String?, verdict: DeliveryVerdict) {
    #expect(DeliveryVerdict(status: status, retryAfter: retryAfter) == verdict)
  }
}
