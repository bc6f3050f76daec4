internal import CCaravanNats
internal import CaravanRuntime

/// Messages of the library that are done with. `natsMsg_Destroy` hands a message to a thread of the library's and wakes
/// it: as often as the message's own receiver is woken. So they wait here until there are many.
final class SpentMessages: Sendable {
  private struct State {
    var messages: [Handle] = []
    var bytes = 0

    mutating func takeAll() -> [Handle] {
      defer { self = State() }
      return messages
    }
  }

  private let state = Mutex(State())

  deinit { destroy(state.withLock { $0.takeAll() }) }

  /// The message is nobody's from here on.
  func add(_ message: OpaquePointer) {
    let bytes = Int(natsMsg_GetDataLength(message))
    let message = Handle(pointer: message)
    let many = state.withLock { state in
      state.messages.append(message)
      state.bytes += bytes
      let isFull = state.messages.count >= NATSLimits.spentMessages || state.bytes >= NATSLimits.spentBytes
      return isFull ? state.takeAll() : []
    }
    destroy(many)
  }

  private func destroy(_ messages: [Handle]) {
    for message in messages { natsMsg_Destroy(message.pointer) }
  }
}
