import CaravanClient
import Client
import Crypto
import HTTP
import Model
import Runtime
import SQLite

let own = [Client.name(), Crypto.name(), HTTP.name(), Model.name(), Runtime.name(), SQLite.name()]

try await CaravanClient.withConnection(to: CommandLine.arguments[1], app: "album") { client in
  let photos = try await client.createTable("photos", "name VARCHAR, stars INTEGER")
  try await photos.registerWriteSync(period: .zero, delayTolerance: .zero, link: .wired)
  let cells: [String: Value] = ["name": .text("snoopy"), "stars": .integer(5)]
  try await photos.write(cells)
  for try await row in photos.rows(columns: ["name", "stars"]) {
    guard case .text(let name) = row["name"], case .integer(let stars) = row["stars"] else { continue }
    print("\(name) has \(stars) stars, beside \(own.joined(separator: ", "))")
  }
}
