internal import CCaravanProtobufC
internal import Glibc

// What generated decoders use to copy C fields into Swift values.

/// The one way from bytes to a message: nothing is unpacked before its cost has been counted.
///
/// It unpacks with an arena for protobuf-c's many small pieces, which together cost more than the rest of its work.
func unpacked<C, Value>(
  _ data: [UInt8], _ shape: Int,
  _ unpack: (UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?) -> UnsafeMutablePointer<C>?,
  _ value: (UnsafePointer<C>) throws(WireError) -> Value
) throws(WireError) -> Value {
  try WireScan.check(data, shape)
  var arena = Arena()
  return try withUnsafeMutablePointer(to: &arena) { (arena) throws(WireError) in
    // The library's own hooks (protobuf-c.h, ProtobufCAllocator): what it frees goes with the arena.
    var allocator = ProtobufCAllocator(
      alloc: { $0?.assumingMemoryBound(to: Arena.self).pointee.allocateSized($1) }, free: { _, _ in },
      allocator_data: arena)
    guard let message = unpack(&allocator, data.count, data) else { throw .malformed("not its encoding") }
    return try value(message)
  }
}

/// C readers end a text at a NUL byte: what comes after it would be lost without a word.
func copyText(_ source: UnsafePointer<CChar>?) throws(WireError) -> String {
  guard let source else { return "" }
  let text = UnsafeBufferPointer(start: source, count: Arena.size(of: source) - 1)
  guard memchr(source, 0, text.count) == nil else { throw .malformed("text with a NUL byte") }
  guard let value = String(validating: text, as: UTF8.self) else { throw .malformed("text that is not UTF-8") }
  return value
}

func copyBytes(_ source: ProtobufCBinaryData) -> [UInt8] {
  [UInt8](UnsafeBufferPointer(start: source.data, count: source.len))
}

func copyScalars<Scalar: BitwiseCopyable>(_ count: Int, _ source: UnsafeMutablePointer<Scalar>?) -> [Scalar] {
  [Scalar](UnsafeBufferPointer(start: source, count: count))
}

func copyStrings(
  _ count: Int, _ source: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) throws(WireError) -> [String] {
  guard let source, count > 0 else { return [] }
  var values: [String] = []
  values.reserveCapacity(count)
  for i in 0..<count { values.append(try copyText(source[i])) }
  return values
}

func copyByteStrings(_ count: Int, _ source: UnsafeMutablePointer<ProtobufCBinaryData>?) -> [[UInt8]] {
  UnsafeBufferPointer(start: source, count: count).map(copyBytes)
}

func copyMessages<Value, C>(
  _ count: Int, _ source: UnsafeMutablePointer<UnsafeMutablePointer<C>?>?,
  _ decode: (UnsafePointer<C>) throws(WireError) -> Value
) throws(WireError) -> [Value] {
  guard let source, count > 0 else { return [] }
  var values: [Value] = []
  values.reserveCapacity(count)
  for i in 0..<count {
    guard let item = source[i] else { throw .malformed("an absent element") }
    values.append(try decode(item))
  }
  return values
}
