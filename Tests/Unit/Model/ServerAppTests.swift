import CaravanModel
import Testing

/// Goal: no person is taken for a server app, and no server app for a person. Method: names, by table.
@Suite struct ServerAppTests {
  @Test(
    "MOB-56: a server app is a user whom no person is called like, and in each container a device called like that",
    arguments: ["billing", "a", "7", "a-b", "server", String(repeating: "x", count: 55)])
  func names(name: String) throws {
    let app = try ServerApp(name)
    #expect(app.name == name && ServerApp(app.user) == app)
    #expect(try UserID(app.user.text) == app.user, "it is a token of a subject as any user's id is")
    let shop = try ContainerID("shop")
    let device = app.device(in: shop, enrolment: 3, .production)
    #expect(device.token == "shop_3_production" && device.onlyContainer == shop)
    #expect(try EnrolledDevice(device.text) == device)
    #expect(try EnrolledDevice(user: app.user, token: device.token) == device)
  }

  @Test(
    "MOB-56: what no subject can have, or what would be another's name, no server app has",
    arguments: ["", "-", "-a", "a-", "A", "a_b", "a.b", "*", "a b", "ä", String(repeating: "x", count: 56)])
  func noNames(name: String) {
    #expect(throws: CaravanError.self) { try ServerApp(name) }
  }

  @Test(
    "MOB-56: people are no server apps, and their devices speak of every container",
    arguments: ["ann", "server", "server-billing", "serverbilling", "my-server--billing", "server---billing"])
  func people(user: String) throws {
    let user = try UserID(user)
    #expect(ServerApp(user) == nil)
    let device = EnrolledDevice(user: user, device: try DeviceID("shop"), enrolment: 1, environment: .development)
    #expect(device.onlyContainer == nil)
  }
}
