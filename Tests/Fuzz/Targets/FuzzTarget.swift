import CaravanModel
import CaravanWire

/// A decoder that reads bytes of strangers, and what must hold of whatever it makes of them: it refuses, or what it
/// understood can be written and read again. libFuzzer looks for bytes of which that is not true (`Tests/Fuzz/run`);
/// the corpus it left is tried by an ordinary test.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  public let name: String
  /// Bytes that are understood, to begin with.
  public let seeds: [[UInt8]]
  /// Ends the process when something does not hold.
  /// - Throws: whatever the decoder refuses with.
  private let decode: @Sendable ([UInt8]) throws -> Void

  public init(_ name: String, seeds: [[UInt8]], _ decode: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.seeds = seeds
    self.decode = decode
  }

  public var description: String { name }

  /// - Returns: whether the bytes were understood.
  @discardableResult
  public func accepts(_ bytes: [UInt8]) -> Bool {
    do {
      try decode(bytes)
      return true
    } catch {
      // A refusal has words for people: making them must not end in a trap either.
      return "\(error)".isEmpty
    }
  }

  /// What the decoder takes for these bytes.
  public func cost(of bytes: [UInt8]) -> Cost { CostMeter.measure(bytes.count) { _ = accepts(bytes) } }

  public static let all: [FuzzTarget] =
    frames + operations + bodies + queries + seals + names + notifications + stored + strangers + messages + texts
    + neighbours + pushes

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// What must not fail; if it does, the process ends. Only one thing may be: what was understood is written with fewer
/// bytes, since it leaves out what says nothing, and fewer may cost less (`Limits.unpackedBytesPerByte`).
/// - Throws: that refusal; then there is nothing more to try.
func sure<Value>(_ body: () throws -> Value) throws -> Value {
  do { return try CostMeter.unmetered(body) } catch {
    if case WireError.limitExceeded = error { throw error }
    if let refusal = error as? CaravanError, refusal.code == .limitExceeded { throw error }
    preconditionFailure("what was understood is refused: \(error)")
  }
}

/// Ends the process: this is what the fuzzer looks for.
func hold(_ isTrue: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
  try CostMeter.unmetered {
    let isTrue = try isTrue()
    precondition(isTrue, what())
  }
}
