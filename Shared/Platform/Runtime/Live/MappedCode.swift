internal import CaravanModel
internal import Glibc

/// Code of this process that is in memory.
enum MappedCode {
  /// Takes all of it out of the process's memory. What is needed again comes back from the page cache, 64 KiB at a time
  /// and a microsecond each; what only the start needed stays away, and the kernel may forget it. Breakpoints that a
  /// debugger has set until then go with it.
  static func giveBack() {
    for (begin, end) in places(in: (try? TextFile.read("/proc/self/maps")) ?? "") {
      unsafe madvise(UnsafeMutableRawPointer(bitPattern: begin), Int(end - begin), MADV_DONTNEED)
    }
  }

  /// Where files are mapped to be run and not to be written, as proc(5) shows it in /proc/PID/maps.
  static func places(in maps: String) -> [(begin: UInt, end: UInt)] {
    maps.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[1] == "r-xp", words[5].contains("/" as Character) else { return nil }
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      return ends.count == 2 && ends[0] < ends[1] ? (ends[0], ends[1]) : nil
    }
  }
}
