public import CaravanModel

/// What the machine is connected by.
public struct Link: Sendable, Hashable {
  public var linkClass: LinkClass
  /// Its bytes cost money, whatever it is made of: a phone's hotspot, say.
  public var isMetered: Bool
  /// Somebody knows what it is; of any other the class is assumed.
  public let isKnown: Bool

  public init(_ linkClass: LinkClass, isMetered: Bool = false) {
    self.init(linkClass, isMetered: isMetered, isKnown: true)
  }

  private init(_ linkClass: LinkClass, isMetered: Bool, isKnown: Bool) {
    self.linkClass = linkClass
    self.isMetered = isMetered
    self.isKnown = isKnown
  }

  /// There is a link, and nobody knows what it is: it may be as dear as any.
  public static func unknown(isMetered: Bool = false) -> Link { Link(.roaming, isMetered: isMetered, isKnown: false) }

  /// A link that nobody knows counts as the dearest that a table of the device names: what may cost most goes, and
  /// nothing that was to wait for a cheaper one.
  public func assumed(among named: some Sequence<LinkClass>) -> Link {
    isKnown ? self : Link(named.max() ?? linkClass, isMetered: isMetered, isKnown: false)
  }

  public static let wired = Link(.wired)
  public static let wifi = Link(.wifi)
  public static let cellular = Link(.cellular)
  public static let roaming = Link(.roaming)

  /// What preferences and budgets go by (MOB-44).
  public var cost: LinkClass { isMetered ? max(linkClass, .cellular) : linkClass }
}

/// What the machine is connected by, and by whose word.
public struct LinkState: Sendable, Hashable {
  /// Somebody finds out, and says so with `detected`.
  public private(set) var isWatched = false
  /// The machine's word counts, not what was announced.
  public private(set) var isAutomatic = false
  /// Nil: nothing.
  public var detected: Link?
  private var announced: Link?

  public init(announced: Link?) { self.announced = announced }

  public var link: Link? { isAutomatic ? detected : announced }

  public mutating func watch() { (isWatched, isAutomatic) = (true, true) }
  public mutating func announce(_ link: Link?) { (announced, isAutomatic) = (link, false) }

  /// - Returns: false when nobody watches.
  public mutating func becomeAutomatic() -> Bool {
    isAutomatic = isWatched || isAutomatic
    assert(!isAutomatic || isWatched, "the word of nobody counts")
    return isWatched
  }
}

extension Link: CustomStringConvertible {
  public var description: String {
    let text = "\(isMetered ? "metered " : "")\(linkClass.name)"
    return isKnown ? text : "unknown, and taken for \(text)"
  }
}

/// What the user allows, whatever apps prefer (MOB-45, MOB-47).
public struct NetworkPolicy: Sendable, Hashable {
  /// Nothing is sent over a dearer link; nil: nothing at all.
  public var maximumLink: LinkClass?
  /// Bytes a day, both directions, from midnight UTC; links that are not named have no budget.
  public var dailyBytes: [LinkClass: UInt64]

  public init(maximumLink: LinkClass? = .roaming, dailyBytes: [LinkClass: UInt64] = [:]) {
    self.maximumLink = maximumLink
    self.dailyBytes = dailyBytes
  }

  public func permits(_ cost: LinkClass) -> Bool { maximumLink.map { cost <= $0 } ?? false }
}
