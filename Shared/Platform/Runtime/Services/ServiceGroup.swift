/// Services that live and end together. They start in order and are shut down in reverse order, each only when those
/// after it have ended: list what others need first.
public struct ServiceGroup: Service {
  public static let shutDownDeadline: Duration = .seconds(10)

  private enum Event: Sendable {
    case ended(Int, (any Error)?)
    case stopRequested
    case deadlinePassed
  }

  private let services: [any Service]
  private let clock: any Clock
  private let log: Log
  private let deadline: Duration
  private let stop = Latch()

  /// - Parameter deadline: what the whole shutdown may take before the tasks that still run are cancelled.
  public init(_ services: [any Service], host: Host, deadline: Duration = shutDownDeadline) {
    self.services = services
    clock = host.clock
    log = host.log
    self.deadline = deadline
  }

  public func shutDown() { stop.open() }

  /// Runs until `shutDown` is called, a service ends, or the task is cancelled; then ends the others.
  /// - Throws: the first error that a service threw, once all have ended.
  public func run() async throws {
    var shutdown = Shutdown(count: services.count)
    var failure: (any Error)?
    await withTaskGroup(of: Event.self) { group in
      for (index, service) in services.enumerated() { group.addTask { await Self.outcome(of: service, index) } }
      group.addTask {
        await stop.wait()
        return .stopRequested
      }
      while let event = await group.next(), !shutdown.isOver {
        switch event {
        case .ended(let index, let error):
          if failure == nil { failure = error }
          if let error { log.error("a service failed", [.service: name(index), .error: "\(error)"]) }
          perform(shutdown.ended(index), in: &group)
        case .stopRequested:
          perform(shutdown.begin(), in: &group)
        case .deadlinePassed:
          if Task.isCancelled { break }
          log.warning("services did not end in time and are cancelled", [.duration: deadline])
          group.cancelAll()
        }
        if shutdown.isOver { group.cancelAll() }
      }
    }
    if let failure { throw failure }
  }

  private func perform(_ action: Shutdown.Action, in group: inout TaskGroup<Event>) {
    switch action {
    case .none: break
    case .shutDown(let index, let isFirst):
      services[index].shutDown()
      guard isFirst else { break }
      group.addTask {
        try? await clock.sleep(for: deadline)
        return .deadlinePassed
      }
    }
  }

  private static func outcome(of service: any Service, _ index: Int) async -> Event {
    do {
      try await service.run()
      return .ended(index, nil)
    } catch {
      return .ended(index, error)
    }
  }

  private func name(_ index: Int) -> String { "\(type(of: services[index]))" }
}

/// Which service is told to stop when.
struct Shutdown {
  enum Action: Equatable {
    case none
    /// - `isFirst`: the shutdown begins now.
    case shutDown(Int, isFirst: Bool)
  }

  /// Services that have not ended, in order of their start.
  private var alive: [Int]
  /// The one whose end is awaited; nil: the shutdown has not begun.
  private var awaited: Int?
  private var hasBegun = false

  init(count: Int) { alive = Array(0..<count) }

  var isOver: Bool { alive.isEmpty }

  mutating func begin() -> Action {
    if hasBegun { return .none }
    hasBegun = true
    return next(isFirst: true)
  }

  /// A service that ends by itself ends all.
  mutating func ended(_ index: Int) -> Action {
    alive.removeAll { $0 == index }
    if !hasBegun { return begin() }
    return index == awaited ? next(isFirst: false) : .none
  }

  private mutating func next(isFirst: Bool) -> Action {
    awaited = alive.last
    return awaited.map { .shutDown($0, isFirst: isFirst) } ?? .none
  }
}
