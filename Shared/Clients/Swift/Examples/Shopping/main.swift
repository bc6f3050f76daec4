// Shopping lists of a user that are the same on all of their devices, with or without a network: the first example of
// CloudKit's paper (section 7). What Caravan asks of an app are the lines that end in "// sync" below.

import CaravanClient
import CommandLineOptions
import Glibc

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "shopping")
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-shopping", "Shopping lists that are the same on all your devices.",
  [
    Command(
      "caravan-shopping add", "Puts items on a list, which is made if there is none of that name.",
      operands: .init("LIST ITEM ...", 2...100), flags: common),
    Command(
      "caravan-shopping check", "Says that items are in the basket.", operands: .init("LIST ITEM ...", 2...100),
      flags: common),
    Command(
      "caravan-shopping remove", "Removes items from a list, or, without any, the list.",
      operands: .init("LIST [ITEM ...]", 1...100), flags: common),
    Command("caravan-shopping show", "Shows the lists.", flags: common),
    Command(
      "caravan-shopping watch", "Shows the lists, and again whenever one of them changes on any device.",
      flags: common),
  ])

/// The table is a zone of the user's private database, and each list one of its records. A registration to read is a
/// subscription to that zone: the cloud tells the agent of each change, without a word to the user, and the agent
/// fetches it.
func open(_ client: CaravanClient) async throws -> Table {
  let lists = try await client.createTable(  // sync
    "shopping_lists", "name VARCHAR PRIMARY KEY, items LIST<VARCHAR>, checked LIST<VARCHAR>")  // sync
  try await lists.registerWriteSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
  try await lists.registerReadSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
  return lists
}

func edit(_ name: String, in lists: Table, _ change: (inout ShoppingList) throws -> Void) async throws {
  let named = Table.Selection("name = ?", [.text(name)])
  var list = ShoppingList(try await lists.rows(named).all().first)  // sync
  try change(&list)
  if try await lists.update(named, list.cells).isEmpty {  // sync
    try await lists.write(list.cells.merging(["name": .text(name)]) { $1 })  // sync
  }
}

func remove(_ items: some Collection<String>, from name: String, in lists: Table) async throws {
  guard items.isEmpty else { return try await edit(name, in: lists) { list in items.forEach { list.remove($0) } } }
  try await lists.delete(.init("name = ?", [.text(name)]))  // sync
}

/// Lists that were changed on two devices, which did not know of each other, get the changes of both.
func settle(_ lists: Table) async throws {
  do {
    try await lists.withConflictResolution { resolution in  // sync
      for conflict in try await resolution.conflicts() {  // sync
        try await resolution.resolve(conflict.mine.id, decision(of: conflict))  // sync
      }
    }  // sync
  } catch let error as CaravanError where error.code == .serverBusy {
    // Another window of the app is doing it.
  }
}

/// A list that one device has removed and another one has changed is still wanted.
func decision(of conflict: Conflict) -> Resolution {
  guard let theirs = conflict.theirs else { return .mine }
  if conflict.isMineDeleted { return .theirs }
  let (mine, ancestor) = (ShoppingList(conflict.mine), ShoppingList(conflict.ancestor))
  return .new(mine.merged(with: ShoppingList(theirs), since: ancestor).cells)
}

func text(_ row: AppRow) -> String {
  let list = ShoppingList(row)
  let items = list.items.map { "  [\(list.checked.contains($0) ? "x" : " ")] \($0)" }
  return ([row["name"].textValue ?? ""] + items).joined(separator: "\n")
}

func show(_ lists: Table) async throws {
  for row in try await lists.rows(orderBy: [("name", false)]).all() { print(text(row)) }  // sync
}

/// Shows what this device's apps change at once, and what other devices change as soon as it has come.
func watch(_ lists: Table) async throws {
  var (rows, shown): ([LiveRow], String?) = ([], nil)
  for try await change in lists.live(orderBy: [("name", false)]) {  // sync
    try change.apply(to: &rows)  // sync
    if rows.contains(where: { $0.row.state == .conflict }) { try await settle(lists) }
    let all = rows.isEmpty ? "there are no lists" : rows.map { text($0.row) }.joined(separator: "\n")
    // A list that has reached the cloud has changed, and nothing that shows.
    if all != shown { say(all + "\n") }
    shown = all
  }
}

/// At once, even into a pipe.
func say(_ text: String) {
  print(text)
  fflush(nil)
}

func run(_ command: Command, _ options: Options) async throws {
  let (name, items) = (options.operands.first ?? "", options.operands.dropFirst())
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    let lists = try await open(client)
    try await settle(lists)
    switch command.name.split(separator: " ").last {
    case "add": try await edit(name, in: lists) { list in items.forEach { list.add($0) } }
    case "check": try await edit(name, in: lists) { list in try items.forEach { try list.check($0) } }
    case "remove": try await remove(items, from: name, in: lists)
    case "show": try await show(lists)
    default: try await watch(lists)
    }
  }
}

commands.run(run)
