import CaravanRuntime
import Dispatch
import Foundation

struct ConnectionRefused: Error {}

/// A TCP connection to a server on loopback, one blocking call at a time on a thread of its own.
final class RawClient: Sendable {
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "raw client")

  init(port: UInt16) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      close(descriptor)
      throw ConnectionRefused()
    }
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private func blocking<T: Sendable>(_ body: @escaping @Sendable (Int32) -> T) async -> T {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body(self.descriptor)) }
    }
  }

  /// Sends all; false if the server has closed.
  @discardableResult
  func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) async -> Bool {
    await blocking { descriptor in
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  /// Everything up to the end of the connection, or a time without bytes.
  func receiveAll() async -> String { await receive { _ in false } }

  /// Until `enough` says so.
  func receive(_ enough: @escaping @Sendable (String) -> Bool) async -> String {
    await blocking { descriptor in
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        bytes += buffer[..<count]
        if enough(String(decoding: bytes, as: UTF8.self)) { break }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// One request on a connection of its own, and the whole answer.
func ask(_ port: UInt16, _ request: String) async throws -> String {
  let client = try RawClient(port: port)
  await client.send(request)
  return await client.receiveAll()
}

func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" }

/// Holds handlers until it is opened, and lets a test wait until so many have come.
final class LinkGuard: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var held: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Mutex(State())

  func pass() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        state.arrived += 1
        for watcher in state.watchers where watcher.count <= state.arrived { watcher.continuation.resume() }
        state.watchers.removeAll { $0.count <= state.arrived }
        if state.isOpen { continuation.resume() } else { state.held.append(continuation) }
      }
    }
  }

  func open() {
    state.withLock { state in
      state.isOpen = true
      for continuation in state.held { continuation.resume() }
      state.held = []
    }
  }

  func arrived(_ count: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.arrived >= count { continuation.resume() } else { state.watchers.append((count, continuation)) }
      }
    }
  }
}
