import CaravanModel
import Testing

/// Goal: the one name of a device's enrolment has one written form, and nothing else reads as it. Method: tables.
@Suite struct EnrolledDeviceTests {
  @Test("TRU-01: an enrolment is written and read in one form")
  func oneForm() throws {
    let device = EnrolledDevice(
      user: try UserID("ada"), device: try DeviceID("camera-2"), enrolment: 7, environment: .development)
    #expect(device.text == "ada/camera-2/7")
    #expect(try EnrolledDevice(device.text) == device)
    #expect(try EnrolledDevice(user: device.user, token: device.token) == device && device.token == "camera-2_7")
  }

  @Test(
    "TRU-04: an enrolment for production says so in each of its forms, and is not development's of that number")
  func production() throws {
    let (user, name) = (try UserID("ada"), try DeviceID("camera-2"))
    let device = EnrolledDevice(user: user, device: name, enrolment: 7, environment: .production)
    #expect(device.text == "ada/camera-2/7/production" && device.token == "camera-2_7_production")
    #expect(try EnrolledDevice(device.text) == device)
    #expect(try EnrolledDevice(credentials: device.token, user: "ada") == device)
    #expect(EnrolledDevice.isNumbered(device.token))
    let other = EnrolledDevice(user: user, device: name, enrolment: 7, environment: .development)
    #expect(device != other && other < device && device.renewalStatement(at: 1) != other.renewalStatement(at: 1))
    #expect(try EnrolledDevice(credentials: "camera-2", user: "ada").environment == .development)
    for token in ["camera-2_7_development", "camera-2_7_Production", "camera-2_7_", "camera-2_production"] {
      #expect(throws: CaravanError.self) { try EnrolledDevice(user: user, token: token) }
    }
  }

  @Test(
    "TRU-01: what is no enrolment is refused",
    arguments: [
      "", "camera", "ada/camera", "ada/camera/0", "ada/camera/01", "ada/camera/-1", "ada/camera/4294967296",
      "ada/camera/1/", "/camera/1", "ada//1", "ada/*/1", "ada/ca.mera/1", "ada/camera/one",
      "ada/camera/1/development", "ada/camera/1/moon", "ada/camera/production", "ada/camera/1/production/1",
    ])
  func refused(text: String) {
    #expect(throws: CaravanError.self) { try EnrolledDevice(text) }
  }
}
