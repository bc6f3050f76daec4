// swift-tools-version: 6.2
import PackageDescription

// An app of somebody else: it takes Caravan by version, and has modules of its own under names that many have.
let own = ["Crypto", "Model", "HTTP", "Client", "SQLite", "Runtime"]

let package = Package(
  name: "album",
  dependencies: [.package(url: Context.environment["CARAVAN_SOURCE"] ?? "unknown", from: "1.0.0")],
  targets: own.map { .target(name: $0) } + [
    .executableTarget(
      name: "app",
      dependencies: [.product(name: "CaravanClient", package: "caravan")] + own.map { .target(name: $0) })
  ])
