import CaravanModel
import CaravanNotifyCore
import CaravanTestKit

let alice = UserID(unchecked: "alice")
let phone = EnrolledDevice("alice", "phone")
let tablet = EnrolledDevice("alice", "tablet")

func zone(_ name: String, of user: UserID = alice) -> ZoneID {
  guard
    let zone = try? ZoneID(
      DatabaseID(container: ContainerID(unchecked: "album"), environment: .development, owner: user), name)
  else {
    preconditionFailure("'\(name)' is no zone name")
  }
  return zone
}

func list(_ generation: UInt64, _ items: [(zone: String, period: UInt32)]) throws -> DeviceList {
  try DeviceList(
    generation: generation, items: items.map { DeviceList.Item(zone: zone($0.zone), period: $0.period) })
}

func moment(_ milliseconds: Int64, wallAhead: Int64 = 0) -> Moment {
  Moment(wall: milliseconds + wallAhead, monotonic: milliseconds)
}

extension PartitionNotifier {
  var wake: Wake {
    var copy = self
    return copy.nextWake()
  }
}

func bits(_ pending: PendingNotification?) -> [Int]? { pending?.bitmap.set }

/// A partition with devices and their lists, at time 0.
func partition(_ lists: [EnrolledDevice: DeviceList]) throws -> PartitionNotifier {
  var machine = PartitionNotifier(startedAt: 0, position: 0)
  for (device, list) in lists {
    _ = try machine.setList(list, of: device, isCurrent: true, now: moment(0))
  }
  return machine
}
