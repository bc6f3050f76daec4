import CaravanModel
import CaravanStore
import CaravanWire
import Testing

/// Goal: what layout 4 calls by a device's name alone has its user and enrolment in layout 5, and nothing else changes.
@Suite struct EnrolledNamesTests {
  private static let ada = UserID(unchecked: "ada")

  private static var names: EnrolledNames {
    var names = EnrolledNames()
    names.learn(device: "camera", body: RecordFields([1: .text("bob"), 2: .text("key")]).body)
    names.learn(device: "broken", body: [1, 2, 3])
    return names
  }

  @Test(
    "TRU-01: names of devices, of services, and of nobody",
    arguments: [
      ("camera", true, "ada/camera/1"), ("camera", false, "bob/camera/1"), ("@sync/camera", true, "@sync/ada/camera/1"),
      ("@sync/camera", false, "@sync/bob/camera/1"), ("@storage", true, "@storage"),
      ("@storage/moves", true, "@storage/moves"),
      ("", true, ""), ("ada/camera/1", true, "ada/camera/1"), ("@sync/ada/camera/1", false, "@sync/ada/camera/1"),
      ("w3icppnryiy3hmgwtsvsfu2fcu", false, "w3icppnryiy3hmgwtsvsfu2fcu"), ("lost", false, "?/lost/1"),
      ("broken", false, "?/broken/1"),
    ])
  func named(old: String, isPrivate: Bool, new: String) {
    var names = Self.names
    let found = names.name(old, in: isPrivate ? Self.ada : nil)
    #expect(found == new)
    #expect(names.unknown == (new.hasPrefix("?") ? [old] : []))
    #expect(names.complaint?.contains(old) ?? false == new.hasPrefix("?"))
  }

  @Test("TRU-01: histories of fields name devices as entries do")
  func fields() throws {
    var names = Self.names
    let item = FieldHistory.Item(seq: 3, stamp: HybridStamp(rawValue: 9), writer: "camera")
    let own = FieldHistory.Item(seq: 4, stamp: HybridStamp(rawValue: 10), writer: "phone")
    let history = FieldHistory([1: item, 2: own])
    let changed = names.fields(history.encoded(writer: "phone"), writer: "phone", in: Self.ada)
    let renamed = try #require(changed)
    let items = try #require(FieldHistory(encoded: renamed, writer: "ada/phone/1")?.items)
    #expect(items[1]?.writer == "ada/camera/1" && items[2]?.writer == "ada/phone/1")
    #expect(items[1]?.seq == 3 && items[2]?.stamp == HybridStamp(rawValue: 10))
    let again = names.fields(renamed, writer: "ada/phone/1", in: Self.ada)
    #expect(again == nil, "it is done once")
    let none = names.fields([], writer: "phone", in: Self.ada)
    #expect(none == nil)
  }
}
