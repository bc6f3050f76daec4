import Glibc
import Testing

@testable import CaravanRuntime

@Suite("Free memory")
struct FreeMemoryTests {
  #if THREAD_SANITIZER
    private static let hasMalloc = false
  #else
    private static let hasMalloc = true
  #endif

  /// New pages that this process was given so far.
  private var faults: Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_minflt
  }

  /// 1 MiB in arrays of so many bytes, all of them there at once.
  private func use(_ bytes: Int) -> Int {
    let arrays = (0..<(1 << 20) / bytes).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: bytes) }
    return arrays.reduce(0) { $0 + Int($1[bytes / 2]) }
  }

  // Goal: what was freed is used again without asking the kernel for pages. Method: counts them.
  @Test(
    "What was freed is used again as it is", .enabled(if: hasMalloc, "the thread sanitizer has a malloc of its own"),
    arguments: [16 << 10, 64 << 10, 256 << 10, 1 << 20])
  func kept(bytes: Int) {
    FreeMemory.keep()
    var sum = use(bytes)
    let before = faults
    for _ in 0..<20 { sum += use(bytes) }
    #expect(faults - before < 256)
    #expect(sum >= 0)
  }
}
