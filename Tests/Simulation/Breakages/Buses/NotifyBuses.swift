internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime

/// A notify service's bus that sends some of what is meant for one user's device to the devices of others as well. Not
/// all: devices answer what they are told, and would go on telling one another for ever.
struct MisdirectingBus: BusWrapper {
  let bus: any MessageBus
  let devices: [EnrolledDevice]
  let turns = Turns(every: 5)

  func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    try await bus.publish(messages + messages.flatMap(astray))
  }

  private func astray(_ outgoing: Outgoing) -> [Outgoing] {
    guard case .notify(let device) = outgoing.subject, turns.isNext else { return [] }
    return devices.filter { $0.user != device.user }.map { Outgoing(outgoing.message, to: .notify($0)) }
  }
}

/// A notify service's bus that keeps what it is to tell devices to itself.
struct MuteBus: BusWrapper {
  let bus: any MessageBus

  func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    let heard = messages.filter { if case .notify = $0.subject { false } else { true } }
    if !heard.isEmpty { try await bus.publish(heard) }
  }
}

/// A notify service's bus that keeps what it is to tell a device to itself where the last that it told one of another
/// user happens to hash to something odd. It tells it again, as it is not acknowledged, and then the device hears it.
final class NosyBus: BusWrapper {
  private struct State {
    var told: [UserID: UInt64] = [:]
    var kept: Set<EnrolledDevice> = []
  }

  let bus: any MessageBus
  private let state = Mutex(State())

  init(bus: any MessageBus) { self.bus = bus }

  func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    let heard = messages.filter(isHeard)
    if !heard.isEmpty { try await bus.publish(heard) }
  }

  private func isHeard(_ outgoing: Outgoing) -> Bool {
    guard case .notify(let device) = outgoing.subject else { return true }
    var digest = Digest()
    digest.add(outgoing.message.payload)
    return state.withLock { [value = digest.value] state in
      state.told[device.user] = value
      let isQuiet = state.told.contains { $0.key != device.user && !$0.value.isMultiple(of: 2) }
      return !isQuiet || !state.kept.insert(device).inserted && state.kept.remove(device) != nil
    }
  }
}
