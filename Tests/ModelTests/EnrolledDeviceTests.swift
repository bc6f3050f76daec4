import Model
import Testing

/// Goal: the one name of a device's enrolment has one written form, and nothing else reads as it. Method: tables.
@Suite struct EnrolledDeviceTests {
  @Test("issue 5, A1: an enrolment is written and read in one form")
  func oneForm() throws {
    let device = EnrolledDevice(user: try UserID("ada"), device: try DeviceID("camera-2"), enrolment: 7)
    #expect(device.text == "ada/camera-2/7")
    #expect(try EnrolledDevice(device.text) == device)
  }

  @Test(
    "issue 5, A1: what is no enrolment is refused",
    arguments: [
      "", "camera", "ada/camera", "ada/camera/0", "ada/camera/01", "ada/camera/-1", "ada/camera/4294967296",
      "ada/camera/1/", "/camera/1", "ada//1", "ada/*/1", "ada/ca.mera/1", "ada/camera/one",
    ])
  func refused(text: String) {
    #expect(throws: CaravanError.self) { try EnrolledDevice(text) }
  }
}
