internal import Glibc

/// What a process knows of itself.
public struct ProcessFacts: Sendable {
  public let identifier: Int
  public let hostName: String
  private let measure: @Sendable () -> Int?

  public init(identifier: Int, hostName: String, residentBytes: @escaping @Sendable () -> Int?) {
    self.identifier = identifier
    self.hostName = hostName
    measure = residentBytes
  }

  /// Memory in RAM now; nil when the system does not say.
  public var residentBytes: Int? { measure() }

  /// A process that is none, for simulations.
  public static let simulated = ProcessFacts(identifier: 1, hostName: "simulated") { 0 }

  /// This one.
  public static let current = ProcessFacts(
    identifier: Int(getpid()), hostName: systemHostName(), residentBytes: systemResidentBytes)

  private static func systemHostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Second number of /proc/self/statm, in pages (proc(5)).
  private static func systemResidentBytes() -> Int? {
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return nil }
    defer { unsafe fclose(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = unsafe fread(&text, 1, text.count, file)
    let numbers = text.prefix(count).split(separator: UInt8(ascii: " "))
    guard numbers.count > 1, let pages = Int(String(decoding: numbers[1], as: UTF8.self)) else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
