public import CaravanModel
internal import Glibc

extension Program {
  /// Where this program's file is, and so Caravan's others.
  public static var directory: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
  }

  /// This process goes on as another program (execv(3)).
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - name: what the program is called by whoever started it; nil: as its file.
  /// - Returns: `invalidData`, only if it could not be started.
  public static func become(_ program: String, _ arguments: [String], as name: String? = nil) -> CaravanError {
    let words = unsafe ([name ?? program] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(program, words)
    return CaravanError(.invalidData, "cannot start '\(program)': \(SystemError.text(errno))")
  }
}
