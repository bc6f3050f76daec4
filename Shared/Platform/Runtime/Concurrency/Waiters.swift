/// Those who wait for something, first come, first served; few at a time. Lives inside a lock; whoever takes a
/// continuation out resumes it after leaving the lock (style rule 6).
struct Waiters<Value: Sendable> {
  typealias Continuation = TaskContinuation<Value, Never>
  /// Identity of one wait, made before it begins, so that its cancellation has something to name.
  final class Ticket: Sendable {}

  private var waiting: [(ticket: Ticket, continuation: Continuation)] = []

  var count: Int { waiting.count }

  mutating func append(_ ticket: Ticket, _ continuation: Continuation) { waiting.append((ticket, continuation)) }

  /// The longest waiting one.
  mutating func popFirst() -> Continuation? { waiting.isEmpty ? nil : waiting.removeFirst().continuation }

  mutating func popAll() -> [Continuation] {
    defer { waiting = [] }
    return waiting.map { $0.continuation }
  }

  mutating func remove(_ ticket: Ticket) -> Continuation? {
    waiting.firstIndex { $0.ticket === ticket }.map { waiting.remove(at: $0).continuation }
  }
}
