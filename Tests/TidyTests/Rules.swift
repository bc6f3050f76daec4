import Foundation

/// A rule of the house: what breaks it, and a canary that proves it can be broken.
struct Rule: Sendable {
  struct Violation: CustomStringConvertible {
    let path: String
    let line: Int
    let reason: String
    var description: String { "\(path):\(line): \(reason)" }
  }

  let name: String
  let canary: SourceFile
  let check: @Sendable (SourceFile) -> [Violation]
}

extension Rule {
  static let all: [Rule] = [
    cLibraries, foundation, pureRooms, downwards, backends, bannedCalls, unboundedStreams, uncheckedSharing, oneDoor,
    fileSize, functionSize, lineWidth,
  ]

  // MARK: Imports

  /// The rooms that may import each C library (style rule 12): its bridge, and nobody else.
  static let bridges = [
    "CNats": "Shared/BusNATS/", "CSQLite": "Shared/SQLite/", "CProtobufC": "Shared/Wire/", "CWire": "Shared/Wire/",
    "COpenSSL": "Shared/Crypto/", "CPostgres": "Shared/PostgreSQL/", "CZstd": "Shared/Compression/",
    "CMicroHTTPD": "Shared/HTTP/", "CCurl": "Shared/HTTPClient/",
    "CExif": "Services/Examples/Exif/",
  ]

  static let cLibraries = Rule(
    name: "a C library is imported by its bridge only",
    canary: SourceFile(path: "Services/Sync/Driver/Leak.swift", text: "internal import CSQLite\n")
  ) { file in
    file.imports.compactMap { module, line in
      guard let bridge = bridges[module], !file.path.hasPrefix(bridge) else { return nil }
      return Violation(path: file.path, line: line, reason: "\(module) belongs to \(bridge)")
    }
  }

  static let foundation = Rule(
    name: "Foundation stays in the gateway, the command line, the examples and the tests",
    canary: SourceFile(path: "Services/Agent/Driver/Heavy.swift", text: "import Foundation\n")
  ) { file in
    let allowed = ["Services/Gateway/", "Services/CLI/", "Services/Examples/", "Tests/"]
    return file.imports.filter { $0.module.hasPrefix("Foundation") && !allowed.contains(where: file.path.hasPrefix) }
      .map { Violation(path: file.path, line: $0.line, reason: "Foundation is not allowed here") }
  }

  static let pureRooms = Rule(
    name: "Core, Model and DiffSync import values only",
    canary: SourceFile(path: "Services/Notify/Core/Impure.swift", text: "import Bus\n")
  ) { file in
    let isCore = file.path.hasPrefix("Services/") && file.path.contains("/Core/")
    let isDiffSync = file.path.hasPrefix("Shared/DiffSync/")
    guard isCore || isDiffSync || file.path.hasPrefix("Shared/Model/") else { return [] }
    var allowed: Set<String> = isCore ? ["Synchronization", "Model", "Store", "Encoding"] : ["Synchronization"]
    if isDiffSync { allowed.insert("Model") }
    return file.imports.filter { !allowed.contains($0.module) }
      .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) does not belong in a pure room") }
  }

  /// Rooms from the bottom up: a room imports only from rooms below it, so there is no circle.
  static let floors: [[String]] = [
    ["Model", "Encoding"],
    ["DiffSync"],
    ["Wire", "Crypto", "Compression", "Chunking", "Runtime", "Exif"],
    ["Bus", "Store", "SQLite", "PostgreSQL", "HTTP", "HTTPClient", "Sealing", "Client", "Objects", "ChunkFiles"],
    [
      "BusNATS", "ObjectsS3", "StoreSQLite", "StorePostgres", "StorageClient", "SchemaClient", "DiffSyncClient",
      "Backup",
    ],
    ["Launch", "Partitions", "TestKit"],
  ]

  static func floor(of module: String) -> Int? {
    if let shared = floors.firstIndex(where: { $0.contains(module) }) { return shared }
    if module.hasSuffix("Core") { return floors.count }
    return module.hasSuffix("Driver") ? floors.count + 1 : nil
  }

  static func floor(ofFile path: String) -> Int? {
    let parts = path.split(separator: "/").map(String.init)
    switch parts.first {
    case "Shared": return floor(of: parts[1])
    case "Services" where parts[1] == "Examples": return parts[2] == "Exif" ? floor(of: "Exif") : floors.count + 2
    case "Services": return ["Core": floors.count, "Driver": floors.count + 1, "Main": floors.count + 2][parts[2]]
    default: return nil
    }
  }

  static let downwards = Rule(
    name: "dependencies point down",
    canary: SourceFile(path: "Shared/Wire/Upwards.swift", text: "import Bus\n")
  ) { file in
    guard let here = floor(ofFile: file.path) else { return [] }
    let own = file.path.split(separator: "/")[1]
    return file.imports.filter { item in
      guard let there = floor(of: item.module) else { return false }
      return there >= here && !(there == here && own == Substring(item.module))
    }.filter { !sameFloor.contains("\(own) \($0.module)") }
      .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) is not below this room") }
  }

  /// Pairs on one floor where the first may import the second; kept free of circles by hand.
  static let sameFloor: Set<String> = []

  static let backends = Rule(
    name: "only Main names a concrete backend",
    canary: SourceFile(path: "Services/Storage/Driver/Concrete.swift", text: "import StoreSQLite\n")
  ) { file in
    guard file.path.hasPrefix("Services/"), file.path.contains("/Core/") || file.path.contains("/Driver/") else {
      return []
    }
    // The command line is itself an operator's tool: it speaks to the broker as such.
    let stores: Set<String> = ["StoreSQLite", "StorePostgres"]
    let concrete = file.path.hasPrefix("Services/CLI/") ? stores : stores.union(["BusNATS"])
    return file.imports.filter { concrete.contains($0.module) }
      .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) is a backend: take its protocol") }
  }

  // MARK: Calls

  /// What nobody calls outside the room made for it (architecture §7), and what to use.
  static let banned: [(pattern: String, instead: String)] = [
    (#"(^|[^.\w])Date\(\)"#, "Host.clock"), (#"Task\.sleep"#, "Host.clock.sleep"),
    (#"Task\.detached"#, "a child task under run()"),
    (#"(^|[^.\w])Task\s*(\([^)]*\)\s*)?\{"#, "a child task under run()"),
    (#"\.random\(in"#, "Host.random"), (#"SystemRandomNumberGenerator"#, "Host.random"),
    (#"clock_gettime|gettimeofday|DispatchTime\.now"#, "Host.clock"),
    (#"ContinuousClock|SuspendingClock"#, "Host.clock"),
    (#"(^|[^.\w])print\("#, "Host.log"), (#"fatalError\("#, "preconditionFailure naming state and event, or throw"),
    (#"try!"#, "do/catch"), (#"as!"#, "as? with an error"),
    (#"with(Checked|Unsafe)(Throwing)?Continuation"#, "withTaskContinuation"),
    (#"with(Checked|Unsafe)(Throwing)?Continuation"#, "withTaskContinuation"),
  ]

  static let bannedCalls = Rule(
    name: "time, chance, output and tasks come from Host",
    canary: SourceFile(path: "Shared/Bus/Sloppy.swift", text: "func f() {\n  Task { print(1) }\n}\n")
  ) { file in
    let rooms = ["Services/", "Shared/"]
    let exempt = ["Shared/Runtime/", "Shared/TestKit/", "Services/CLI/", "Services/Examples/"]
    guard rooms.contains(where: file.path.hasPrefix), !exempt.contains(where: file.path.hasPrefix) else { return [] }
    return file.code.enumerated().flatMap { number, line in
      banned.filter { line.range(of: $0.pattern, options: .regularExpression) != nil }
        .map { Violation(path: file.path, line: number + 1, reason: "use \($0.instead)") }
    }
  }

  static let unboundedStreams = Rule(
    name: "no stream without a bound",
    canary: SourceFile(path: "Shared/Bus/Flood.swift", text: "let s = AsyncStream<Int> { _ in }\n")
  ) { file in
    guard !file.path.hasPrefix("Tests/") else { return [] }
    return file.code.enumerated().filter { _, line in
      line.contains("AsyncStream") && !line.contains("bufferingPolicy")
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "use BoundedQueue") }
  }

  /// Issue 5, A2: `unpacked` counts what a message costs before protobuf-c sees it.
  static let oneDoor = Rule(
    name: "bytes become messages through one door",
    canary: SourceFile(
      path: "Shared/Wire/Bypass.swift", text: "let m = caravan__v1__frame__unpack(nil, bytes.count, bytes)\n")
  ) { file in
    guard !file.path.hasPrefix("Tests/") else { return [] }
    return file.code.enumerated().filter { _, line in
      let isDoor = file.path == "Shared/Wire/Unpack.swift" && line.contains("guard let message = unpack(&allocator")
      return line.range(of: #"unpack\(|__unpack|protobuf_c_message_unpack"#, options: .regularExpression) != nil
        && !isDoor && !line.contains("= try unpacked(data, Self.shape, caravan__v1__")
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "decode with WireMessage.decode") }
  }

  static let uncheckedSharing = Rule(
    name: "unchecked sharing says why it is safe",
    canary: SourceFile(path: "Shared/Bus/Box.swift", text: "final class Box: @unchecked Sendable {}\n")
  ) { file in
    file.code.enumerated().filter { number, line in
      guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else { return false }
      return !file.lines[max(0, number - 8)...number].contains { $0.lowercased().contains("safe because") }
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "no 'Safe because …' above it") }
  }
}
