import CaravanBus
import CaravanModel
import CaravanTestKit
import Testing

@Suite("Subjects")
struct SubjectTests {
  static let all: [(Subject, String)] = [
    (.exchange(EnrolledDevice("ann", "pi-4")), "edge.ann.pi-4_1.exchange"),
    (
      .chunks(EnrolledDevice("ann", "d"), Partition.all[63]),
      "edge.ann.d_1.chunks.63"
    ),
    (.notify(EnrolledDevice("ann", "d")), "inbox.ann.d_1.notify"),
    (.service(.schema, method: "define"), "svc.schema.define"),
    (.partitioned(.storage, Partition.all[7], method: "readLog"), "svc.storage.7.readLog"),
    (.changes(Partition.all[0]), "changes.0"),
    (.discovery(.ping), "$SRV.PING"),
    (.discovery(.info, service: "sync"), "$SRV.INFO.sync"),
    (.discovery(.stats, service: "sync", instance: "abc"), "$SRV.STATS.sync.abc"),
    (.claimsUpdate, "$SYS.REQ.CLAIMS.UPDATE"),
    (.acks(EnrolledDevice("ann", "d"), Partition.all[5]), "edge.ann.d_1.acks.5"),
    (.extension(ContainerID(unchecked: "album"), type: "photos"), "ext.album.photos"),
    (.renew(EnrolledDevice("ann", "d")), "edge.ann.d_1.renew"),
    (
      .unnumbered(user: UserID(unchecked: "ann"), device: DeviceID(unchecked: "d"), rest: "chunks.63"),
      "edge.ann.d.chunks.63"
    ),
    (.connection(account: "ABC", isOpen: true), "$SYS.ACCOUNT.ABC.CONNECT"),
    (.connection(account: "ABC", isOpen: false), "$SYS.ACCOUNT.ABC.DISCONNECT"),
    (.connections(account: "ABC"), "$SYS.REQ.ACCOUNT.ABC.CONNZ"),
  ]

  @Test("Rendering and parsing undo each other", arguments: all)
  func roundTrip(subject: Subject, text: String) throws {
    #expect(subject.text == text)
    #expect(try Subject(parsing: text) == subject)
  }

  @Test(
    "What is no subject of Caravan is refused",
    arguments: [
      "", ".", "edge", "edge.ann.d_1", "edge.ann.d_1.exchange.x", "edge.Ann.d_1.exchange", "edge..d_1.exchange",
      "edge.*.d_1.exchange", "edge.ann.d_1.chunks.64", "edge.ann.d_1.chunks.07", "edge.ann.d_1.chunks.+7",
      "edge.ann.d_1.acks", "edge.ann.d_0.exchange", "edge.ann.d_01.exchange", "edge.ann.d_1_2.exchange",
      "edge.ann.d_.exchange", "edge.ann._1.exchange", "edge.ann.d.ex*", "inbox.ann.d_1.other", "inbox.ann.d.notify",
      "inbox.d.notify",
      "svc.unknown.define", "svc.schema.", "svc.schema.a b", "svc.storage.x.commit", "svc.storage.1.2.3", "changes.64",
      "changes.-1", "changes",
      "ext.album", "ext.Album.photos", "ext.album.", "ext.album.a.b", "$SRV", "$SRV.NAP", "$SRV.PING.",
      "$SRV.PING.a.b.c", "$SYS.REQ", "$SYS.ACCOUNT.A.CONNS", "$SYS.ACCOUNT.*.CONNECT", "$SYS.REQ.ACCOUNT.A.SUBSZ",
      String(repeating: "a", count: 600),
    ])
  func refused(text: String) { #expect(throws: CaravanError.self) { try Subject(parsing: text) } }

  @Test("Patterns match what they say and nothing else")
  func patterns() {
    let subjects = Self.all.map(\.0)
    func matching(_ pattern: SubjectPattern) -> [Subject] { subjects.filter(pattern.matches) }
    for subject in subjects { #expect(matching(.exact(subject)) == [subject]) }
    #expect(matching(.everyConnection(account: "ABC")).count == 2)
    #expect(matching(.everyConnection(account: "ABD")).isEmpty)
    #expect(matching(.everyExchange) == [subjects[0]])
    #expect(matching(.everyChunks(nil)) == [subjects[1], subjects[13]])
    #expect(matching(.everyChunks(Partition.all[63])) == [subjects[1], subjects[13]])
    #expect(matching(.everyChunks(Partition.all[62])).isEmpty)
    #expect(matching(.everyPartition(.storage, method: "readLog")) == [subjects[4]])
    #expect(matching(.everyPartition(.storage, method: "commit")).isEmpty)
    #expect(matching(.everyPartition(.query, method: "readLog")).isEmpty)
    #expect(matching(.everyChange) == [subjects[5]])
    #expect(matching(.everyExtension) == [subjects[11]])
    #expect(matching(.everyAck(nil)) == [subjects[10]] && matching(.everyAck(Partition.all[5])) == [subjects[10]])
    #expect(matching(.everyAck(Partition.all[6])).isEmpty)
    #expect(SubjectPattern.everyChunks(nil).text == "edge.*.*.chunks.*")
    #expect(SubjectPattern.everyAck(Partition.all[5]).text == "edge.*.*.acks.5")
    #expect(SubjectPattern.everyPartition(.query, method: "find").text == "svc.query.*.find")
  }

  @Test("Architecture §4: a device's answers go to its own inbox only")
  func answersSender() {
    let subject = Subject.exchange(EnrolledDevice("ann", "d1"))
    func isFine(_ reply: String?, _ subject: Subject = subject) -> Bool {
      Incoming(subject: subject, message: Message(), reply: reply.map { ReplyAddress(text: $0) }).answersSender
    }
    #expect(isFine("inbox.ann.d1_1.r.x.1") && isFine(nil))
    #expect(!isFine("inbox.ann.d2_1.r.x.1") && !isFine("inbox.bob.d1_1.r.x.1") && !isFine("inbox.ann.d1_2.r.x.1"))
    #expect(
      !isFine("inbox.ann.d1_1.notify") && !isFine("inbox.d1.r.x.1") && !isFine("svc.storage.1.commit")
        && !isFine("inbox.ann.d11_1.r.x.1"))
    #expect(isFine("inbox.@sync.r.x.1", .service(.schema, method: "define")))
  }
}
