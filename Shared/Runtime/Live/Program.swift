internal import Glibc

/// A whole process: everything happens on the event loop, and the main thread only waits. Top-level code that awaits
/// would start the concurrency library's own pool, which wakes a process every second to look after itself.
public enum Program {
  /// Exits with what `body` returns, at once: threads of libraries may still be at work, and exit(3) would take from
  /// under them what they use (OpenSSL's tables from libnats).
  /// - Parameter body: takes the command line behind the executable's name.
  public static func run(_ body: @escaping @Sendable ([String]) async -> Int32) -> Never {
    FreeMemory.keep()
    Task(executorPreference: EventLoop.main) {
      do throws(CommandLineStop) { leave(await body(try texts(words))) } catch { leave(error.report()) }
    }
    // A signal ends one pause.
    while true { pause() }
  }

  private static var words: [[UInt8]] {
    (0..<Int(CommandLine.argc)).map { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }

  /// The words behind the first.
  /// - Throws: `usage` for one that is not UTF-8: with replacement characters it would name another file or row.
  static func texts(_ words: [[UInt8]]) throws(CommandLineStop) -> [String] {
    var texts: [String] = []
    for (place, word) in words.enumerated().dropFirst() {
      guard let text = String(validating: word, as: UTF8.self) else {
        let name = String(decoding: words[0], as: UTF8.self).split(separator: "/").last ?? ""
        throw .usage("\(name): argument \(place), '\(String(decoding: word, as: UTF8.self))', is not UTF-8")
      }
      texts.append(text)
    }
    return texts
  }

  private static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}
