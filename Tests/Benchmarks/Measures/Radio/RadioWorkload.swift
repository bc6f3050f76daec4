internal import CaravanAgentCore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire
internal import Glibc

/// Numbers that are the same for the same seed (SplitMix64).
struct RadioDice: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// From 0 up to, and without, 1.
  mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

/// One app of the measurement, and what its table is registered with.
struct RadioApp: Sendable {
  let name: String
  var periodSeconds: Double
  var toleranceSeconds: Double

  var key: Coalescer.Key { Coalescer.Key(TableID(app: ContainerID(unchecked: name), name: "data"), .write) }

  var registration: SyncRegistration {
    SyncRegistration(
      periodMilliseconds: UInt32(periodSeconds * 1000), delayToleranceMilliseconds: UInt32(toleranceSeconds * 1000),
      link: .cellular)
  }

  /// When a row of that time has to be on its way.
  /// - Parameter phase: by how much this app's timer is ahead of the wall clock.
  func deadline(of time: Double, phase: Double = 0) -> Double {
    guard periodSeconds > 0 else { return time + toleranceSeconds }
    return (((time + phase) / periodSeconds).rounded(.down) + 1) * periodSeconds - phase + toleranceSeconds
  }
}

/// A row that an app makes at a time.
struct RadioItem: Sendable {
  let app: Int
  let at: Double
  /// Encoded.
  let body: [UInt8]
  /// Of its object, in chunk messages.
  var objectBytes = 0
}

/// What the apps of BEN-04 make: a car's sensors once a second, a photo every ten seconds, a note now and then.
struct RadioWorkload: Sendable {
  private(set) var items: [RadioItem] = []
  let hours: Double
  let hasTrace: Bool
  let hasPhotos: Bool

  static let (car, photos, notes) = (0, 1, 2)
  static let photoSeconds = 10.0
  static let noteMeanSeconds = 300.0

  /// - Parameters:
  ///   - trace: a CSV file of numbers, one line a second, with a header; empty: made up.
  ///   - folder: of photos; empty: made up.
  init(trace: String, photos folder: String, hours: Double, seed: UInt64) throws(CaravanError) {
    var dice = RadioDice(seed: seed)
    self.hours = hours
    (hasTrace, hasPhotos) = (!trace.isEmpty, !folder.isEmpty)
    let rows = trace.isEmpty ? Self.drive(&dice) : try Self.rows(ofCSV: trace)
    let sizes = folder.isEmpty ? (0..<12).map { _ in 150_000 + dice.below(700_000) } : try Self.sizes(in: folder)
    let end = hours * 3600
    for second in 0..<Int(end) {
      add(Self.car, at: Double(second) + 0.25, Self.body(rows[second % rows.count].map { .real($0) }))
    }
    for number in 0..<Int(end / Self.photoSeconds) {
      let size = sizes[number % sizes.count]
      let text = "IMG_\(number).jpg"
      // A photo taken anew: nothing of it is at the cloud. Its manifest names chunks of 64 KiB on average.
      let manifest = dice.bytes(36 * (size / 65_536 + 1))
      add(
        Self.photos, at: Double(number) * Self.photoSeconds + 3.5, Self.body([.text(text), .data(manifest)]),
        object: size)
    }
    var time = 0.0
    while true {
      time += -log(1 - dice.unit()) * Self.noteMeanSeconds
      guard time < end else { break }
      let words = (0..<45).map { _ in Self.words[dice.below(Self.words.count)] }.joined(separator: " ")
      add(Self.notes, at: time, Self.body([.text(words)]))
    }
    items.sort { $0.at < $1.at }
  }

  private mutating func add(_ app: Int, at time: Double, _ body: [UInt8], object: Int = 0) {
    items.append(RadioItem(app: app, at: time, body: body, objectBytes: object + object / 65_536 * 48))
  }

  private static func body(_ values: [Value]) -> [UInt8] {
    RecordFields(Dictionary(uniqueKeysWithValues: values.enumerated().map { (UInt32($0.offset + 1), $0.element) })).body
  }

  private static let words = [
    "milk", "bread", "call", "Anna", "about", "the", "car", "on", "Monday", "buy", "a", "new", "tyre", "before",
    "winter",
    "ask", "whether", "train", "leaves", "at", "nine", "and", "who", "comes", "along", "to", "lake",
  ]

  // MARK: From files

  private static func rows(ofCSV path: String) throws(CaravanError) -> [[Double]] {
    let lines = try TextFile.read(path).split(whereSeparator: \.isNewline).dropFirst()
    let rows = lines.map { line in
      line.split(separator: ",").compactMap { Double($0.trimmingPrefix(while: \.isWhitespace)) }
    }.filter { !$0.isEmpty }
    guard !rows.isEmpty else {
      throw CaravanError(.invalidData, "'\(path)' has no rows of numbers behind its first line")
    }
    return rows
  }

  /// Sizes of the JPEG files there, by name.
  private static func sizes(in folder: String) throws(CaravanError) -> [Int] {
    guard let directory = unsafe opendir(folder) else {
      throw CaravanError(.invalidData, "cannot read the folder '\(folder)'")
    }
    defer { unsafe closedir(directory) }
    var sizes: [String: Int] = [:]
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe $0.prefix { $0 != 0 }.map { $0 } }
      let text = String(decoding: name, as: UTF8.self)
      var facts = stat()
      guard text.lowercased().hasSuffix(".jpg"), unsafe stat("\(folder)/\(text)", &facts) == 0 else { continue }
      sizes[text] = Int(facts.st_size)
    }
    guard !sizes.isEmpty else { throw CaravanError(.invalidData, "'\(folder)' has no .jpg files") }
    return sizes.sorted { $0.key < $1.key }.map(\.value)
  }

  // MARK: Made up

  /// Three quarters of an hour in a car: 27 sensors, most of which change little from one second to the next.
  private static func drive(_ dice: inout RadioDice) -> [[Double]] {
    var row = (0..<27).map { _ in Double(dice.below(200)) }
    return (0..<2_700).map { second in
      row[0] = Double(second)
      for _ in 0..<6 { row[1 + dice.below(20)] += Double(dice.below(2_001)) / 100 - 10 }
      return row
    }
  }
}
