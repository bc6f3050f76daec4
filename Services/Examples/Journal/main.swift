// A journal in one file of app code that needs no agent: it keeps its entries in a file of its own, works with or
// without a connection, and syncs by diffs when it is told to.

import CaravanBusNATS
import CaravanCrypto
import CaravanDiffSync
import CaravanDiffSyncClient
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import Foundation

let credentials = Flag<String>(
  "creds", "FILE", "a device's credentials: caravan device add", environment: "CARAVAN_CREDS")
let broker = Flag<String>("nats", "URL", "the broker", environment: "CARAVAN_NATS")
let data = Flag<String>("data", "DIR", "where the journal is kept", environment: "CARAVAN_DATA")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "journal")
let common: FlagList = [
  credentials, broker, data, app, Flag<String?>.tlsAuthority, Flag<String?>.tlsCertificate, Flag<String?>.tlsKey,
  Flag<Bool>.insecure,
]

let commands = CommandSet(
  "caravan-journal", "A journal that syncs by diffs, without an agent.",
  [
    Command(
      "caravan-journal add", "Adds an entry, and prints its name.", operands: .init("TEXT", 1...1), flags: common),
    Command("caravan-journal change", "Writes an entry anew.", operands: .init("ENTRY TEXT", 2...2), flags: common),
    Command(
      "caravan-journal mark", "Gives an entry a mood, which leaves its text alone.",
      operands: .init("ENTRY MOOD", 2...2), flags: common),
    Command("caravan-journal remove", "Removes an entry.", operands: .init("ENTRY", 1...1), flags: common),
    Command("caravan-journal show", "Prints what is here: entry, mood, text.", flags: common),
    Command(
      "caravan-journal sync", "Brings what others wrote, and takes to them what was written here.", flags: common),
  ])

let fields = [("text", FieldKind.text), ("mood", .text)].map { FieldDefinition(id: 0, name: $0.0, kind: $0.1) }

func show(_ client: DiffSyncClient) async throws {
  for (uuid, entry) in try await client.objects(of: "entries").sorted(by: { $0.key < $1.key }) {
    func text(_ field: String) -> String { if case .text(let text)? = entry.fields[field] { text } else { "-" } }
    print("\(uuid) \(text("mood")) \(text("text"))")
  }
}

func run(_ command: Command, _ options: Options) async throws {
  let (host, operands) = (Host.live(logLevel: .error), options.operands)
  let known = try Credentials.reading(options[credentials])
  let tls = try NATSOptions.TLS.given(by: options)
  var reach = NATSOptions(urls: [options[broker]], credentials: known, tls: tls, name: known.jwt.claims.name)
  reach.allowsClear = options[Flag<Bool>.insecure]
  let bus = try await NATSBus.connect(reach, host: host)
  let client = try DiffSyncClient(
    .init(
      container: ContainerID(options[app]), zone: "entries", credentials: known, directory: options[data]), bus: bus,
    host: host)
  switch command.name.split(separator: " ").last {
  case "add":
    let uuid = UUID().uuidString.lowercased()
    try await client.create(uuid, "entries", ["text": .text(operands[0])])
    print(uuid)
  case "change": try await client.update(operands[0], "text", .text(operands[1]))
  case "mark": try await client.update(operands[0], "mood", .text(operands[1]))
  case "remove": try await client.delete(operands[0])
  case "sync":
    try await bus.waitUntilConnected(deadline: .seconds(20))
    _ = try await client.agree(on: "entries", fields)
    let report = try await client.sync()
    print("\(report.pulled) diffs down, \(report.pushed) up, at height \(await client.height)")
  default: try await show(client)
  }
  await client.close()
  await bus.drain(deadline: .seconds(2))
}

commands.run(run)
