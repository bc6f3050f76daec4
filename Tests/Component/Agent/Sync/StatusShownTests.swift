import CaravanAgentCore
import CaravanModel
import Testing

@testable import CaravanAgentSync

/// Goal: an app sees of the device's status what concerns it. Method: a status by hand.
@Suite struct StatusShownTests {
  private static let notes = ContainerID(unchecked: "notes")
  private static let (own, other) = (
    TableID(app: notes, name: "pages"), TableID(app: ContainerID(unchecked: "photos"), name: "album")
  )

  private static let status = SyncStatus(
    device: "phone", user: "ada", link: nil, isConnected: false, unreachable: "nobody answers at nats://broker",
    atWork: [own, other], counters: [.init(name: "c", value: 1)], spent: [.cellular: 60],
    usage: [(TableID?.some(own), 10), (other, 20), (nil, 30)].map { table, bytes in
      .init(account: .init(link: .cellular, table: table), bytes: .init(up: bytes))
    })

  @Test("MOB-18: an app is shown its own tables; the device's owner also what the device does by itself")
  func shown() {
    let (guest, owner) = (
      Self.status.shown(to: Self.notes, isOwner: false), Self.status.shown(to: Self.notes, isOwner: true)
    )
    for shown in [guest, owner] { #expect(shown.atWork == [Self.own]) }
    #expect(guest.usage.map(\.account.table) == [Self.own])
    #expect(owner.usage.map(\.account.table) == [Self.own, nil])
    #expect(guest.spent == [.cellular: 10] && owner.spent == [.cellular: 60])
    #expect(guest.counters.isEmpty && owner.counters.count == 1)
    #expect(guest.unreachable == nil && owner.unreachable == Self.status.unreachable)
  }
}
