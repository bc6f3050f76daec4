internal import Bus
internal import BusNATS
internal import Glibc
internal import Model
internal import Runtime

/// What disk and broker can do by themselves, measured in the same run as ours.
struct Floors: Sendable {
  let host: Host
  let directory: String

  /// Appends `bytes` to a file and syncs it, again and again.
  func appendAndSync(bytes: Int, rounds: Int) throws(CaravanError) -> Samples {
    let path = "\(directory)/floor-\(bytes)"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CaravanError(.storageFull, "cannot write '\(path)'") }
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    let data = host.random.bytes(bytes)
    var samples = Samples()
    for _ in 0..<rounds {
      let start = host.clock.now
      let written = unsafe data.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard written == bytes, fdatasync(descriptor) == 0 else {
        throw CaravanError(.storageFull, "cannot write '\(path)'")
      }
      samples.add(host.clock.now - start)
    }
    return samples
  }

  /// A request and its answer between two connections.
  func roundTrip(_ asking: NATSBus, _ answering: NATSBus, on subject: Subject, rounds: Int) async throws -> Samples {
    let subscription = try await answering.subscribe(.exact(subject), group: nil, capacity: 16)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while case .message(let incoming)? = await subscription.next() {
          if let reply = incoming.reply { try await answering.reply(incoming.message, to: reply) }
        }
      }
      var samples = Samples()
      let message = Message(host.random.bytes(100))
      for _ in 0..<rounds {
        let start = host.clock.now
        _ = try await asking.request(message, to: subject, deadline: .seconds(5))
        samples.add(host.clock.now - start)
      }
      subscription.cancel()
      group.cancelAll()
      return samples
    }
  }
}
