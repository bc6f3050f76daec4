// A chat room whose users are told of topics that they care for: the second example of CloudKit's paper (section 7).
// What is said lies in the public database, no device keeps it, and notifications bring it.

import CaravanClient
import CommandLineOptions

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "chat")
let templates = Flag<Bool>("templates", "", "subscribes by the schema's templates, as production wants it")
let isShort = Flag<Bool>("no-wait", "", "ends when what there is has been shown")
let limit = Flag<Int>("limit", "N", "most messages shown", default: 20, in: 1...1_000)
let photo = Flag<String?>("photo", "FILE", "a picture that goes with what is said")
let common: FlagList = [socket, app]
let saying: FlagList = [socket, app, photo]
let subscribing: FlagList = [socket, app, templates]
let listening: FlagList = [socket, app, isShort]
let looking: FlagList = [socket, app, limit]

let commands = CommandSet(
  "caravan-chat", "A room where people talk.",
  [
    Command(
      "caravan-chat join", "Enters the room under a name that nobody else has.", operands: .init("NAME", 1...1),
      flags: subscribing),
    Command("caravan-chat say", "Says something.", operands: .init("TEXT", 1...1), flags: saying),
    Command(
      "caravan-chat photo", "Writes a message's picture to a file.", operands: .init("MESSAGE FILE", 2...2),
      flags: common),
    Command(
      "caravan-chat topics", "Lists the topics that you are told of, adds one, or removes one.",
      operands: .init("[list | add WORD | remove WORD]", 0...2), flags: subscribing),
    Command(
      "caravan-chat listen", "Shows what is said, from where this device listened last.", flags: listening),
    Command("caravan-chat missed", "Counts messages about your topics that were not shown here.", flags: common),
    Command("caravan-chat history", "Shows what was said last.", flags: looking),
  ])

func topics(_ room: Room, _ words: [String]) async throws {
  switch words.count == 2 ? words[0] : words.first ?? "list" {
  case "add" where words.count == 2: try await room.add(words[1])
  case "remove" where words.count == 2: try await room.remove(words[1])
  case "list" where words.count < 2: for topic in try await room.topics() { show(topic) }
  default: throw CaravanError(.invalidData, "topics: say list, add WORD or remove WORD")
  }
}

func run(_ command: Command, _ options: Options) async throws {
  let words = options.operands
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in
    let memory = try await Memory(client)
    let name = command.name.split(separator: " ").last
    let usesTemplates = name == "join" || name == "topics" ? options[templates] : false
    let room = Room(client: client, memory: memory, usesTemplates: usesTemplates)
    switch name {
    case "join": try await room.join(as: words[0])
    case "say": try await room.say(words[0], with: try options[photo].map(Picture.read))
    case "photo": try await room.savePhoto(of: words[0], to: words[1])
    case "topics": try await topics(room, words)
    case "listen": try await room.listen(waits: !options[isShort])
    case "missed": show("\(try await room.missed())")
    default: try await room.history(options[limit])
    }
  }
}

commands.run(run)
