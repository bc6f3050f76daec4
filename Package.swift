// swift-tools-version: 6.2
import PackageDescription

// MARK: Settings

/// Every Swift target of ours: Swift 6 mode, no warning survives, imports say what they are for.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Everything but the C bridges: an unsafe line does not compile unmarked.
let strict: [SwiftSetting] = house + [.strictMemorySafety()]

/// A process is as small as what it maps: nobody loads an executable as a library, so it names no symbols for that
/// (1.1 MB of names), and what has to be moved to where it was loaded is listed in bits (1 MB less to read at each
/// start).
let lean: [LinkerSetting] = [
  .unsafeFlags(
    ["-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"],
    .when(configuration: .release))
]

/// What `--version` names, where it is optimised code: builds without a repository say it in the environment.
let commit = String(
  (Context.environment["CARAVAN_COMMIT"] ?? Context.gitInformation?.currentCommit ?? "unknown").prefix(12))

// MARK: Names

/// What a list of dependencies says in short. Module names are unique in the world, as SwiftPM refuses two targets of
/// one name in a graph of packages: `Model` is CaravanModel, and the C library `CNats` is CCaravanNats.
func modules(_ names: [String]) -> [Target.Dependency] { names.map { .target(name: module($0)) } }

func module(_ name: String) -> String {
  cLibraries.contains(name) ? "CCaravan\(name.dropFirst())" : "Caravan\(name)"
}

/// Libraries that Debian packages bring: a module map and a shim each, in Shared/Bridges/C.
let systemLibraries = [
  "CNats", "CSQLite", "CProtobufC", "COpenSSL", "CZstd", "CMicroHTTPD", "CPostgres", "CThreadSanitizer",
  "CLinux", "CCurl",
]
let cLibraries = Set(systemLibraries + ["CWire", "CRelease", "CHeapMeter"])

// MARK: Kinds of target

func system(_ name: String) -> Target {
  .systemLibrary(name: module(name), path: "Shared/Bridges/C/\(name.dropFirst())")
}

/// - Parameters:
///   - folder: its last part is the module's name, unless that is given.
///   - others: what lies in the folder and is no code of it.
func library(
  _ folder: String, named name: String? = nil, _ dependencies: [String] = [], beside others: [String] = []
) -> Target {
  .target(
    name: module(name ?? last(folder)), dependencies: modules(dependencies), path: folder,
    exclude: others, swiftSettings: strict)
}

func last(_ folder: String) -> String { String(folder.split(separator: "/").last!) }

/// A bridge to a C library: owns its handles and shows no pointer to anybody.
func bridge(_ folder: String, _ dependencies: [String]) -> Target {
  .target(name: module(last(folder)), dependencies: modules(dependencies), path: folder, swiftSettings: house)
}

/// One service: `Core` decides in values, `Driver` acts in actors, `Main` names the backends.
func service(
  _ name: String, executable: String, core: [String] = ["Model"], driver: [String], main: [String]
) -> [Target] {
  [
    .target(
      name: module("\(name)Core"), dependencies: modules(core), path: "Services/\(name)/Core", swiftSettings: strict),
    .target(
      name: module("\(name)Driver"), dependencies: modules(["\(name)Core"] + driver), path: "Services/\(name)/Driver",
      swiftSettings: strict),
    .executableTarget(
      name: executable, dependencies: modules(["\(name)Driver"] + main), path: "Services/\(name)/Main",
      swiftSettings: strict, linkerSettings: lean),
  ]
}

let examples = "Shared/Clients/Swift/Examples"

/// An app for a device: of Caravan it has the product, and nothing else.
func example(_ executable: String, _ folder: String, _ others: [String] = []) -> Target {
  .executableTarget(
    name: executable,
    dependencies: (["CaravanClient", "CommandLineOptions"] + others).map { .target(name: $0) },
    path: "\(examples)/\(folder)", swiftSettings: house)
}

/// A program that operators do not install.
func tool(_ executable: String, _ folder: String, _ dependencies: [String]) -> Target {
  .executableTarget(name: executable, dependencies: modules(dependencies), path: folder, swiftSettings: house)
}

/// - Parameter folder: in Tests.
func tests(_ folder: String, _ dependencies: [String], exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(last(folder))Tests", dependencies: modules(dependencies), path: "Tests/\(folder)", exclude: exclude,
    swiftSettings: house)
}

// MARK: What a service needs

let plumbing = ["Model", "Wire", "Bus", "Runtime", "StorageClient", "SchemaClient"]
let backends = ["Model", "Bus", "BusNATS", "Runtime", "Launch"]
let device = ["AgentStore", "AgentNetwork", "AgentSync"]

let package = Package(
  name: "caravan",
  products: [
    .library(name: "CaravanClient", targets: ["CaravanClient"]),
    .library(name: "CaravanDiffSync", targets: ["CaravanDiffSyncClient", "CaravanBusNATS"]),
  ],
  targets: [
    // The C libraries, and C of our own.
    .target(name: "CCaravanWire", dependencies: modules(["CProtobufC"]), path: "Shared/Bridges/C/Wire"),
    .target(
      name: "CCaravanRelease", path: "Shared/Bridges/C/Release",
      cSettings: [.define("CARAVAN_COMMIT", to: "\"\(commit)\"", .when(configuration: .release))]),

    // Values.
    library("Shared/Values/Model"),
    library("Shared/Values/Access", ["Model"]),
    library("Shared/Values/Encoding", ["Model"]),
    library("Shared/Values/Query", ["Model"], beside: ["README.md"]),
    library("Shared/Values/DiffSync", ["Model"]),
    library("Shared/Values/Chunking"),

    // What a process stands on.
    library("Shared/Platform/Runtime", ["Model", "Encoding", "CThreadSanitizer", "CLinux", "CRelease"]),

    // Bridges to C libraries.
    bridge("Shared/Bridges/SQLite", ["Model", "Runtime", "CSQLite"]),
    bridge("Shared/Bridges/PostgreSQL", ["Model", "CPostgres"]),
    bridge("Shared/Bridges/Crypto", ["Encoding", "COpenSSL"]),
    bridge("Shared/Bridges/Compression", ["Model", "CZstd"]),
    bridge("Shared/Bridges/HTTPClient", ["Model", "Runtime", "CCurl"]),
    bridge("Shared/Bridges/HTTPServer", ["Model", "Runtime", "CMicroHTTPD"]),

    // What travels, and how.
    bridge("Shared/Messaging/Wire", ["Model", "DiffSync", "CWire", "CProtobufC"]),
    library("Shared/Messaging/Bus", ["Model", "Wire", "Runtime", "Encoding"]),
    bridge("Shared/Messaging/BusNATS", ["Bus", "Model", "Runtime", "Crypto", "CNats"]),
    library("Shared/Messaging/StorageClient", ["Model", "Wire", "Bus", "Runtime"]),
    library("Shared/Messaging/ChangeStream", ["Model", "Wire", "Bus", "Runtime", "StorageClient"]),
    library("Shared/Messaging/SchemaClient", ["Model", "Wire", "Bus"]),
    library("Shared/Messaging/SyncClient", ["Model", "Wire", "Bus", "Compression"]),
    library("Shared/Messaging/Tokens", ["Model", "Wire", "Crypto", "Encoding"]),
    library("Shared/Messaging/Launch", ["Model", "Bus", "BusNATS", "Runtime", "Crypto", "Encoding"]),

    // The store, on SQLite and on PostgreSQL.
    library("Shared/Storage/Store", ["Model", "Encoding", "Query"]),
    library("Shared/Storage/ChunkFiles", ["Model", "Runtime"]),
    library("Shared/Storage/StoreSQLite", ["Store", "SQLite", "ChunkFiles", "Model", "Runtime", "Encoding"]),
    library("Shared/Storage/StorePostgres", ["Store", "PostgreSQL", "Model", "Runtime", "Crypto"]),
    library("Shared/Storage/Backup", ["Store", "Model", "Wire", "Crypto", "Runtime"]),
    library("Shared/Storage/Objects", ["Model", "Runtime"]),
    bridge("Shared/Storage/ObjectsS3", ["Objects", "Model", "Runtime", "Crypto", "Encoding", "HTTPClient"]),

    // The products for authors of apps.
    library(
      "Shared/Clients/Swift", named: "Client", ["Model", "Wire", "Runtime", "Encoding"],
      beside: ["README.md", "Examples", "CaravanClient.docc"]),
    library(
      "Shared/Clients/DiffSync", named: "DiffSyncClient",
      ["Model", "DiffSync", "Wire", "Bus", "Runtime", "SQLite", "SyncClient", "Crypto"],
      beside: ["README.md"]),
  ]
    + systemLibraries.map(system)
    + service(
      "Storage", executable: "caravan-storage", core: ["Model", "Store"],
      driver: plumbing + ["Store", "Crypto", "Compression", "Tokens", "Objects", "Encoding", "Backup"],
      main: backends + [
        "StoreSQLite", "SQLite", "StorePostgres", "PostgreSQL", "Store", "Crypto", "Encoding", "Objects", "ObjectsS3",
        "SchemaClient", "StorageCore", "Backup",
      ])
    + service(
      "Sync", executable: "caravan-sync",
      driver: plumbing + ["Access", "Crypto", "Compression", "Tokens", "DiffSync"],
      main: backends + ["Crypto"])
    + service("Schema", executable: "caravan-schema", core: ["Model", "Query"], driver: plumbing, main: backends)
    + service(
      "Notify", executable: "caravan-notify", driver: plumbing + ["ChangeStream", "Tokens", "Crypto", "Encoding"],
      main: backends + ["Crypto"])
    + service(
      "Query", executable: "caravan-query", core: ["Model", "Query", "Encoding"],
      driver: plumbing + ["Query", "SQLite", "PostgreSQL", "ChangeStream"], main: backends + ["PostgreSQL"])
    + service(
      "Push", executable: "caravan-push", core: ["Model", "Encoding"],
      driver: ["Model", "Wire", "Bus", "Runtime", "Crypto", "Encoding", "HTTPClient"], main: backends + ["Crypto"])
    + service(
      "Gateway", executable: "caravan-gateway", core: ["Model", "Encoding"],
      driver: plumbing + ["HTTPServer", "Crypto", "Encoding"], main: backends + ["Crypto", "HTTPServer", "GatewayCore"])
    // The device's driver is four rooms: its store, its links, its sync, and the apps that it serves.
    + [
      library("Services/Agent/Core", named: "AgentCore", ["Model", "Query"]),
      library(
        "Services/Agent/Store", named: "AgentStore",
        [
          "AgentCore", "Model", "Query", "Wire", "Runtime", "Encoding", "SQLite", "Chunking", "ChunkFiles",
          "Crypto",
        ]),
      library(
        "Services/Agent/Network", named: "AgentNetwork", ["AgentCore", "AgentStore", "Model", "Wire", "Runtime"]),
      library(
        "Services/Agent/Sync", named: "AgentSync",
        ["AgentCore", "AgentStore", "AgentNetwork", "Model", "Wire", "Bus", "Runtime", "Compression", "Crypto"]),
      library(
        "Services/Agent/Apps", named: "AgentApps",
        device + ["AgentCore", "Model", "Wire", "Runtime", "Client", "Encoding"]),
      .executableTarget(
        name: "caravan-agent", dependencies: modules(device + ["AgentApps"] + backends), path: "Services/Agent/Main",
        swiftSettings: strict, linkerSettings: lean),
    ]
    + service(
      "CLI", executable: "caravan", core: ["Model", "Encoding", "Query"],
      driver: plumbing + [
        "Client", "Crypto", "Encoding", "BusNATS", "Launch", "SQLite", "SyncClient", "AgentCore", "HTTPClient", "Query",
      ],
      main: ["Model"])
    + [
      // Apps for devices. Their package is Shared/Clients/Swift/Examples, which an author of apps copies; here they
      // are built along.
      example("caravan-album", "Album", ["Exif", "CLibCrypto"]), example("caravan-car", "CarSensor"),
      example("caravan-chat", "Chat"), example("caravan-door", "Surveillance"),
      example("caravan-heartbeat", "HeartBeat"), example("caravan-notes", "Notes"),
      example("caravan-shopping", "Shopping"), example("caravan-simbabench", "SimbaBench"),
      .target(name: "CommandLineOptions", path: "\(examples)/CommandLineOptions", swiftSettings: house),
      .target(name: "Exif", dependencies: ["CExif"], path: "\(examples)/Exif", swiftSettings: house),
      .systemLibrary(name: "CExif", path: "\(examples)/CExif"),
      .systemLibrary(name: "CLibCrypto", path: "\(examples)/CLibCrypto"),
      // An app that syncs by diffs.
      tool(
        "caravan-journal", "Services/Examples/Journal",
        ["DiffSync", "DiffSyncClient", "BusNATS", "Launch", "Model", "Runtime", "Crypto"]),
    ]
    + [
      library("Tests/TestKit", ["Model", "Wire", "Bus", "Runtime", "Store", "SyncClient", "Crypto", "PostgreSQL"]),
      tests("Lint", [], exclude: ["words", "figures"]),
      tests("Unit/Model", ["Model", "Wire", "Encoding", "TestKit"]),
      tests("Unit/Expressions", ["Query", "Model", "TestKit", "Wire"]),
      tests("Unit/Chunking", ["Chunking", "Compression", "Model"]),
      tests("Unit/DiffSync", ["DiffSync", "Model", "TestKit"]),
      tests("Unit/SyncCore", ["SyncCore", "Model", "Wire", "Runtime", "TestKit"]),
      tests("Unit/NotifyCore", ["NotifyCore", "Model", "Runtime", "TestKit"]),
      tests("Unit/SchemaCore", ["SchemaCore", "Model", "Runtime", "TestKit"]),
      tests("Unit/AgentCore", ["AgentCore", "Model", "Query", "Runtime", "TestKit"]),
      tests("Unit/StorageCore", ["StorageCore", "Store", "Model", "TestKit"]),
      tests("Unit/QueryCore", ["Query", "QueryCore", "Model", "Wire", "Encoding", "TestKit"]),
      tests("Unit/PushCore", ["PushCore", "Model", "Encoding"]),
      tests("Unit/GatewayCore", ["GatewayCore", "Model", "Encoding", "TestKit"]),
      tests("Unit/CLICore", ["CLICore", "Model", "Encoding", "TestKit"]),
      tests("Unit/Encoding", ["Encoding", "Model"]),
      tests("Unit/Access", ["Access", "Model"]),
      tests("Component/Runtime", ["Runtime", "TestKit", "Model", "Encoding"]),
      tests("Component/Crypto", ["Crypto", "Encoding"]),
      tests("Component/HTTP", ["HTTPServer", "HTTPClient", "Model", "Runtime", "Crypto"]),
      tests(
        "Component/Bus", ["Bus", "BusNATS", "Runtime", "TestKit", "Model", "Crypto", "Encoding", "Launch", "Wire"]),
      tests(
        "Component/DiffSyncClient",
        [
          "DiffSync", "DiffSyncClient", "Model", "Wire", "TestKit", "Bus", "Runtime", "Crypto", "StorageDriver",
          "StorageClient", "StoreSQLite", "SQLite", "SchemaDriver", "SyncClient", "SyncDriver", "Backup",
        ]),
      tests(
        "Component/Store",
        [
          "Store", "StoreSQLite", "SQLite", "StorePostgres", "PostgreSQL", "Model", "Runtime", "TestKit", "Wire",
          "Backup", "Crypto", "StorageCore", "StorageDriver", "StorageClient", "ChangeStream", "Query",
        ]),
      tests(
        "Component/Storage",
        [
          "StorageCore", "StorageDriver", "StoreSQLite", "SQLite", "Store", "StorageClient", "Tokens", "Bus", "Runtime",
          "Wire", "Model", "TestKit", "Crypto", "Compression", "Objects", "ObjectsS3", "SchemaClient",
        ]),
      tests(
        "Component/Sync",
        [
          "Backup", "Launch", "SyncCore", "SyncDriver", "SchemaCore", "SchemaDriver", "StorageDriver", "StoreSQLite",
          "Bus", "Runtime", "Wire", "Model", "TestKit", "Crypto", "Compression", "Store", "StorageClient",
          "SchemaClient", "Tokens", "QueryDriver",
        ]),
      tests(
        "Component/Notify",
        [
          "NotifyCore", "NotifyDriver", "ChangeStream", "StorageClient", "Crypto", "StorageDriver", "StoreSQLite",
          "Bus", "Runtime", "Wire", "Model", "TestKit",
        ]),
      tests(
        "Component/Push",
        [
          "PushCore", "PushDriver", "Bus", "Runtime", "Wire", "Model", "TestKit", "Crypto", "Encoding", "HTTPClient",
          "HTTPServer",
        ]),
      tests(
        "Component/Query",
        [
          "Query", "QueryCore", "QueryDriver", "ChangeStream", "StorageClient", "SchemaClient", "SchemaDriver",
          "Crypto", "StorageDriver", "StoreSQLite", "SQLite", "PostgreSQL", "Bus", "Runtime", "Wire", "Model",
          "TestKit",
        ]),
      tests(
        "Component/Gateway",
        [
          "GatewayCore", "GatewayDriver", "HTTPServer", "Bus", "Runtime", "Wire", "Model", "TestKit", "Crypto",
          "Encoding", "StorageDriver", "StoreSQLite", "Store", "StorageClient",
        ]),
      tests(
        "Component/Agent",
        [
          "AgentCore", "AgentStore", "AgentNetwork", "AgentSync", "AgentApps", "SQLite", "Client", "Bus", "Runtime",
          "Wire",
          "Model", "Query", "TestKit",
          "Chunking", "Compression", "Crypto", "StorageDriver", "StoreSQLite", "Store", "StorageClient", "SyncCore",
          "SyncDriver", "SchemaDriver", "NotifyDriver", "QueryDriver", "SchemaClient", "BusNATS", "Launch", "Tokens",
        ]),
      tests(
        "Component/CLI",
        [
          "CLICore", "CLIDriver", "Client", "Model", "Encoding", "Runtime", "Bus", "BusNATS", "Launch", "Crypto",
          "TestKit", "Wire", "StorageClient", "SchemaClient", "SQLite",
        ]),

      // Decoders of what strangers send, tried by a fuzzer (Tests/Fuzz/run) and with what it found.
      .target(
        name: "CaravanFuzzTargets",
        dependencies: modules([
          "Model", "Wire", "Bus", "Runtime", "Store", "Tokens", "Crypto", "Compression", "StorageCore", "SyncCore",
          "Query", "QueryCore", "NotifyCore", "AgentCore", "Backup", "DiffSync", "Client", "Encoding", "HTTPServer",
          "PushCore", "StorageClient", "CHeapMeter",
        ]), path: "Tests/Fuzz/Targets", swiftSettings: house),
      // Counts what a decoder allocates, in place of malloc(3).
      .target(name: "CCaravanHeapMeter", path: "Tests/Fuzz/Heap"),
      // What decoders cost at worst, in a release build.
      tool("caravan-decoder-costs", "Tests/Fuzz/Costs", ["FuzzTargets"]),
      .testTarget(
        name: "FuzzTests", dependencies: modules(["FuzzTargets"]), path: "Tests/Fuzz/Tests", swiftSettings: house),

      // The whole suite in one process, the executable that plays seeds, and the tests of both.
      .target(
        name: "CaravanSimulation",
        dependencies: modules([
          "TestKit", "Bus", "Runtime", "Wire", "Model", "Store", "StoreSQLite", "SQLite", "ChangeStream",
          "StorageDriver", "SyncDriver", "SchemaDriver", "NotifyDriver", "QueryDriver", "PushCore", "PushDriver",
          "HTTPClient", "Encoding", "AgentStore", "AgentNetwork", "AgentSync", "AgentApps", "AgentCore",
          "Chunking", "Crypto", "DiffSync", "DiffSyncClient", "Tokens", "Backup", "Compression", "StorageClient",
          "GatewayDriver", "CLIDriver", "Client", "SyncClient",
        ]), path: "Tests/Simulation", exclude: ["Runner", "Tests", "README.md"], swiftSettings: strict),
      tool("caravan-simulation", "Tests/Simulation/Runner", ["Simulation", "Runtime", "TestKit"]),
      .testTarget(
        name: "SimulationTests", dependencies: modules(["Simulation", "TestKit", "Model", "Runtime", "Store"]),
        path: "Tests/Simulation/Tests", swiftSettings: house),

      // What `caravan bench` measures, on a suite of its own.
      .target(
        name: "CaravanBenchmarks",
        dependencies: modules(
          plumbing + [
            "AgentCore", "Client", "CLICore", "Compression", "Crypto", "Encoding", "BusNATS", "Launch", "SQLite",
            "PostgreSQL", "Store", "StoreSQLite", "StorePostgres", "SyncClient", "Query", "QueryCore", "QueryDriver",
          ]), path: "Tests/Benchmarks/Measures", swiftSettings: strict),
      tests("Component/Benchmarks", ["Benchmarks", "Model", "Wire"]),

      // Clients of a real suite that the scripts of Tests/Integration start, and the floor below the store's figures.
      tool(
        "caravan-trials", "Tests/Trials",
        [
          "TestKit", "Model", "Wire", "Bus", "BusNATS", "Runtime", "Launch", "Crypto", "Tokens", "StorageClient",
        ]),
      tool("caravan-bench", "Tests/Benchmarks/Main", ["Benchmarks", "Runtime"]),
      tool("caravan-store-bench", "Tests/Benchmarks/Store", ["Store", "StoreSQLite", "Runtime", "Model"]),
    ]
    // libFuzzer brings its own `main`, so this links only where it is asked for.
    + (Context.environment["CARAVAN_FUZZ"] == nil
      ? []
      : [
        .executableTarget(
          name: "caravan-fuzz", dependencies: modules(["FuzzTargets"]), path: "Tests/Fuzz/Main",
          swiftSettings: house + [.unsafeFlags(["-parse-as-library"])])
      ])
)

// With CARAVAN_TESTS=unit there are the tests of values alone: what is built anew behind a change is what they need.
if Context.environment["CARAVAN_TESTS"] == "unit" {
  package.targets.removeAll { target in
    target.type == .test && !["Tests/Unit/", "Tests/Lint"].contains { target.path?.hasPrefix($0) == true }
  }
}
