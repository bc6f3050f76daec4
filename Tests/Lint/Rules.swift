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
    cLibraries, foundation, pureRooms, downwards, publicProducts, reExports, backends, bannedCalls, unboundedStreams,
    uncheckedSharing, oneDoor, virtualTime,
    fileSize, functionSize, lineWidth, flagCount,
  ]

  // MARK: Imports

  /// The folders that may import each C library (style rule 12): its bridge, and nobody else.
  static let bridges = [
    "CCaravanNats": "Shared/Messaging/BusNATS/", "CCaravanSQLite": "Shared/Bridges/SQLite/",
    "CCaravanProtobufC": "Shared/Messaging/Wire/", "CCaravanWire": "Shared/Messaging/Wire/",
    "CCaravanOpenSSL": "Shared/Bridges/Crypto/", "CCaravanPostgres": "Shared/Bridges/PostgreSQL/",
    "CCaravanZstd": "Shared/Bridges/Compression/", "CCaravanMicroHTTPD": "Shared/Bridges/HTTPServer/",
    "CCaravanCurl": "Shared/Bridges/HTTPClient/",
  ]

  static let cLibraries = Rule(
    name: "a C library is imported by its bridge only",
    canary: SourceFile(path: "Services/Sync/Driver/Leak.swift", text: "internal import CCaravanSQLite\n")
  ) { file in
    file.imports.compactMap { module, line in
      guard let bridge = bridges[module], !file.path.hasPrefix(bridge) else { return nil }
      return Violation(path: file.path, line: line, reason: "\(module) belongs to \(bridge)")
    }
  }

  static let foundation = Rule(
    name: "Foundation stays in the gateway, the command line, the examples and the tests",
    canary: SourceFile(path: "Services/Agent/Sync/Heavy.swift", text: "import Foundation\n")
  ) { file in
    let allowed = ["Services/Gateway/", "Services/CLI/", "Tests/"] + examples
    return file.imports.filter { $0.module.hasPrefix("Foundation") && !allowed.contains(where: file.path.hasPrefix) }
      .map { Violation(path: file.path, line: $0.line, reason: "Foundation is not allowed here") }
  }

  static let pureRooms = Rule(
    name: "Core and Values import values only",
    canary: SourceFile(path: "Services/Notify/Core/Impure.swift", text: "import CaravanBus\n")
  ) { file in
    let isCore = file.path.hasPrefix("Services/") && file.path.contains("/Core/")
    guard isCore || file.path.hasPrefix("Shared/Values/") else { return [] }
    // What a Core decides in the store's own values is tested with them.
    var allowed = Set(modules["Values"]! + ["Swift", "Synchronization"])
    // Sine and cosine are values, and no other module has them.
    if file.path == "Shared/Values/Query/Evaluation/Places.swift" { allowed.insert("Glibc") }
    if isCore { allowed.insert("CaravanStore") }
    return file.imports.filter { !allowed.contains($0.module) }
      .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) does not belong in a pure room") }
  }

  /// The folders of Shared from the bottom up, then those of a service: a folder imports from itself and from those
  /// below it. Within one, SwiftPM refuses circles. The device's driver is four folders.
  static let layers =
    ["Values", "Platform", "Bridges", "Messaging", "Storage", "Clients", "Core", "Driver"] + device + ["Main"]
  static let device = ["Store", "Network", "Sync", "Apps"]

  /// What is in each folder of Shared.
  static let modules = [
    "Values": [
      "CaravanModel", "CaravanEncoding", "CaravanQuery", "CaravanDiffSync", "CaravanChunking", "CaravanAccess",
    ],
    "Platform": ["CaravanRuntime"],
    "Bridges": [
      "CaravanSQLite", "CaravanPostgreSQL", "CaravanCrypto", "CaravanCompression", "CaravanHTTPServer",
      "CaravanHTTPClient",
    ],
    "Messaging": [
      "CaravanWire", "CaravanBus", "CaravanBusNATS", "CaravanStorageClient", "CaravanChangeStream",
      "CaravanSchemaClient", "CaravanSyncClient", "CaravanTokens", "CaravanLaunch",
    ],
    "Storage": [
      "CaravanStore", "CaravanStoreSQLite", "CaravanStorePostgres", "CaravanBackup", "CaravanChunkFiles",
      "CaravanObjects", "CaravanObjectsS3",
    ],
    "Clients": ["CaravanClient", "CaravanDiffSyncClient"],
  ]

  static func layer(ofModule module: String) -> Int? {
    if let folder = modules.first(where: { $0.value.contains(module) })?.key { return layers.firstIndex(of: folder) }
    if module.hasPrefix("CaravanAgent"), let room = layers.firstIndex(of: String(module.dropFirst(12))) { return room }
    return ["Core", "Driver"].first { module.hasPrefix("Caravan") && module.hasSuffix($0) }
      .flatMap { layers.firstIndex(of: $0) }
  }

  static func layer(ofFile path: String) -> Int? {
    let parts = path.split(separator: "/").map(String.init)
    switch parts.first {
    case "Shared": return layers.firstIndex(of: parts[1])
    case "Services" where parts[1] == "Examples": return layers.firstIndex(of: "Main")
    case "Services": return layers.firstIndex(of: parts[2])
    default: return nil
    }
  }

  static let downwards = Rule(
    name: "dependencies point down",
    canary: SourceFile(path: "Shared/Messaging/Wire/Upwards.swift", text: "import CaravanStore\n")
  ) { file in
    guard let here = layer(ofFile: file.path) else { return [] }
    return file.imports.filter { item in
      guard let there = layer(ofModule: item.module) else { return false }
      // A service knows no other service's inside; the command line alone reads what the agent tells it.
      return there > here || (there == here && there >= layers.firstIndex(of: "Core")!)
    }
    .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) is not below this folder") }
  }

  /// Apps that show how Caravan is used: their own output, time and threads are not Caravan's.
  static let examples = ["Services/Examples/", "Shared/Clients/Swift/Examples/"]

  /// An app needs what an app outside of the repository may have, and nothing else.
  static let publicProducts = Rule(
    name: "an example imports CaravanClient alone",
    canary: SourceFile(path: "Shared/Clients/Swift/Examples/Album/Inner.swift", text: "import CaravanModel\n")
  ) { file in
    guard file.path.hasPrefix("Shared/Clients/Swift/Examples/") else { return [] }
    return file.imports.filter { $0.module.contains("Caravan") && $0.module != "CaravanClient" }
      .map { Violation(path: file.path, line: $0.line, reason: "\($0.module) is not for apps: use CaravanClient") }
  }

  static let reExports = Rule(
    name: "only the product for apps exports what it imports",
    canary: SourceFile(path: "Shared/Messaging/Bus/Everything.swift", text: "@_exported public import CaravanModel\n")
  ) { file in
    guard file.path != "Shared/Clients/Swift/Exports.swift" else { return [] }
    return file.code.enumerated().filter { $0.element.contains("@_exported") }
      .map { Violation(path: file.path, line: $0.offset + 1, reason: "import what is used, where it is used") }
  }

  static let backends = Rule(
    name: "only Main names a concrete backend",
    canary: SourceFile(path: "Services/Storage/Driver/Concrete.swift", text: "import CaravanStoreSQLite\n")
  ) { file in
    guard file.path.hasPrefix("Services/"), !file.path.contains("/Main/"), !file.path.contains("/Examples/") else {
      return []
    }
    // The command line is itself an operator's tool: it speaks to the broker as such.
    let stores: Set<String> = ["CaravanStoreSQLite", "CaravanStorePostgres"]
    let concrete = file.path.hasPrefix("Services/CLI/") ? stores : stores.union(["CaravanBusNATS"])
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
  ]

  static let bannedCalls = Rule(
    name: "time, chance, output and tasks come from Host",
    canary: SourceFile(path: "Shared/Messaging/Bus/Sloppy.swift", text: "func f() {\n  Task { print(1) }\n}\n")
  ) { file in
    let rooms = ["Services/", "Shared/"]
    let exempt = ["Shared/Platform/Runtime/", "Services/CLI/"] + examples
    guard rooms.contains(where: file.path.hasPrefix), !exempt.contains(where: file.path.hasPrefix) else { return [] }
    // Few patterns are in a file at all, and its lines are looked at for those only.
    let text = file.code.joined(separator: "\n")
    let present = banned.filter { text.range(of: "(?m)" + $0.pattern, options: .regularExpression) != nil }
    return file.code.enumerated().flatMap { number, line in
      present.filter { line.range(of: $0.pattern, options: .regularExpression) != nil }
        .map { Violation(path: file.path, line: number + 1, reason: "use \($0.instead)") }
    }
  }

  static let unboundedStreams = Rule(
    name: "no stream without a bound",
    canary: SourceFile(path: "Shared/Messaging/Bus/Flood.swift", text: "let s = AsyncStream<Int> { _ in }\n")
  ) { file in
    guard !file.path.hasPrefix("Tests/") else { return [] }
    return file.code.enumerated().filter { _, line in
      line.contains("AsyncStream") && !line.contains("bufferingPolicy")
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "use BoundedQueue") }
  }

  /// TRU-02: `unpacked` counts what a message costs before protobuf-c sees it.
  static let oneDoor = Rule(
    name: "bytes become messages through one door",
    canary: SourceFile(
      path: "Shared/Messaging/Wire/Bypass.swift", text: "let m = caravan__v1__frame__unpack(nil, bytes.count, bytes)\n")
  ) { file in
    guard !file.path.hasPrefix("Tests/") else { return [] }
    return file.code.enumerated().filter { _, line in
      guard line.contains("unpack") else { return false }
      let isDoor =
        file.path == "Shared/Messaging/Wire/Unpack.swift" && line.contains("guard let message = unpack(&allocator")
      return line.range(of: #"unpack\(|__unpack|protobuf_c_message_unpack"#, options: .regularExpression) != nil
        && !isDoor && !line.contains("= try unpacked(data, Self.shape, caravan__v1__")
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "decode with WireMessage.decode") }
  }

  /// Component tests that `Tests/run` plays without the thread sanitizer, as it says itself.
  private static let unsanitized: [String] = {
    let script = try? String(contentsOf: SourceTree.root.appendingPathComponent("Tests/run"), encoding: .utf8)
    let line = script?.split(separator: "\n").first { $0.hasPrefix("virtual='") } ?? ""
    return line.dropFirst("virtual='".count).dropLast().split(separator: " ").map { "Tests/Component/\($0)/" }
  }()

  /// A store alone, which has a thread of its own, is tested under the sanitizer in its own folder.
  static let virtualTime = Rule(
    name: "tests without the thread sanitizer have one thread and virtual time",
    canary: SourceFile(path: "Tests/Component/Notify/Real.swift", text: "let host = Host.live()\n")
  ) { file in
    precondition(!unsanitized.isEmpty, "Tests/run does not say which tests it plays without the sanitizer")
    guard unsanitized.contains(where: file.path.hasPrefix) else { return [] }
    let real = #"Host\.live|\bProcess\(|\bThread\b|DispatchQueue|\busleep\("#
    return file.code.enumerated().filter { $0.element.range(of: real, options: .regularExpression) != nil }
      .map { Violation(path: file.path, line: $0.offset + 1, reason: "move it to a folder under the sanitizer") }
  }

  static let uncheckedSharing = Rule(
    name: "unchecked sharing says why it is safe",
    canary: SourceFile(path: "Shared/Messaging/Bus/Box.swift", text: "final class Box: @unchecked Sendable {}\n")
  ) { file in
    file.code.enumerated().filter { number, line in
      guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else { return false }
      return !file.lines[max(0, number - 8)...number].contains { $0.lowercased().contains("safe because") }
    }.map { Violation(path: file.path, line: $0.offset + 1, reason: "no 'Safe because …' above it") }
  }
}
