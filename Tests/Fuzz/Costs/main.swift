import CaravanFuzzTargets
import Glibc

// What decoders cost at worst, against the oracle of `CostOracle`: seeds, hostile bytes, and the files named as
// arguments (FOLDER/TARGET/FILE, as `Tests/Fuzz/run` keeps them). In a release build, for its time counts.

private let rounds = 3

private func files(in folder: String) -> [String] {
  guard let directory = opendir(folder) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if !name.hasPrefix(".") { names.append("\(folder)/\(name)") }
  }
  return names.sorted()
}

private func content(_ path: String) -> [UInt8] {
  guard let file = fopen(path, "r") else { return [] }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let got = fread(&piece, 1, piece.count, file)
    guard got > 0 else { return bytes }
    bytes += piece[..<got]
  }
}

/// The least of several times, which is what the bytes cost and not what the machine was doing. One is enough where it
/// is within the bounds and below the worst so far.
private func cost(_ target: FuzzTarget, _ bytes: [UInt8], worst: Double) -> Cost {
  var least = target.cost(of: bytes)
  for _ in 1..<rounds {
    let isHigh = Double(least.nanoseconds) > worst * Double(least.plainBytes)
    guard isHigh || CostOracle.complaint(least, of: target, checking: true) != nil else { break }
    let next = target.cost(of: bytes)
    if next.nanoseconds < least.nanoseconds { least = next }
  }
  return least
}

/// A meter that sees nothing would find every decoder cheap.
private let spender = FuzzTarget("spender", seeds: []) { input in
  var bytes = [UInt8](repeating: input[0], count: 2 << 20)
  _ = getentropy(&bytes, 1)
}
guard CostOracle.complaint(spender.cost(of: [7]), of: spender, checking: false) != nil else {
  print("a decoder that takes 2 MiB for a byte is not seen")
  exit(1)
}

private var complaints = 0
private var inputs = 0
for target in FuzzTarget.all {
  var worst = (heap: 0.0, time: 0.0)
  func judge(_ bytes: [UInt8], _ from: String) {
    let cost = cost(target, bytes, worst: worst.time)
    inputs += 1
    if bytes.count >= 4 << 10 {
      worst.heap = max(worst.heap, Double(cost.heap) / Double(cost.plainBytes))
      worst.time = max(worst.time, Double(cost.nanoseconds) / Double(cost.plainBytes))
    }
    guard let complaint = CostOracle.complaint(cost, of: target, checking: true) else { return }
    complaints += 1
    print("\(complaint) (\(from))")
  }
  for (number, seed) in target.seeds.enumerated() { judge(seed, "seed \(number)") }
  for (name, bytes) in Hostile.inputs(bytes: 1 << 20) { judge(bytes, name) }
  for (name, bytes) in target.hostile(bytes: 1 << 20) { judge(bytes, name) }
  for folder in CommandLine.arguments.dropFirst() {
    for file in files(in: "\(folder)/\(target.name)") { judge(content(file), file) }
  }
  let heap = (worst.heap * 10).rounded() / 10
  let time = worst.time.rounded() / 1_000
  print("\(target): at most \(heap) B and \(time) µs a byte")
}
print("\(inputs) inputs, \(complaints) beyond the bounds")
exit(complaints == 0 ? 0 : 1)
