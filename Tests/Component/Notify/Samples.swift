import CaravanModel
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
