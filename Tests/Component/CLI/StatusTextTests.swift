import CaravanLaunch
import CaravanWire
import Testing

@testable import CaravanCLIDriver
@testable import CaravanClient
@testable import struct CaravanClient.SyncEvent

/// Goal: who looks at a device's status sees what is wrong, and what to do. Method: statuses as an agent sends them.
@Suite("caravan app status")
struct StatusTextTests {
  @Test("what a table's sync rests for is said with what helps against it, and of no other table")
  func remedies() {
    let resting = TableStatus(table: "photos", refused: "no", mode: .clientError, remedy: "sing")
    let text = AppDeviceCommands.text(
      DeviceStatus(AgentStatus(tables: [TableStatus(table: "notes"), resting], mode: .clientError)))
    #expect(text.hasSuffix("\nphotos: sing") && !text.contains("notes:") && !text.contains("reset"))
  }

  @Test("SIM-83: damaged rows are named, as far as the agent names them")
  func tornRows() {
    for (count, line) in [(UInt64(2), "rows a, b"), (3, "rows a, b, …")] {
      let torn = TableStatus(table: "photos", torn: count, tornRows: ["a", "b"])
      let text = AppDeviceCommands.text(DeviceStatus(AgentStatus(tables: [TableStatus(table: "notes"), torn])))
      #expect(text.hasSuffix("\nphotos: damaged here, and awaited from the cloud: \(line)") && !text.contains("notes:"))
    }
  }

  @Test("TRU-14: a table whose zone is gone says so, how much is kept aside, and how to see it")
  func goneZone() {
    for (aside, more) in [
      (UInt64(0), ""),
      (
        1,
        "; 1 unsent change is kept aside (caravan app read photos --aside), and discarded if it says so again 10 "
          + "minutes later"
      ),
    ] {
      let gone = TableStatus(table: "photos", zoneIsGone: true, aside: aside)
      let text = AppDeviceCommands.text(DeviceStatus(AgentStatus(tables: [TableStatus(table: "notes"), gone])))
      let line = "photos: the cloud says that its zone does not exist, so its rows are hidden\(more)"
      #expect(text.hasSuffix("\n\(line)") && !text.contains("notes:"))
    }
  }

  @Test("TRU-19: a setting that the cloud has otherwise than before is said with the table")
  func settings() {
    let change = CaravanWire.SettingChange(setting: "ttl", was: "60000ms", now: "never")
    let status = DeviceStatus(AgentStatus(tables: [TableStatus(table: "photos", settingChanges: [change])]))
    #expect("\(status.tables[0].settingChanges)" == "[ttl was 60000ms, is never]")
    let text = AppDeviceCommands.text(status)
    #expect(text.hasSuffix("\nphotos: the cloud has changed a setting: ttl was 60000ms, is never"))
  }

  @Test("UNI-13, SIM-83: rows that do not show yet are counted, with what they wait for, and of no other table")
  func waiting() {
    let snapshot = CaravanWire.TableProperties(consistency: .snapshot)
    for (table, line) in [
      (TableStatus(table: "photos", waiting: 1), "1 row from the cloud waits until their objects are here"),
      (
        TableStatus(table: "photos", properties: snapshot, waiting: 12),
        "12 rows from the cloud wait until all of the snapshot is here"
      ),
    ] {
      let text = AppDeviceCommands.text(DeviceStatus(AgentStatus(tables: [TableStatus(table: "notes"), table])))
      #expect(text.hasSuffix("\nphotos: \(line)") && !text.contains("notes:"))
    }
  }

  @Test("TRU-05: a link that nobody knows is said to be assumed, with what helps")
  func assumedLink() {
    for isAssumed in [false, true] {
      let text = AppDeviceCommands.text(DeviceStatus(AgentStatus(link: .cellular, linkIsAssumed: isAssumed)))
      #expect(
        text.contains("link unknown, taken for cellular") == isAssumed && text.contains("--device-link") == isAssumed)
    }
  }

  @Test("TRU-06: apps that wait are listed with what lets them in")
  func waitingApps() throws {
    let entries = [
      AppEntry(app: "album", uid: 1_000, standing: .bound), AppEntry(app: "notes", uid: 1_001, standing: .waiting),
    ]
    let text = AgentCommands.text(entries.compactMap { DeviceOwner.App($0) })
    #expect(text.contains("caravan agent allow notes --uid 1001") && !text.contains("allow album"))
  }

  @Test(
    "TRU-05: where nobody has said what the link is: wired to brokers on this machine, else the machine's word")
  func unsaidLink() {
    for (brokers, text) in [
      (["nats://127.0.0.1:4222"], "wired"), (["nats://localhost", "nats://[::1]:4222"], "wired"),
      (["nats://127.0.0.1:4222", "tls://cloud.example"], "auto"), (["tls://10.0.0.1:4222"], "auto"),
    ] {
      #expect(LinkChoice(unsaidWith: brokers).description == text, "\(brokers)")
    }
  }

  @Test("MOB-47: what today has taken of a budget is said of the link there is, and of no other")
  func budget() {
    let budgets = [
      LinkBudget(link: .cellular, dailyBytes: 50 << 20, usedToday: 3 << 20), LinkBudget(link: .roaming, dailyBytes: 1),
    ]
    let lines: [(link: CaravanWire.LinkClass, line: String?)] = [
      (.cellular, "\ncellular: 3.0 MiB of 50.0 MiB today\n"), (.wifi, nil),
    ]
    for (link, line) in lines {
      let status = AgentStatus(link: link, policy: NetworkPolicy(maximumLink: .roaming, budgets: budgets))
      let text = AppDeviceCommands.text(DeviceStatus(status))
      #expect(line.map { text.contains($0) } ?? !text.contains(" today"))
    }
  }

  @Test("REC-08: a device that the broker refuses says so, since when, and what helps")
  func refused() {
    let status = DeviceStatus(
      AgentStatus(
        tables: [TableStatus(table: "notes")], mode: .notRecoverable, refused: "they say no", remedy: "sing",
        refusedSinceMilliseconds: 1_760_000_000_000))
    let text = AppDeviceCommands.text(status)
    #expect(text.contains(", not recoverable\nthey say no, since 2025-10-09T08:53:20"))
    #expect(text.contains(": sing\n") && !text.contains("see REFUSED"))
  }

  @Test("SIM-45: why there is no connection is said beside that there is none, unless the broker refuses the device")
  func unreachable() {
    var status = AgentStatus(tables: [TableStatus(table: "notes")], unreachable: "nobody answers")
    #expect(AppDeviceCommands.text(DeviceStatus(status)).contains(", not connected (nobody answers)"))
    status.refused = "they say no"
    #expect(!AppDeviceCommands.text(DeviceStatus(status)).contains("nobody answers"))
  }

  @Test("REC-28: what a sync came to is said in a line")
  func events() {
    let sent = CaravanWire.SyncEvent(
      table: "photos", write: true, rowsSent: 1, deletionsSent: 2, resumed: true, complete: false, sessions: 1)
    #expect(
      AppSyncCommands.text(SyncEvent(sent))
        == "sent  photos  1 row sent, 2 rows deleted at the cloud, after an interruption, more is left")
    let fetched = CaravanWire.SyncEvent(table: "photos", rowsReceived: 3, complete: true, sessions: 1)
    #expect(
      AppSyncCommands.text(SyncEvent(fetched)) == "fetched  photos  3 rows received, nothing is left")
  }

  @Test("UNI-15: of a table that keeps what a query finds is said what that is")
  func query() {
    let query = CaravanWire.Selection(
      text: "list = ? AND n < ?", arguments: [Cell(value: .text("home")), Cell(value: .integer(3))])
    for (isPicked, more) in [
      (false, ""), (true, "; the cloud cannot check that: it sends all rows, and they are picked here"),
    ] {
      let kept = TableStatus(
        table: "todo", properties: CaravanWire.TableProperties(replication: Replication(sync: .query, query: query)),
        picksHere: isPicked)
      let text = AppDeviceCommands.text(DeviceStatus(AgentStatus(tables: [TableStatus(table: "notes"), kept])))
      #expect(text.hasSuffix("\ntodo: only rows with list = ? AND n < ? (home, 3)\(more)") && !text.contains("notes:"))
    }
  }

  @Test("a full disk is said as long as it lasts")
  func fullDisk() {
    for isFull in [false, true] {
      let status = DeviceStatus(AgentStatus(device: "camera", user: "ada", diskIsFull: isFull))
      #expect(AppDeviceCommands.text(status).contains("the disk is full") == isFull)
    }
  }
}
