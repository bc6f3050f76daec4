import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what is known of a table between its sessions is what they came to. Method: the value itself, event by event.
@Suite struct TableSyncTests {
  private static let table = PushSessionTests.table
  private static let other = TableID(app: table.app, name: "other")

  @Test("a push takes over the plan that the last one left, and hears of what has come meanwhile, once each")
  func pushes() {
    var table = TableSync()
    let plan = PlanInFlight(PushSessionTests.plan(), mustSettle: true)
    table.pending = plan
    let plans = [table.takePending(), table.takePending()]
    #expect(plans == [plan, nil])
    let before = table.takeMore()
    table.noteMore()
    let more = [before, table.takeMore(), table.takeMore()]
    #expect(more == [false, true, false])
  }

  @Test("rows that were refused rest until their time is over, somebody asks, or the connection is back")
  func rests() {
    var table = TableSync()
    let fresh = table.retriesRefused(isDemanded: false, at: 0)
    table.rest(from: 5)
    let end = 5 + EngineLimits.refusedRestMilliseconds * 1_000_000
    let early = table.retriesRefused(isDemanded: false, at: end - 1)
    #expect(fresh && !early && table.restEnds == end)
    let late = table.retriesRefused(isDemanded: false, at: end)
    #expect(late && table.restEnds == nil)
    table.rest(from: 5)
    let asked = table.retriesRefused(isDemanded: true, at: 6)
    #expect(asked && table.restEnds == nil)
    table.rest(from: 5)
    table.endRest()
    #expect(table.restEnds == nil)
  }

  @Test("CK-102: a full account is known until a push has gone, and every change of that is told once")
  func room() {
    var table = TableSync()
    let failures: [(CaravanError?, Bool, Bool)] = [
      (nil, false, false), (PushSessionTests.full, true, true), (PushSessionTests.full, false, true),
      (PushSessionTests.offline, false, true), (nil, true, false),
    ]
    for (failure, isNews, lacksRoom) in failures {
      let isOther = table.pushEnded(with: failure)
      #expect(isOther == isNews && table.lacksRoom == lacksRoom)
    }
  }

  @Test("a copy that nobody can explain is void in the next epoch, and sound once its pull has started over")
  func copies() {
    var table = TableSync()
    var startsOver = table.beginPull()
    #expect(!startsOver && !table.isUnexplained && !table.isVoid)
    table.foundUnexplained()
    #expect(table.isUnexplained && !table.isVoid)
    startsOver = table.beginPull()
    #expect(!startsOver && table.isUnexplained)
    table.epochBegan()
    #expect(!table.isUnexplained && table.isVoid)
    startsOver = table.beginPull()
    #expect(startsOver && !table.isVoid)
    table.pullDidNotStartOver()
    #expect(table.isVoid && !table.isUnexplained)
    // A page that was under way says so once more.
    table.foundUnexplained()
    #expect(table.isVoid && table.isUnexplained)
    startsOver = table.beginPull()
    #expect(startsOver && !table.isVoid && table.isUnexplained)
    table.pullDidNotStartOver()
    #expect(table.isVoid && table.isUnexplained)
    table.epochBegan()
    #expect(table.isVoid && !table.isUnexplained)
  }

  @Test("what a disk refuses is told of once, until it takes it")
  func disks() {
    var table = TableSync()
    let news = [table.diskRefused(.write, "w"), table.diskRefused(.write, "full"), table.diskRefused(.read, "x")]
    #expect(news == [true, false, true])
    #expect(table.diskRefusal == "full")
    table.diskTook(.write)
    #expect(table.diskRefusal == "x")
    table.diskTook(.read)
    #expect(table == TableSync())
  }

  @Test("early uploads are so many at most")
  func earlyUploads() {
    var table = TableSync()
    let most = EngineLimits.earlyMessages
    let begun = (0...most).map { _ in table.beginEarlyUpload() }
    #expect(begun == [Bool](repeating: true, count: most) + [false])
    let ended = (0..<most).map { _ in table.endEarlyUpload() }
    #expect(ended == [Bool](repeating: false, count: most - 1) + [true])
  }

  @Test("a table that was dropped is forgotten but for what it starts over with")
  func forgetting() {
    var table = TableSync()
    table.pending = PlanInFlight(PushSessionTests.plan(), mustSettle: true)
    table.awaitPush(true)
    _ = table.diskRefused(.write, "full")
    table.foundUnexplained()
    table.forget()
    #expect(table == TableSync())
    table.pullDidNotStartOver()
    table.foundUnexplained()
    table.forget()
    #expect(table.isVoid && !table.isUnexplained)
  }

  @Test("tables are counted as they change, and those of which nothing is known take no room")
  func counts() {
    var tables = TableSyncs()
    tables[Self.table].pending = PlanInFlight(PushSessionTests.plan(), mustSettle: true)
    tables[Self.table].foundUnexplained()
    tables[Self.other].giveUp(over: PushSessionTests.offline)
    tables[Self.other].awaitPush(true)
    #expect(tables.pendingCount == 1 && tables.unexplainedCount == 1 && tables.faultCount == 1)
    #expect(tables.tables(where: \.awaitsPush) == [Self.other])
    #expect(tables.tables { _ in true } == [Self.table, Self.other])
    let faults = [tables[Self.other].takeFault(), tables[Self.other].takeFault()]
    #expect(faults == [PushSessionTests.offline, nil])
    tables[Self.table].forget()
    tables.forAll { $0.awaitPush(false) }
    #expect(tables.pendingCount == 0 && tables.unexplainedCount == 0 && tables.faultCount == 0)
    #expect(tables.tables { _ in true }.isEmpty && tables.diskRefusals.isEmpty)
  }

  @Test("an early upload that has not begun cannot end")
  func invalid() async {
    await #expect(processExitsWith: .failure) {
      var table = TableSync()
      _ = table.endEarlyUpload()
    }
  }
}
