/// What a machine says of the time, all at one moment.
public struct ClockReading: Sendable, Hashable {
  /// The wall clock, in Unix milliseconds. Anybody may set it.
  public var wall: Int64
  /// Milliseconds since the machine booted, sleep included (CLOCK_BOOTTIME). Nobody can set it.
  public var sinceBoot: Int64
  /// Names this boot among all others.
  public var boot: String

  public init(wall: Int64, sinceBoot: Int64, boot: String) {
    self.wall = wall
    self.sinceBoot = sinceBoot
    self.boot = boot
  }
}

/// Decides whether a machine's wall clock is to be believed, and which time it is when it is not.
///
/// Within a boot the time since then says how far the wall clock has come; a step from there is not believed. Across
/// boots nothing says so: a gap of up to a week is believed. In either case a step is believed while the kernel's clock
/// is synchronised with others, and when somebody accepts it. Until then time goes on from where it was believed last:
/// it is never ahead of the true time, so nothing is over too early.
public struct ClockTrust: Sendable, Hashable {
  /// A step that clocks make in daily use.
  static let step: Int64 = 60_000
  /// How far the wall clock may have come between two boots.
  static let gap: Int64 = 7 * 86_400_000
  /// How often a believed reading takes the place of the one before: small steps add up to no more than one each time.
  static let renewal: Int64 = 3_600_000

  /// The reading that was believed last; nil: none ever was.
  public private(set) var mark: ClockReading?
  /// How far the wall clock is from the time, while it is not believed; nil: it is.
  public private(set) var error: Int64?
  /// Nothing of this boot has been believed yet.
  private var isFirstOfBoot = false

  /// - Parameter mark: from an earlier life of the process; nil: there was none, and the clock is believed.
  public init(mark: ClockReading? = nil) { self.mark = mark }

  public var isTrusted: Bool { error == nil }

  /// What the time is.
  /// - Parameter isSynchronised: asked only where it matters.
  public mutating func time(_ reading: ClockReading, isSynchronised: () -> Bool) -> Int64 {
    guard let mark = markOfBoot(reading) else { return believe(reading) }
    let counted = mark.wall + max(0, reading.sinceBoot - mark.sinceBoot)
    let error = reading.wall - counted
    let limit = isFirstOfBoot ? Self.gap : Self.step
    if (-Self.step...limit).contains(error) {
      let isDue = isFirstOfBoot || self.error != nil || reading.sinceBoot - mark.sinceBoot >= Self.renewal
      if isDue { return believe(reading) }
      return reading.wall
    }
    if isSynchronised() { return believe(reading) }
    self.error = error
    return counted
  }

  /// Somebody says that the wall clock is right.
  public mutating func accept(_ reading: ClockReading) { _ = believe(reading) }

  /// What a later life of the process has to know.
  public func kept(at reading: ClockReading) -> ClockReading? {
    guard let mark else { return nil }
    guard !isTrusted, reading.boot == mark.boot else { return mark }
    return ClockReading(
      wall: mark.wall + max(0, reading.sinceBoot - mark.sinceBoot), sinceBoot: reading.sinceBoot, boot: mark.boot)
  }

  /// The last believed reading as this boot sees it: at its beginning it was that time, or later.
  private mutating func markOfBoot(_ reading: ClockReading) -> ClockReading? {
    guard let mark, mark.boot != reading.boot else { return mark }
    isFirstOfBoot = true
    let begun = ClockReading(wall: mark.wall, sinceBoot: 0, boot: reading.boot)
    self.mark = begun
    return begun
  }

  private mutating func believe(_ reading: ClockReading) -> Int64 {
    (mark, error, isFirstOfBoot) = (reading, nil, false)
    return reading.wall
  }
}
