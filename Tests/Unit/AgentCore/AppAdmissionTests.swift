import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: the rule of first contacts. Method: tables.
@Suite struct AppAdmissionTests {
  @Test("TRU-06: known at once are the agent's own apps and a package's; others wait, unless the device is open")
  func verdicts() {
    let (closed, open) = (AppAdmission(agentUser: 5), AppAdmission(agentUser: 5, isOpen: true))
    for (user, registered, verdict) in [
      (5, nil, .welcome), (0, nil, .welcome), (6, nil, .waits), (6, 6, .welcome), (7, 6, .taken(by: 6)),
      (5, 6, .taken(by: 6)), (0, 6, .taken(by: 6)),
    ] as [(UInt32, UInt32?, AppAdmission.Verdict)] {
      #expect(closed.verdict(on: user, registered: registered) == verdict, "\(user) \(String(describing: registered))")
      #expect(open.verdict(on: user, registered: registered) == (verdict == .waits ? .welcome : verdict))
    }
    #expect(closed.isOwner(0) && closed.isOwner(5) && !closed.isOwner(6) && !open.isOwner(6))
  }

  @Test("TRU-06: contacts that wait are bounded, for each user and in all, and nobody displaces another's")
  func waiting() {
    var waiting = WaitingApps(AppShare(app: 1, user: 2, all: 5))
    func app(_ name: String) -> ContainerID { ContainerID(unchecked: name) }
    for number in 0..<100 { waiting.add(app("flood\(number)"), of: 9) }
    waiting.add(app("flood99"), of: 9)
    #expect(waiting.contacts.map(\.app.text) == ["flood98", "flood99"])
    for user in 1...3 as ClosedRange<UInt32> { waiting.add(app("album"), of: user) }
    #expect(waiting.contacts.count == 5)
    waiting.add(app("album"), of: 4)
    #expect(waiting.contacts.count == 5 && waiting.contacts.map(\.user) == [9, 1, 2, 3, 4])
    waiting.remove(app("album"), of: 2)
    #expect(waiting.contacts.map(\.user) == [9, 1, 3, 4])
  }

  @Test("TRU-06: a package's file has a name and a uid, each once, and nothing else")
  func registrations() throws {
    let good = try AppRegistration(parsing: "# an app\n\n name = album \nuid=1001 # theirs\n")
    #expect(good.app.text == "album" && good.user == .number(1_001))
    #expect(try AppRegistration(parsing: "name = a\nuid = photos").user == .name("photos"))
    for bad in ["", "name = a", "uid = 1", "name = a\nuid =", "name = a\nuid = 1\nuid = 2", "name = A b\nuid = 1", "x"]
    {
      #expect(throws: CaravanError.self, "\(bad)") { try AppRegistration(parsing: bad) }
    }
    let passwords = "root:x:0:0::/root:/bin/sh\nphotos:x:998:998::/:/sbin/nologin\nbroken\n"
    #expect(AppRegistration.number(of: "photos", in: passwords) == 998)
    #expect(AppRegistration.number(of: "broken", in: passwords) == nil)
    #expect(AppRegistration.number(of: "photo", in: passwords) == nil)
  }
}
