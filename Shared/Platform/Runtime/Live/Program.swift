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
      do throws(CommandLineStop) {
        try check(variables, for: words)
        leave(await body(try texts(words)))
      } catch {
        leave(error.report())
      }
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

  /// `NAME=value` each.
  static var variables: [[UInt8]] {
    var variables: [[UInt8]] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      variables.append(unsafe Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
      unsafe next += 1
    }
    return variables
  }

  /// Names of variables that give settings begin so.
  private static let settings = ["CARAVAN_", "AWS_"]

  /// - Throws: `usage` for a variable of a setting that is not UTF-8, as for a word of the command line.
  static func check(_ variables: [[UInt8]], for words: [[UInt8]]) throws(CommandLineStop) {
    for variable in variables where settings.contains(where: { variable.starts(with: $0.utf8) }) {
      guard String(validating: variable, as: UTF8.self) == nil else { continue }
      // Its value may be a secret.
      let label = String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      throw .usage("\(name(words)): what \(label) says is not UTF-8")
    }
  }

  private static func name(_ words: [[UInt8]]) -> Substring {
    String(decoding: words.first ?? [], as: UTF8.self).split(separator: "/").last ?? ""
  }

  /// The words behind the first.
  /// - Throws: `usage` for one that is not UTF-8: with replacement characters it would name another file or row.
  static func texts(_ words: [[UInt8]]) throws(CommandLineStop) -> [String] {
    var texts: [String] = []
    for (place, word) in words.enumerated().dropFirst() {
      guard let text = String(validating: word, as: UTF8.self) else {
        throw .usage("\(name(words)): argument \(place), '\(String(decoding: word, as: UTF8.self))', is not UTF-8")
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
