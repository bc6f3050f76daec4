import CaravanAgentApps
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// Goal: the agent serves apps on a socket that systemd made, and leaves it as it was. Method: the test makes the
/// socket and hands the agent's server a descriptor of it, as a supervisor does.
@Suite("Socket activation", .timeLimit(.minutes(2)))
struct SocketActivationTests {
  static func listener(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(status == 0 && listen(descriptor, 16) == 0)
    return descriptor
  }

  @Test("apps that come before the agent wait; the socket outlives the agent, and serves the next one")
  func restart() async throws {
    let host = Host.live(logLevel: .error)
    try await withTemporaryDirectory { directory in
      let path = "\(directory)/agent.sock"
      let descriptor = try Self.listener(at: path)
      defer { close(descriptor) }
      for life in 1...2 {
        let store = try await LocalStore.open("\(directory)/store", host: host)
        try await withThrowingTaskGroup(of: Void.self) { group in
          // The connection is made before there is a server: it waits in the socket's queue.
          let early = try RawPeer(path)
          let server = try await AppServer(
            socket: path, inherited: dup(descriptor), store: store, sync: ScriptedSync(), host: host)
          group.addTask { try await server.run() }
          await early.send([3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3])
          #expect(try await early.receive() != nil, "it is answered, if only with a refusal")
          try await CaravanClient.withConnection(to: path, app: "album") { client in
            let table = try await client.createTable("t", AppFixture.schema)
            try await table.write(["name": .text("x")])
            #expect(try await table.rows().all().count == life)
          }
          server.shutDown()
          try await group.waitForAll()
        }
        await store.close()
        #expect(access(path, F_OK) == 0, "the supervisor's socket stays")
      }
    }
  }

  @Test("a supervisor that listens elsewhere than apps are told is refused")
  func otherPath() async throws {
    let host = Host.live(logLevel: .error)
    try await withTemporaryDirectory { directory in
      let descriptor = try Self.listener(at: "\(directory)/one.sock")
      defer { close(descriptor) }
      let store = try await LocalStore.open("\(directory)/store", host: host)
      let error = await #expect(throws: CaravanError.self) {
        try await AppServer(
          socket: "\(directory)/other.sock", inherited: descriptor, store: store, sync: ScriptedSync(), host: host)
      }
      #expect(error?.message.contains("one.sock") == true && error?.message.contains("other.sock") == true)
      await store.close()
    }
  }
}
