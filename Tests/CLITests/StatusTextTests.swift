import Testing
import Wire

@testable import CLIDriver
@testable import Client

/// Goal: who looks at a device's status sees what is wrong, and what to do. Method: statuses as an agent sends them.
@Suite("caravan app status")
struct StatusTextTests {
  @Test("a full disk is said as long as it lasts")
  func fullDisk() {
    for isFull in [false, true] {
      let status = DeviceStatus(AgentStatus(device: "camera", user: "ada", diskIsFull: isFull))
      #expect(AppDeviceCommands.text(status).contains("the disk is full") == isFull)
    }
  }
}
