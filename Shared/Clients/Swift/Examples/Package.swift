// swift-tools-version: 6.2
// Apps for devices. Copy this file to begin one of your own: it has a dependency on Caravan, and a target for each app
// that names the product.
import PackageDescription

let caravan: Target.Dependency = .product(name: "CaravanClient", package: "caravan")

/// One app: its code is in the folder, and it imports CaravanClient and nothing else of Caravan.
func app(_ name: String, _ folder: String, _ others: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: [caravan, "CommandLineOptions"] + others, path: folder)
}

let package = Package(
  name: "caravan-examples",
  dependencies: [
    // An app outside of this repository names its clone: .package(path: "../caravan"); or an address and a tag in it.
    .package(name: "caravan", path: "../../../..")
  ],
  targets: [
    app("caravan-album", "Album", ["Exif", "CLibCrypto"]),
    app("caravan-car", "CarSensor"),
    app("caravan-chat", "Chat"),
    app("caravan-door", "Surveillance"),
    app("caravan-heartbeat", "HeartBeat"),
    app("caravan-notes", "Notes"),
    app("caravan-shopping", "Shopping"),
    app("caravan-simbabench", "SimbaBench"),

    // What the apps read their command lines with; it knows nothing of Caravan.
    .target(name: "CommandLineOptions", path: "CommandLineOptions"),
    // What the album reads its photos with: libexif-dev.
    .target(name: "Exif", dependencies: ["CExif"], path: "Exif"),
    .systemLibrary(name: "CExif", path: "CExif"),
    // What it makes digests with: libssl-dev.
    .systemLibrary(name: "CLibCrypto", path: "CLibCrypto"),
  ]
)
