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

// MARK: Kinds of target

func system(_ name: String) -> Target { .systemLibrary(name: name, path: "Shared/C/\(name)") }

/// A C bridge: owns the handles of one C library and shows no pointer to anybody.
func bridge(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, path: path, swiftSettings: house)
}

func shared(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Shared/\(name)", swiftSettings: strict)
}

/// One service: `Core` decides in values, `Driver` acts in actors, `Main` names the backends.
func service(
  _ name: String, executable: String, core: [Target.Dependency] = ["Model"], driver: [Target.Dependency],
  main: [Target.Dependency]
) -> [Target] {
  [
    .target(name: "\(name)Core", dependencies: core, path: "Services/\(name)/Core", swiftSettings: strict),
    .target(
      name: "\(name)Driver", dependencies: [.target(name: "\(name)Core")] + driver, path: "Services/\(name)/Driver",
      swiftSettings: strict),
    .executableTarget(
      name: executable, dependencies: [.target(name: "\(name)Driver")] + main, path: "Services/\(name)/Main",
      swiftSettings: strict, linkerSettings: lean),
  ]
}

/// An app in one file.
func example(_ executable: String, _ folder: String) -> Target {
  .executableTarget(
    name: executable, dependencies: ["Client", "Model", "Runtime"], path: "Services/Examples/\(folder)",
    swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: house)
}

// MARK: What a service needs

let plumbing: [Target.Dependency] = ["Model", "Wire", "Bus", "Runtime", "StorageClient", "SchemaClient"]
let backends: [Target.Dependency] = ["Model", "Bus", "BusNATS", "Runtime", "Launch"]

let package = Package(
  name: "caravan",
  products: [
    .library(name: "CaravanClient", targets: ["Client"]),
    .library(name: "CaravanDiffSync", targets: ["DiffSyncClient", "BusNATS"]),
  ],
  targets: [
    // The C libraries: module map and shim only.
    system("CNats"), system("CSQLite"), system("CProtobufC"), system("COpenSSL"), system("CZstd"),
    system("CMicroHTTPD"), system("CExif"), system("CPostgres"), system("CThreadSanitizer"), system("CLinux"),
    system("CCurl"),
    .target(name: "CWire", dependencies: ["CProtobufC"], path: "Shared/C/CWire"),
    .target(
      name: "CRelease", path: "Shared/C/CRelease",
      cSettings: [.define("CARAVAN_COMMIT", to: "\"\(commit)\"", .when(configuration: .release))]),

    // Values and seams.
    shared("Model"),
    shared("DiffSync", ["Model"]),
    shared("Encoding"),
    shared("Runtime", ["Model", "Encoding", "CThreadSanitizer", "CLinux", "CRelease"]),
    shared("Bus", ["Model", "Wire", "Runtime", "Encoding"]),
    shared("StorageClient", ["Model", "Wire", "Bus", "Runtime"]),
    shared("Partitions", ["Model", "Wire", "Bus", "Runtime", "StorageClient"]),
    shared("SchemaClient", ["Model", "Wire", "Bus"]),
    shared("Sealing", ["Model", "Wire", "Crypto", "Encoding"]),
    shared("Store", ["Model"]),
    shared("Objects", ["Model", "Runtime"]),
    shared("Chunking"),
    shared("ChunkFiles", ["Model", "Runtime"]),
    shared("Client", ["Model", "Wire", "Runtime"]),
    shared("DiffSyncClient", ["Model", "DiffSync", "Wire", "Bus", "Runtime", "SQLite", "Compression", "Crypto"]),
    shared("Launch", ["Model", "Bus", "BusNATS", "Runtime", "Crypto", "Encoding"]),
    shared(
      "TestKit", ["Model", "Wire", "Bus", "Runtime", "Store", "Compression", "Crypto"]),

    // Bridges.
    bridge("Wire", path: "Shared/Wire", ["Model", "DiffSync", "CWire", "CProtobufC"]),
    bridge("BusNATS", path: "Shared/BusNATS", ["Bus", "Model", "Runtime", "Crypto", "CNats"]),
    bridge("SQLite", path: "Shared/SQLite", ["Model", "Runtime", "CSQLite"]),
    bridge("PostgreSQL", path: "Shared/PostgreSQL", ["Model", "CPostgres"]),
    bridge("Crypto", path: "Shared/Crypto", ["Encoding", "COpenSSL"]),
    bridge("Compression", path: "Shared/Compression", ["Model", "CZstd"]),
    bridge("ObjectsS3", path: "Shared/ObjectsS3", ["Objects", "Model", "Runtime", "Crypto", "Encoding", "HTTPClient"]),
    bridge("HTTPClient", path: "Shared/HTTPClient", ["Model", "Runtime", "CCurl"]),
    bridge("HTTP", path: "Shared/HTTP", ["Model", "Runtime", "CMicroHTTPD"]),

    // The store, on SQLite and on PostgreSQL.
    shared("StoreSQLite", ["Store", "SQLite", "ChunkFiles", "Model", "Runtime", "Encoding"]),
    shared("StorePostgres", ["Store", "PostgreSQL", "Model", "Runtime", "Crypto"]),
    shared("Backup", ["Store", "Model", "Wire", "Crypto", "Runtime"]),
  ]
    + service(
      "Storage", executable: "caravan-storage", core: ["Model", "Store"],
      driver: plumbing + ["Store", "Crypto", "Compression", "Sealing", "Objects", "Encoding", "Backup"],
      main: backends + [
        "StoreSQLite", "SQLite", "StorePostgres", "PostgreSQL", "Store", "Crypto", "Encoding", "Objects", "ObjectsS3",
        "SchemaClient", "StorageCore", "Backup",
      ])
    + service(
      "Sync", executable: "caravan-sync", driver: plumbing + ["Crypto", "Compression", "Sealing", "DiffSync"],
      main: backends + ["Crypto"])
    + service("Schema", executable: "caravan-schema", driver: plumbing, main: backends)
    + service(
      "Notify", executable: "caravan-notify", driver: plumbing + ["Partitions", "Sealing", "Crypto"],
      main: backends + ["Crypto"])
    + service("Query", executable: "caravan-query", driver: plumbing + ["SQLite", "Partitions"], main: backends)
    + service(
      "Gateway", executable: "caravan-gateway", core: ["Model", "Encoding"],
      driver: plumbing + ["HTTP", "Crypto", "Encoding"], main: backends + ["Crypto", "HTTP", "GatewayCore"])
    + service(
      "Agent", executable: "caravan-agent",
      driver: plumbing + ["Client", "Encoding", "SQLite", "Chunking", "ChunkFiles", "Compression", "Crypto"],
      main: backends)
    + service(
      "CLI", executable: "caravan", core: ["Model", "Encoding"],
      driver: plumbing + [
        "Client", "Crypto", "Encoding", "BusNATS", "Launch", "SQLite", "Compression", "AgentCore", "HTTPClient",
      ],
      main: ["Model"])
    + [
      bridge("Exif", path: "Services/Examples/Exif", ["CExif"]),
      .executableTarget(
        name: "caravan-album", dependencies: ["Client", "Model", "Exif", "Runtime", "Crypto"],
        path: "Services/Examples/Album",
        swiftSettings: house),
      example("caravan-car", "CarSensor"), example("caravan-heartbeat", "HeartBeat"),
      example("caravan-notes", "Notes"), example("caravan-door", "Surveillance"),
      example("caravan-simbabench", "SimbaBench"),
      .executableTarget(
        name: "caravan-journal",
        dependencies: ["DiffSync", "DiffSyncClient", "BusNATS", "Launch", "Model", "Runtime", "Crypto"],
        path: "Services/Examples/Journal", swiftSettings: house),
    ]
    + [
      tests("ModelTests", ["Model", "Wire", "Encoding", "TestKit"]),
      tests(
        "DiffSyncTests",
        [
          "DiffSync", "DiffSyncClient", "Model", "Wire", "TestKit", "Bus", "Runtime", "Crypto", "StorageDriver",
          "StorageClient", "StoreSQLite", "SQLite", "SchemaDriver", "SyncDriver", "Backup",
        ]),
      tests("RuntimeTests", ["Runtime", "TestKit", "Model", "Encoding"]),
      tests("CryptoTests", ["Crypto", "Encoding"]),
      tests("ChunkingTests", ["Chunking", "Compression", "Model"]),
      tests("HTTPTests", ["HTTP", "HTTPClient", "Model", "Runtime", "Crypto"]),
      tests("BusTests", ["Bus", "BusNATS", "Runtime", "TestKit", "Model", "Crypto", "Encoding", "Launch", "Wire"]),
      tests(
        "StoreTests",
        [
          "Store", "StoreSQLite", "SQLite", "StorePostgres", "PostgreSQL", "Model", "Runtime", "TestKit", "Wire",
          "Backup", "Crypto", "StorageCore", "StorageDriver", "StorageClient", "Partitions",
        ]),
      tests(
        "StorageTests",
        [
          "StorageCore", "StorageDriver", "StoreSQLite", "SQLite", "Store", "StorageClient", "Sealing", "Bus",
          "Runtime", "Wire", "Model", "TestKit", "Crypto", "Compression", "Objects", "ObjectsS3", "SchemaClient",
        ]),
      tests(
        "SyncTests",
        [
          "Backup", "Launch", "SyncCore", "SyncDriver", "SchemaCore", "SchemaDriver", "StorageDriver", "StoreSQLite",
          "Bus", "Runtime", "Wire", "Model", "TestKit", "Crypto", "Compression", "Store", "StorageClient",
          "SchemaClient", "Sealing",
        ]),
      tests(
        "NotifyTests",
        [
          "NotifyCore", "NotifyDriver", "Partitions", "StorageClient", "Crypto", "StorageDriver", "StoreSQLite", "Bus",
          "Runtime", "Wire", "Model", "TestKit",
        ]),
      tests(
        "QueryTests",
        [
          "QueryCore", "QueryDriver", "Partitions", "StorageClient", "SchemaClient", "SchemaDriver", "Crypto",
          "StorageDriver", "StoreSQLite", "SQLite", "Bus", "Runtime", "Wire", "Model", "TestKit",
        ]),
      tests(
        "GatewayTests",
        [
          "GatewayCore", "GatewayDriver", "HTTP", "Bus", "Runtime", "Wire", "Model", "TestKit", "Crypto", "Encoding",
          "StorageDriver", "StoreSQLite", "Store", "StorageClient",
        ]),
      tests(
        "AgentTests",
        [
          "AgentCore", "AgentDriver", "SQLite", "Client", "Bus", "Runtime", "Wire", "Model", "TestKit", "Chunking",
          "Compression",
          "Crypto", "StorageDriver", "StoreSQLite", "Store", "StorageClient", "SyncCore", "SyncDriver",
          "SchemaDriver", "NotifyDriver", "SchemaClient", "BusNATS", "Launch", "Sealing",
        ]),
      tests(
        "CLITests",
        [
          "CLICore", "CLIDriver", "Client", "Model", "Encoding", "Runtime", "Bus", "BusNATS", "Launch", "Crypto",
          "TestKit", "Wire", "StorageClient", "SchemaClient", "SQLite",
        ]),
      tests("TidyTests", []),
      // Decoders of what strangers send, tried by a fuzzer (Tests/Fuzz/run) and with what it found.
      .target(
        name: "FuzzTargets",
        dependencies: [
          "Model", "Wire", "Bus", "Runtime", "Store", "Sealing", "Crypto", "Compression", "StorageCore", "SyncCore",
          "QueryCore", "NotifyCore", "AgentCore", "Backup", "DiffSync", "Client", "Encoding", "HTTP", "CHeapMeter",
        ], path: "Tests/Fuzz/Targets", swiftSettings: house),
      // Counts what a decoder allocates, in place of malloc(3).
      .target(name: "CHeapMeter", path: "Tests/Fuzz/Heap"),
      // What decoders cost at worst, in a release build.
      .executableTarget(
        name: "caravan-decoder-costs", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Costs", swiftSettings: house),
      tests("FuzzTests", ["FuzzTargets"]),
      // The whole suite in one process: its world, the executable that plays seeds, and the tests of both.
      .target(
        name: "SimulatedSuite",
        dependencies: [
          "TestKit", "Bus", "Runtime", "Wire", "Model", "Store", "StoreSQLite", "SQLite", "Partitions", "StorageDriver",
          "SyncDriver", "SchemaDriver", "NotifyDriver", "QueryDriver", "AgentDriver", "AgentCore", "Chunking", "Crypto",
          "DiffSync", "DiffSyncClient", "Sealing", "Backup", "Compression", "StorageClient", "GatewayDriver",
          "CLIDriver", "Client",
        ], path: "Tests/SimulatedSuite", swiftSettings: strict),
      .executableTarget(
        name: "caravan-simulation", dependencies: ["SimulatedSuite", "Runtime", "TestKit"], path: "Tests/Simulation",
        swiftSettings: house),
      tests("SimulationTests", ["SimulatedSuite", "TestKit", "Model", "Runtime", "Store"]),
      .executableTarget(
        name: "caravan-trials",
        dependencies: [
          "TestKit", "Model", "Wire", "Bus", "BusNATS", "Runtime", "Launch", "Crypto", "Sealing", "StorageClient",
        ], path: "Tests/Trials", swiftSettings: house),
      .executableTarget(
        name: "caravan-store-bench",
        dependencies: ["Store", "StoreSQLite", "Runtime", "Model"],
        path: "Tests/Benchmarks/Store", swiftSettings: house),
    ]
    // libFuzzer brings its own `main`, so this links only where it is asked for.
    + (Context.environment["CARAVAN_FUZZ"] == nil
      ? []
      : [
        .executableTarget(
          name: "caravan-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Main",
          swiftSettings: house + [.unsafeFlags(["-parse-as-library"])])
      ])
)
