internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// What disk and broker can do by themselves, measured in the same run as ours.
struct Baselines: Sendable {
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
    try await echoing(answering, on: subject) {
      var samples = Samples()
      let message = Message(host.random.bytes(100))
      for _ in 0..<rounds {
        let start = host.clock.now
        _ = try await asking.request(message, to: subject, deadline: .seconds(5))
        samples.add(host.clock.now - start)
      }
      return samples
    }
  }

  /// Requests a second that connections make, each one after the other, if they are answered at once.
  func echoes(
    _ asking: [NATSBus], _ answering: NATSBus, on subject: Subject, bytes: Int, seconds: Double
  ) async throws -> Double {
    try await echoing(answering, on: subject) {
      let message = Message(host.random.bytes(bytes))
      let start = host.clock.now
      let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for bus in asking {
          group.addTask {
            var count = 0
            while host.clock.now < start + .seconds(seconds) {
              _ = try await bus.request(message, to: subject, deadline: .seconds(5))
              count += 1
            }
            return count
          }
        }
        return try await group.reduce(0, +)
      }
      return Double(count) / (host.clock.now - start).seconds
    }
  }

  private func echoing<Result: Sendable>(
    _ answering: NATSBus, on subject: Subject, _ body: () async throws -> Result
  ) async throws -> Result {
    let subscription = try await answering.subscribe(.exact(subject), group: nil, capacity: 1024)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while case .message(let incoming)? = await subscription.next() {
          if let reply = incoming.reply { try await answering.reply(incoming.message, to: reply) }
        }
      }
      defer {
        subscription.cancel()
        group.cancelAll()
      }
      return try await body()
    }
  }
}
