import CaravanFuzzTargets
import Glibc

// libFuzzer has `main` and calls these (https://llvm.org/docs/LibFuzzer.html). Which decoder it works on, the
// environment says.

private let target: FuzzTarget = {
  let name = getenv("CARAVAN_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget.named(name) else {
    print("CARAVAN_FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(2)
  }
  return target
}()

@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
  if getenv("CARAVAN_FUZZ_LIST") != nil {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
  }
  guard let folder = getenv("CARAVAN_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
  for (number, seed) in target.seeds.enumerated() {
    guard let file = fopen("\(folder)/seed-\(number)", "w") else { exit(2) }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }
  exit(0)
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: data == nil ? 0 : size))
  // What is made once, by whoever comes first, is not what these bytes cost: the second time says that.
  let first = CostOracle.complaint(target.cost(of: bytes), of: target, checking: false)
  if first != nil, let complaint = CostOracle.complaint(target.cost(of: bytes), of: target, checking: false) {
    // An optimised program traps without a word.
    _ = "\(complaint)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    preconditionFailure(complaint)
  }
  return 0
}
