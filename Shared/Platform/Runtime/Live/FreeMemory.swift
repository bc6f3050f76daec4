internal import CCaravanLinux

/// Memory of this process that is free and may be wanted again.
enum FreeMemory {
  /// What each of malloc's heaps keeps at its end.
  private static let keptBytes: Int32 = 8 << 20
  /// Longer blocks are mapped each by itself, and unmapped when they are freed.
  private static let longestBytes: Int32 = 4 << 20

  /// Left to itself malloc gives 128 KiB back as soon as they are free, and maps every block that is longer: an object
  /// then goes through new pages at each step of its way. To get those from the kernel takes much longer than to fill
  /// them (on a virtual machine 0.5 ms a MiB, which is copied in 0.02).
  static func keep() {
    mallopt(M_MMAP_THRESHOLD, longestBytes)
    mallopt(M_TRIM_THRESHOLD, keptBytes)
  }

  /// Once; `keep` goes on.
  static func giveBack() { malloc_trim(0) }
}
