internal import CCaravanLinux
internal import Glibc
internal import SwiftOverlayShims

/// What a machine knows of time.
public protocol MachineTime: Sendable {
  var reading: ClockReading { get }
  /// Whether the kernel's clock is kept right by others (adjtimex(2)). Setting it by hand ends that.
  var isSynchronised: Bool { get }
}

/// This machine.
public struct LiveMachineTime: MachineTime {
  private let boot: String

  public init() {
    let text = try? TextFile.read("/proc/sys/kernel/random/boot_id")
    boot = text?.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
  }

  public var reading: ClockReading {
    ClockReading(wall: Self.milliseconds(CLOCK_REALTIME), sinceBoot: Self.milliseconds(CLOCK_BOOTTIME), boot: boot)
  }

  public var isSynchronised: Bool { CLinux_clock_is_synchronised() != 0 }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
