import Model

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

  init(_ name: String, seeds: [[UInt8]], _ decode: @escaping @Sendable ([UInt8]) throws -> Void) {
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

  public static let all: [FuzzTarget] =
    frames + operations + bodies + queries + seals + names + notifications + stored + strangers

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// What must not fail; if it does, the process ends.
func sure<Value>(_ body: () throws -> Value) -> Value {
  do { return try body() } catch { preconditionFailure("what was understood is refused: \(error)") }
}

/// Ends the process: this is what the fuzzer looks for.
func hold(_ isTrue: @autoclosure () -> Bool, _ what: @autoclosure () -> String) {
  precondition(isTrue(), what())
}
