internal import CaravanModel

/// Of something that the agent has only so much of: what one app may have in its hands, what the apps of one user may
/// together, who can call themselves whatever they like, and what all of them may.
public struct AppShare: Sendable, Hashable {
  public let app: Int
  public let user: Int
  public let all: Int

  public init(app: Int, user: Int, all: Int) {
    precondition(0 < app && app <= user && user <= all, "an app's share is part of its user's, and that of the whole")
    self.app = app
    self.user = user
    self.all = all
  }
}

/// What is in whose hands of one such thing.
struct AppCounters: Sendable {
  let share: AppShare
  /// As it ends "app 'x' has 16 …".
  private let what: String
  private(set) var apps: [ContainerID: Int] = [:]
  private(set) var users: [UInt32: Int] = [:]
  private(set) var all = 0

  init(_ share: AppShare, _ what: String) {
    self.share = share
    self.what = what
  }

  /// - Parameters:
  ///   - more: 0: whether they have what they may already.
  ///   - app: nil: whoever has not said.
  /// - Throws: `serverBusy` with whose share it is that does not suffice.
  func check(adding more: Int, user: UInt32, app: ContainerID?) throws(CaravanError) {
    precondition(more >= 0, "who gives back needs no room")
    if let app, isFull(apps[app], more, share.app) {
      throw Self.refusal("app '\(app)' has \(apps[app] ?? 0) \(what), of \(share.app) that one app may have")
    }
    if isFull(users[user], more, share.user) {
      throw Self.refusal(
        "apps of user \(user) have \(users[user] ?? 0) \(what), of \(share.user) that one user's may have")
    }
    if isFull(all, more, share.all) {
      throw Self.refusal("all apps have \(all) \(what), of \(share.all) that there are")
    }
  }

  mutating func add(_ more: Int, user: UInt32, app: ContainerID?) {
    if let app { Self.add(more, to: &apps, app) }
    Self.add(more, to: &users, user)
    all += more
    precondition(all >= 0, "more is given back than was taken")
    let (ofApp, ofUser) = (app.flatMap { apps[$0] } ?? 0, users[user] ?? 0)
    precondition(0 <= ofUser && ofUser <= all, "user \(user) has \(ofUser) \(what), and all have \(all)")
    precondition(0 <= ofApp && ofApp <= all, "an app has \(ofApp) \(what), and all have \(all)")
    assert(users.values.reduce(0, +) == all, "what users have is not what all have")
    assert(apps.values.reduce(0, +) <= all, "apps have more than all")
  }

  private func isFull(_ held: Int?, _ more: Int, _ limit: Int) -> Bool {
    let held = held ?? 0
    return more > 0 ? held + more > limit : held >= limit
  }

  private static func add<Holder>(_ more: Int, to holders: inout [Holder: Int], _ holder: Holder) {
    let sum = (holders[holder] ?? 0) + more
    holders[holder] = sum == 0 ? nil : sum
  }

  private static func refusal(_ text: String) -> CaravanError {
    CaravanError(.serverBusy, "\(text): close some, or retry later", retryAfterMilliseconds: 500)
  }
}
