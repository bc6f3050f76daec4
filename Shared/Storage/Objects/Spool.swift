public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// Where an object lies until it is whole.
public struct Spool {
  public let path: String
  private var file: DiskFile?
  public private(set) var size = 0

  private static let prefix = "caravan-object-"
  /// What has not changed for so long was left behind by a process that is no more.
  private static let abandoned: Duration = .seconds(86_400)

  /// - Parameters:
  ///   - folder: is there.
  ///   - number: tells the lanes of a process from each other. The first removes what earlier processes left.
  public init(in folder: String, number: Int, host: Host) {
    path = "\(folder)/\(Self.prefix)\(number)-\(host.random.next())"
    if number == 0 {
      Self.sweep(folder, before: host.clock.wallTime.milliseconds / 1_000 - Self.abandoned.components.seconds)
    }
  }

  public mutating func begin() throws(CaravanError) {
    let file = try DiskFile(path)
    try file.resize(to: 0)
    (self.file, size) = (file, 0)
  }

  public mutating func append(_ bytes: [UInt8]) throws(CaravanError) {
    guard let file else { throw CaravanError(.internalError, "an object goes on that was not begun") }
    try file.write(bytes, at: size)
    size += bytes.count
  }

  /// What was appended is on the disk, and the file is closed.
  public mutating func finish() throws(CaravanError) {
    guard let file else { throw CaravanError(.internalError, "an object ends that was not begun") }
    try file.sync()
    file.close()
    self.file = nil
  }

  /// - Parameter time: Unix seconds.
  private static func sweep(_ folder: String, before time: Int64) {
    for name in (try? Directories.names(in: folder)) ?? [] {
      var status = stat()
      guard name.hasPrefix(prefix), unsafe stat("\(folder)/\(name)", &status) == 0 else { continue }
      if Int64(status.st_mtim.tv_sec) < time { _ = unsafe unlink("\(folder)/\(name)") }
    }
  }
}
