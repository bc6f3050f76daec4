internal import Bus
internal import BusNATS
internal import Model
internal import Runtime
internal import Wire

/// One device saves a row; how long until every other device of the user has been told.
struct FanoutBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let devices: Int
  let rounds: Int

  func run() async throws {
    let writer = try await suite.edgeDevice("fan-writer", user: "fan")
    let type = try await writer.makeType("row", in: "bench")
    let listeners = try await suite.edgeDevices(devices, prefix: "fan", user: "fan")
    var inboxes: [any BusSubscription] = []
    for listener in listeners {
      inboxes.append(try await listener.bus.subscribe(.exact(.notify(listener.device)), group: nil, capacity: 64))
      let list = Subscribe(
        generation: 1, subscriptions: [ZoneSubscription(container: "bench", zone: "row", periodMilliseconds: 0)])
      guard case .done = try await listener.ask(.subscribe(list)) else {
        throw CaravanError(.internalError, "a subscription was answered with something else")
      }
    }
    let samples = SampleRows(host: suite.host, bytes: 100)
    var all = Samples()
    for round in 1...rounds {
      let start = suite.host.clock.now
      try await writer.save(
        [samples.body()], names: [samples.name(UInt64(round))], type: type, op: UInt64(round), to: "row", in: "bench")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (listener, inbox) in zip(listeners, inboxes) {
          group.addTask { try await hear(listener, inbox) }
        }
        try await group.waitForAll()
      }
      all.add(suite.host.clock.now - start)
    }
    report.line("notified", ["devices": Double(devices), "p50_ms": all.p50, "p99_ms": all.p99])
    for inbox in inboxes { inbox.cancel() }
  }

  private func hear(_ device: EdgeDevice, _ inbox: any BusSubscription) async throws {
    guard case .message(let incoming)? = await inbox.next() else {
      throw CaravanError(.internalError, "\(device.device) lost its notifications")
    }
    let notification = try Wire.Notification.decode(incoming.message.payload)
    _ = try await device.ask(.ack(AckNotification(number: notification.number)))
  }
}
