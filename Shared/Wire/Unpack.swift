internal import CProtobufC

// What generated decoders use to copy C fields into Swift values.

func copyText(_ source: UnsafePointer<CChar>?) throws(WireError) -> String {
  guard let source, source.pointee != 0 else { return "" }
  guard let value = String(validatingCString: source) else { throw .malformed("text that is not UTF-8") }
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
