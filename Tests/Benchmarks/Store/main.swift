import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanStoreSQLite
import Foundation

// Rows a second of a store alone, without bus and protocol: saves of 250 bytes, singly and in batches of 100, by 64
// clients of 16 users.
//
//     caravan-store-bench [SECONDS [DIRECTORY]]
//
// Or rows with objects of 1 MiB:
//
//     caravan-store-bench chunks [DIRECTORY]

if CommandLine.arguments.dropFirst().first == "chunks" {
  let parent = CommandLine.arguments.dropFirst(2).first ?? NSTemporaryDirectory()
  let directory = "\(parent)/caravan-store-bench-\(ProcessInfo.processInfo.processIdentifier)"
  try await LongChunks(host: Host.live(logLevel: .error)).run(in: directory)
  try FileManager.default.removeItem(atPath: directory)
  exit(0)
}

let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 3
let parent = CommandLine.arguments.dropFirst(2).first ?? NSTemporaryDirectory()
let directory = "\(parent)/caravan-store-bench-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
let host = Host.live(logLevel: .error)
let store = try await StoreSQLite(StoreOptions(.directory(directory)), host: host)
let body = [UInt8](repeating: 7, count: 250)

@Sendable func zone(of client: Int, _ workload: String) throws -> ZoneID {
  let owner = try UserID("user-\(client % 16)")
  return try ZoneID(
    DatabaseID(container: ContainerID("bench"), environment: .development, owner: owner), "\(workload)-\(client)")
}

/// Runs `commit` on every client until the time is over.
func measure(_ workload: String, rows: Int, _ mutations: @escaping @Sendable (Int) -> [Mutation]) async throws {
  let start = host.clock.now
  let end = start + .milliseconds(Int64(seconds * 1_000))
  let commits = try await withThrowingTaskGroup(of: Int.self) { group in
    for client in 0..<64 {
      group.addTask {
        let zone = try zone(of: client, workload)
        var number = 0
        while host.clock.now < end {
          let op = OpID(writer: "\(workload)-\(client)", epoch: 1, number: UInt64(number + 1))
          let commit = Commit(
            zone: zone, op: op, opFloor: op.number, isAtomic: false, mutations: mutations(number))
          guard case .applied(let outcomes, _, _, _) = try await store.commit(commit), case .accepted? = outcomes.last
          else { throw CaravanError(.internalError, "a save of the benchmark was not accepted") }
          number += 1
        }
        return number
      }
    }
    return try await group.reduce(0, +)
  }
  let took =
    Double((host.clock.now - start).components.seconds) + 1e-18
    * Double((host.clock.now - start).components.attoseconds)
  print("\(workload): \(Int(Double(commits * rows) / took)) rows/s")
}

try await measure("create", rows: 1) { number in
  [Mutation(name: "row-\(number)", base: .absent, change: .save(type: 1, body: body, chunks: []))]
}
try await measure("update", rows: 1) { number in
  let base: Base = number < 8 ? .absent : .version(Seq(number - 7))
  return [Mutation(name: "row-\(number % 8)", base: base, change: .save(type: 1, body: body, chunks: []))]
}
try await measure("batch", rows: 100) { number in
  (0..<100).map {
    Mutation(name: "row-\(number).\($0)", base: .absent, change: .save(type: 1, body: body, chunks: []))
  }
}
try await measure("delete", rows: 100) { number in
  (0..<100).map {
    number.isMultiple(of: 2)
      ? Mutation(name: "row-\(number).\($0)", base: .absent, change: .save(type: 1, body: body, chunks: []))
      : Mutation(name: "row-\(number - 1).\($0)", base: .any, change: .delete)
  }
}
await store.close()
try FileManager.default.removeItem(atPath: directory)
